"""Billing accounts: who is billed, their billing details, and their balance."""

from datetime import date, datetime
from typing import Annotated, Any, Literal
from uuid import UUID

from fastapi import Path
from pydantic import Field

from thenga.domains.billing.api.accounts.bill_to import (
    BillTo,
    BillToView,
    ChangeBillTo,
    bill_to_fields,
)
from thenga.domains.billing.api.catalogue.terms import Rand
from thenga.domains.billing.api.common_fields import (
    AllowedMoves,
    OrganizationRef,
    PlanCodeText,
    PlanVersionNumber,
)
from thenga.domains.billing.lifecycles import AccountLifecycle
from thenga.domains.billing.permissions import Permission
from thenga.domains.billing.services import accounts, customer
from thenga.domains.billing.tables import (
    Account,
    AccountStatus,
    Book,
    CollectionMethod,
    Standing,
    SubscriptionStatus,
)
from thenga.kernel.access.gate import HeldAs
from thenga.kernel.db.acting import on_behalf_of
from thenga.kernel.db.paging import Paged
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.work import Work
from thenga.kernel.declare.lifecycle import AllowedMove, By
from thenga.kernel.errors import Duplicate, InvalidTransition, RuleViolated
from thenga.kernel.http.bodies import Body, PageOf, Stored, View
from thenga.kernel.http.doors import router as make_router
from thenga.kernel.http.entrances import reads, writes
from thenga.kernel.http.lists import OfOrganization, paged
from thenga.kernel.http.reference import problems
from thenga.kernel.values.calendar import local_day
from thenga.kernel.values.fields import Email, text
from thenga.kernel.values.money import Money

router = make_router("Billing / Account")

AccountId = Annotated[UUID, Path(alias="accountId", description="The billing account.")]
OrderNumber = Annotated[str, text(1, 50)]
Emails = Annotated[list[Email], Field(max_length=5)]
_CAP = Field(
    description="Most that usage above the plan may cost in a usage month. Null means no cap."
)
_ORDER = Field(description="Your purchase order number, printed on future documents.")


class OpenAccount(Body):
    """Billing details, given here, copied from the profile, or both. Details given here take
    precedence."""

    bill_to: Annotated[
        BillTo | None, Field(description="Recipient printed on invoices and credit notes.")
    ] = None
    prefill_from_organization: Annotated[
        bool, Field(description="Copy names and numbers from the organization's profile.")
    ] = False
    invoice_emails: Annotated[
        Emails, Field(description="Addresses that receive letters about payments.")
    ] = []
    order_number: Annotated[OrderNumber | None, _ORDER] = None
    spend_cap: Annotated[Rand | None, _CAP] = None


class ChangeAccount(Body):
    """A merge patch: fields you leave out stay as they are; null clears a field that may be
    empty."""

    bill_to: Annotated[
        ChangeBillTo, Field(description="Recipient printed on future documents.")
    ] = ChangeBillTo()
    invoice_emails: Annotated[
        Emails, Field(description="Addresses that receive letters about payments.")
    ] = []
    order_number: Annotated[OrderNumber | None, _ORDER] = None
    spend_cap: Annotated[Rand | None, _CAP] = None
    collection_method: Annotated[
        CollectionMethod,
        Field(
            description="How invoices are collected. Operators only. `send_invoice` means EFT "
            "within 7 days."
        ),
    ] = CollectionMethod.AUTOMATIC


class CloseAccount(Body):
    """Why the account is closed."""

    reason: Annotated[str, text(5, 500), Field(description="Reason, kept in the audit trail.")]


class ProvenanceView(View):
    """Where the billing details came from."""

    kind: Annotated[
        Literal["customer_supplied", "ai_suggested", "verified", "imported"],
        Field(
            description="Whether a person entered them, or they were suggested, verified or "
            "imported."
        ),
    ]
    source: Annotated[
        dict[str, str] | None,
        Field(description="Where they were found. Null if a person entered them."),
    ]
    confidence: Annotated[
        float | None, Field(description="Confidence of a suggestion, from 0 to 1.")
    ]
    recorded_at: Annotated[datetime, Field(description="When they were recorded.")]


class ReviewView(View):
    """Profile facts that changed after the billing details were set. Documents keep using
    `billTo`."""

    fields: Annotated[list[str], Field(description="Billing fields that differ from the profile.")]
    since: Annotated[datetime, Field(description="When the profile first differed.")]


class ParkedView(View):
    """Automatic billing is stopped until an operator reviews the account. Access is not affected
    (BIL-51)."""

    reason: Annotated[str, Field(description="Why the account was parked.")]
    since: Annotated[datetime, Field(description="When the account was parked.")]


class LiveSubscription(View):
    """An active subscription of the account."""

    id: Annotated[UUID, Field(description="The subscription.")]
    plan_code: PlanCodeText
    plan_version: PlanVersionNumber
    status: Annotated[SubscriptionStatus, Field(description="Status of the subscription.")]


class AccountView(Stored):
    """The billing account of an organization. `standing` and `creditBalance` are computed."""

    organization_id: OrganizationRef
    status: Annotated[
        AccountStatus, Field(description="`provisional` until billing details are added.")
    ]
    standing: Annotated[
        Standing, Field(description="`delinquent` while a payment is overdue or has failed.")
    ]
    parked: Annotated[
        ParkedView | None,
        Field(description="Why automatic billing is stopped. Null while billing runs normally."),
    ]
    book: Annotated[
        Book,
        Field(
            description="`live`, or `sandbox` for sandbox organizations, which have separate books."
        ),
    ]
    bill_to: Annotated[
        BillToView | None,
        Field(description="Recipient printed on documents. Null until billing details are added."),
    ]
    bill_to_provenance: Annotated[
        ProvenanceView | None, Field(description="Where the billing details came from.")
    ]
    bill_to_review: Annotated[
        ReviewView | None,
        Field(
            description="Profile changes since the billing details were set. Null if there are "
            "none."
        ),
    ]
    invoice_emails: Annotated[
        list[str], Field(description="Addresses that receive letters about payments.")
    ]
    order_number: Annotated[
        str | None, Field(description="Your purchase order number, printed on future documents.")
    ]
    spend_cap: Annotated[
        Money | None,
        Field(description="Most that usage above the plan may cost in a month. Null means no cap."),
    ]
    collection_method: Annotated[
        CollectionMethod,
        Field(
            description="`automatic` charges a payment method; `send_invoice` waits for a bank "
            "transfer."
        ),
    ]
    credit_balance: Annotated[Money, Field(description="Credit available for future invoices.")]
    subscriptions: Annotated[list[LiveSubscription], Field(description="Active subscriptions.")]
    allowed_moves: AllowedMoves

    @classmethod
    def of(cls, shown: accounts.AccountSummary, read: Reader) -> "AccountView":
        asking = By.STAFF if read.held_as is HeldAs.PLATFORM else By.CALLER
        account = shown.account
        cap = account.spend_cap_minor
        values = account.__dict__ | {
            "standing": shown.standing,
            "spend_cap": None if cap is None else Money(cap, account.currency),
            "credit_balance": shown.credit,
            "subscriptions": shown.subscriptions,
            "allowed_moves": [
                _unless_blocked(move, shown.unfinished.blocker)
                for move in AccountLifecycle.allowed(account, read.now, by=asking)
            ],
        }
        return cls.model_validate(values)


def _unless_blocked(move: AllowedMove, blocker: str | None) -> AllowedMove:
    if move["move"] != AccountLifecycle.close.verb or blocker is None:
        return move
    return AllowedMove(move=move["move"], possible=False, reason=blocker)


@router.post("/billing/accounts", status_code=201, responses=problems(Duplicate, RuleViolated))
async def open_billing_account(
    body: OpenAccount, work: Annotated[Work, writes(Permission.ACCOUNT_CREATE)]
) -> AccountView:
    """Add billing details and open the billing account. An organization has one account and
    needs it to buy a plan."""
    fields = _fields(body, local_day(work.now))
    prefilled = fields.pop("prefill_from_organization", False)
    described = await customer.company_profile_of(work) if prefilled else {}
    prefill = customer.bill_to_from_profile(work, described)
    return await _view(work, await accounts.complete_account(work, fields=fields, prefill=prefill))


@router.get("/billing/accounts")
async def list_billing_accounts(
    read: Annotated[Reader, reads(Permission.ACCOUNT_READ)],
    page: Annotated[Paged, paged("createdAt")],
    organization_id: OfOrganization = None,
) -> PageOf[AccountView]:
    """List the billing account of the organization: one item, or none before it is opened."""
    await on_behalf_of(read, organization_id)
    found = await accounts.list_accounts(read, page)
    shown = {account.id: await _view(read, account) for account in found.items}
    return PageOf[AccountView].of(found, lambda account: shown[account.id])


@router.get("/billing/accounts/{accountId}")
async def get_billing_account(
    account_id: AccountId, read: Annotated[Reader, reads(Permission.ACCOUNT_READ)]
) -> AccountView:
    """Get the account with its balance, standing and active subscriptions."""
    return await _view(read, await read.get(Account, account_id))


@router.patch("/billing/accounts/{accountId}", responses=problems(InvalidTransition, RuleViolated))
async def change_billing_account(
    account_id: AccountId,
    body: ChangeAccount,
    work: Annotated[Work, writes(Permission.ACCOUNT_UPDATE, if_match=True)],
) -> AccountView:
    """Change the fields you send. Issued documents do not change."""
    fields = _fields(body, local_day(work.now))
    account = await accounts.change_account(work, account_id, fields=fields)
    return await _view(work, account)


@router.post("/billing/accounts/{accountId}/unpark", responses=problems(InvalidTransition))
async def unpark_billing_account(
    account_id: AccountId, work: Annotated[Work, writes(Permission.ACCOUNT_UNPARK)]
) -> AccountView:
    """Resume billing of a parked account after a review. Postponed charges are made now."""
    return await _view(work, await accounts.unpark_account(work, account_id))


@router.post("/billing/accounts/{accountId}/close", responses=problems(InvalidTransition))
async def close_billing_account(
    account_id: AccountId,
    body: CloseAccount,
    work: Annotated[Work, writes(Permission.ACCOUNT_CLOSE)],
) -> AccountView:
    """Close an account for good. It must have no active subscription, no amount due and no
    credit."""
    return await _view(work, await accounts.close_account(work, account_id, reason=body.reason))


async def _view(read: Reader, account: Account) -> AccountView:
    return AccountView.of(await accounts.summarize_account(read, account), read)


def _fields(body: OpenAccount | ChangeAccount, today: date) -> dict[str, Any]:
    """The fields that were sent, by column name."""
    fields = body.changes()
    if fields.get("bill_to") is not None:
        fields["bill_to"] = bill_to_fields(fields["bill_to"], today)
    if "spend_cap" in fields:
        cap: Rand | None = fields.pop("spend_cap")
        fields["spend_cap_minor"] = None if cap is None else cap.money.minor
    return fields
