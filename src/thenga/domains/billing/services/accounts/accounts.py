"""Billing accounts: open, complete, change, unpark, close, summarize."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any
from uuid import UUID

from sqlalchemy import ColumnElement, and_, exists, not_, or_, select

from thenga.domains.billing import public
from thenga.domains.billing.lifecycles import (
    AccountLifecycle,
    PaymentLifecycle,
    SubscriptionLifecycle,
)
from thenga.domains.billing.services import customer, entitlements, ledger
from thenga.domains.billing.services.accounts import recovery_holds
from thenga.domains.billing.tables import (
    Account,
    AccountStatus,
    BillToReview,
    Book,
    CollectionStatus,
    CreditNote,
    CreditNoteStatus,
    Invoice,
    InvoiceStatus,
    Payment,
    Standing,
    Subscription,
    SubscriptionStatus,
)
from thenga.kernel.access.gate import HeldAs
from thenga.kernel.db.paging import Paged, Slice
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.rows import TenantRow, merge_patch
from thenga.kernel.db.statements import among
from thenga.kernel.db.work import Work
from thenga.kernel.declare.lifecycle import not_possible
from thenga.kernel.errors import (
    Duplicate,
    Forbidden,
    RuleViolated,
)
from thenga.kernel.values.calendar import local_day
from thenga.kernel.values.money import Money

# Profile facts that documents print, and the billing field each one fills.
_PRINTED = {
    "legalName": "legalName",
    "tradingName": "tradingName",
    "vatNumber": "vatNumber",
    "registrationNumber": "registrationNumber",
    "registeredAddress": "address",
    "physicalAddress": "address",
    "postalAddress": "address",
}


_OPERATORS = {"collection_method"}  # fields that only operators change
_PROFILE = {"domain": "organization", "type": "profile"}
_OF_ADDRESS = {"line1": "line1", "city": "city", "postal_code": "postalCode"}


@dataclass(frozen=True, slots=True)
class OpenObligations:
    """What keeps an account from being closed."""

    held: bool  # a subscription is active or waits for its first payment
    due: bool  # an amount is due, or a payment is in progress
    late: bool  # part of it is overdue
    credit: bool  # there is credit, or a credit note is about to add some

    @property
    def blocker(self) -> str | None:
        """Why the account cannot be closed."""
        named = {
            "an active subscription": self.held,
            "an unpaid amount or a payment in progress": self.due,
            "unused credit": self.credit,
        }
        open_items = " and ".join(item for item, present in named.items() if present)
        if not open_items:
            return None
        return f"This account cannot be closed yet: it has {open_items}."


@dataclass(frozen=True, slots=True)
class AccountSummary:
    """An account with its computed balance, standing and subscriptions."""

    account: Account
    credit: Money
    subscriptions: list[Subscription]
    unfinished: OpenObligations

    @property
    def standing(self) -> Standing:
        behind = any(
            subscription.status in SubscriptionLifecycle.BEHIND
            for subscription in self.subscriptions
        )
        return Standing.DELINQUENT if behind or self.unfinished.late else Standing.GOOD


async def open_account(work: Work, *, sandbox: bool) -> None:
    """Open the account of a new organization, once. Billing details are added later."""
    if await work.find(Account) is not None:
        return
    book = Book.SANDBOX if sandbox else Book.LIVE
    account = await work.add(Account(organization_id=work.organization_id, book=book))
    work.publish(
        public.BillingAccountOpened(
            organization_id=account.organization_id, account_id=account.id, book=book
        )
    )
    await entitlements.refresh(work, reason="account_opened")


async def is_sandbox(read: Reader) -> bool:
    """Whether the account is in the sandbox book. Every organization has an account."""
    account = await read.find(Account)
    if account is None:
        raise LookupError("no account was opened for this organization")
    return account.book is Book.SANDBOX


async def complete_account(
    work: Work, *, fields: dict[str, Any], prefill: dict[str, Any]
) -> Account:
    """Add billing details so that plans can be bought. They override the profile's."""
    account = await customer.lock_account(work)
    if account.status is not AccountStatus.PROVISIONAL:
        raise Duplicate(
            "This organization already has a billing account. Change it instead.",
            existing={"domain": "billing", "type": "account", "id": str(account.id)},
        )
    stated = fields | {"bill_to": prefill | (fields.get("bill_to") or {})}
    _state(work, account, stated)
    if prefill and account.bill_to_provenance is not None:
        account.bill_to_provenance |= {"kind": "imported", "source": _PROFILE}
    return await _saved(work, account)


async def change_account(work: Work, account_id: UUID, *, fields: dict[str, Any]) -> Account:
    """Change the given fields. Adding billing details completes a provisional account."""
    account = await work.lock(Account, account_id)
    if account.status is AccountStatus.CLOSED:
        raise not_possible(
            "This account is closed and cannot be changed. Contact support.",
            status=account.status,
            operation="change",
            allowed=[],
        )
    if _OPERATORS & fields.keys() and work.held_as != HeldAs.PLATFORM:
        raise Forbidden(
            "Only platform operators can change this. Contact support.", reasonCode="operator_only"
        )
    _state(work, account, fields)
    await _saved(work, account)
    if "spend_cap_minor" in fields:
        await entitlements.refresh(work, reason="spend_cap_changed")
    return account


async def unpark_account(work: Work, account_id: UUID) -> Account:
    """Resume billing of a parked account after an operator's review (BIL-51)."""
    account = await work.lock(Account, account_id)
    if account.status is AccountStatus.CLOSED:
        raise not_possible(
            "This account is closed.", status=account.status, operation="unpark", allowed=[]
        )
    if account.parked is not None:
        account.parked = None
        await _saved(work, account)
    return account


async def _saved(work: Work, account: Account) -> Account:
    freed = "parked" in work.changes(account)
    await work.save(account)
    if freed:
        await resume_billing(work)
    return account


async def resume_billing(work: Work) -> None:
    """Check everything now that waited while the account was parked (BIL-51)."""
    waiting = select(Subscription).where(
        among(Subscription.status, (SubscriptionStatus.ACTIVE, SubscriptionStatus.PAST_DUE))
    )
    for known in await work.all(waiting.order_by(Subscription.id), limit=100):
        subscription = await work.lock(Subscription, known.id)
        subscription.next_check_at = work.now
        await work.save(subscription)
    await recovery_holds.release(work)


async def close_account(work: Work, account_id: UUID, *, reason: str) -> Account:
    """Close an account for good, once nothing is owed in either direction."""
    account = await work.lock(Account, account_id)
    credit = await ledger.credit_balance(work, currency=account.currency)
    found = await _obligations(work, account, credit)
    if account.status is AccountStatus.ACTIVE and found.blocker is not None:
        raise not_possible(
            f"{found.blocker} Settle that first, then close the account.",
            status=account.status,
            operation="close",
            allowed=[],
            unmet=[name for name in ("held", "due", "credit") if getattr(found, name)],
        )
    if AccountLifecycle.close(account, at=work.now):
        await work.save(account)
        work.note("close", ("account", account.id), {"reason": reason})
    return account


def _state(work: Work, account: Account, fields: dict[str, Any]) -> None:
    stated = dict(fields)
    if "bill_to" in stated:
        merged = merged_document(account.bill_to or {}, stated.pop("bill_to"))
        _check_whole(merged)
        if merged != account.bill_to:
            account.bill_to = merged
            account.bill_to_provenance = {
                "kind": "customer_supplied",
                "source": None,
                "confidence": None,
                "recordedAt": work.now.isoformat(),
            }
        account.bill_to_review = None  # setting the details counts as the review
    merge_patch(account, stated)
    if account.is_parked_for(customer.PARKED_FOR) and customer.is_recipient_complete(account):
        account.parked = None
    if account.bill_to is not None and account.status is AccountStatus.PROVISIONAL:
        AccountLifecycle.complete(account, at=work.now)


def merged_document(known: dict[str, Any], patch: dict[str, Any]) -> dict[str, Any]:
    """Apply a JSON merge patch (RFC 7396)."""
    merged = dict(known)
    for name, value in patch.items():
        if value is None:
            merged.pop(name, None)
        elif isinstance(value, dict):
            inner = merged.get(name)
            merged[name] = merged_document(inner if isinstance(inner, dict) else {}, value)
        else:
            merged[name] = value
    return merged


def _check_whole(bill_to: dict[str, Any]) -> None:
    missing = [] if "legal_name" in bill_to else ["/billTo/legalName"]
    lacking = _OF_ADDRESS.keys() - bill_to.get("address", _OF_ADDRESS).keys()
    missing += [f"/billTo/address/{_OF_ADDRESS[name]}" for name in sorted(lacking)]
    if missing:
        raise RuleViolated(
            "Billing details need a legal name, and either a complete address or none. Add what "
            "`missing` lists.",
            rule="bill-to-whole",
            missing=missing,
        )


async def flag_for_review(work: Work, fact_keys: Iterable[str]) -> None:
    """Flag the billing details for review after a printed profile fact changed."""
    fields = sorted({_PRINTED[key] for key in fact_keys if key in _PRINTED})
    known = await work.find(Account)
    if not fields or known is None or known.bill_to is None:
        return
    account = await work.lock(Account, known.id)
    known_review = account.bill_to_review
    before = (
        BillToReview.of_row(known_review) if known_review else BillToReview(frozenset(), work.now)
    )
    account.bill_to_review = replace(before, fields=before.fields.union(fields)).to_row()
    await work.save(account)


async def list_accounts(read: Reader, paged: Paged) -> Slice[Account]:
    """The organization's account, as a list of one."""
    return await read.page(select(Account), paged)


async def summarize_account(read: Reader, account: Account) -> AccountSummary:
    """The account with its balance and active subscriptions."""
    left = Subscription.cancel_at
    live = select(Subscription).where(
        among(Subscription.status, SubscriptionLifecycle.LIVE),
        or_(left.is_(None), left > read.now),
    )
    credit = await ledger.credit_balance(read, currency=account.currency)
    return AccountSummary(
        account,
        credit,
        await read.all(live.order_by(Subscription.id), limit=100),
        await _obligations(read, account, credit),
    )


async def _obligations(read: Reader, account: Account, credit: Money) -> OpenObligations:
    """Read in one statement. Written-off invoices do not count."""
    owed = (Invoice.status == InvoiceStatus.OPEN, Invoice.amount_due_minor > 0)
    paying = Invoice.collection_status == CollectionStatus.PROCESSING
    passed = and_(Invoice.due_date < local_day(read.now), not_(paying))
    failed = Invoice.collection_status == CollectionStatus.FAILED
    waits = CreditNote.released_at.is_not(None)

    def there(row: type[TenantRow], *conditions: ColumnElement[bool]) -> ColumnElement[bool]:
        own = row.__table__.c.organization_id == account.organization_id
        return exists().where(own, *conditions)

    statement = select(
        there(Subscription, among(Subscription.status, SubscriptionLifecycle.HOLDING)).label(
            "held"
        ),
        or_(
            there(Invoice, *owed),
            there(Invoice, Invoice.status == InvoiceStatus.DRAFT),
            there(Payment, among(Payment.status, PaymentLifecycle.OPEN)),
        ).label("due"),
        there(Invoice, *owed, or_(passed, failed)).label("late"),
        there(CreditNote, CreditNote.status == CreditNoteStatus.DRAFT, waits).label("waits"),
    )
    (found,) = await read.records(statement)
    return OpenObligations(
        *(found["held"], found["due"], found["late"]), credit=bool(credit) or found["waits"]
    )
