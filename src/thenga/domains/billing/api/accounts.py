"""Accounts: who is billed, under which names and numbers, and how they stand."""

from datetime import date, datetime
from typing import Annotated, Any, Literal
from uuid import UUID

from fastapi import Path, Query
from pydantic import Field

from thenga.domains.billing.api.terms import Rand
from thenga.domains.billing.lifecycles import AccountLifecycle
from thenga.domains.billing.permissions import Permission
from thenga.domains.billing.services import accounts, customer
from thenga.domains.billing.services.acting import act_for
from thenga.domains.billing.tables import (
    Account,
    AccountStatus,
    Book,
    CollectionMethod,
    Standing,
    SubscriptionStatus,
)
from thenga.kernel.access.gate import HeldAs
from thenga.kernel.db.paging import Paged
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.work import Work
from thenga.kernel.declare.lifecycle import AllowedMove, By
from thenga.kernel.errors import Duplicate, InvalidTransition, RuleViolated
from thenga.kernel.http.bodies import Body, PageOf, Stored, View
from thenga.kernel.http.doors import router as make_router
from thenga.kernel.http.entrances import reads, writes
from thenga.kernel.http.lists import paged
from thenga.kernel.http.reference import problems
from thenga.kernel.values.calendar import local_day
from thenga.kernel.values.fields import Email, Name, matching, text
from thenga.kernel.values.money import Money

router = make_router("Billing / Account")

AccountId = Annotated[UUID, Path(alias="accountId")]
OfOrganization = Annotated[
    UUID | None,
    Query(alias="organizationId", description="For operators: whose; for others their own."),
]
Part = Annotated[str, text(1, 120)]
VatNumber = Annotated[str, matching(customer.VAT_PATTERN, 13)]
RegistrationNumber = Annotated[str, matching(customer.REGISTRATION_PATTERN, 15)]
PostalCode = Annotated[str, matching("^[0-9]{4}$", 4)]
OrderNumber = Annotated[str, text(1, 50)]
Emails = Annotated[list[Email], Field(max_length=5)]
Province = Literal[
    "Eastern Cape",
    "Free State",
    "Gauteng",
    "KwaZulu-Natal",
    "Limpopo",
    "Mpumalanga",
    "North West",
    "Northern Cape",
    "Western Cape",
]
_VAT = Field(description="Ten digits that begin with 4; `ZA` in front is left out.")
_REGISTRATION = Field(description="As CIPC writes it: 2019/123456/07.")
_ADDRESS = Field(description="Needed before any document above R 5 000.00.")
_CAP = Field(description="The ceiling for usage above the plan, a usage month; null for none.")
_ORDER = Field(description="Printed on the next documents.")


class AddressBody(Body):
    line1: Part
    line2: Part | None = None
    city: Part
    province: Province | None = None
    postal_code: PostalCode
    country: Literal["ZA"] = "ZA"


class BillTo(Body):
    """Who is printed on documents as the recipient."""

    legal_name: Name
    trading_name: Name | None = None
    vat_number: Annotated[VatNumber | None, _VAT] = None
    registration_number: Annotated[RegistrationNumber | None, _REGISTRATION] = None
    address: Annotated[AddressBody | None, _ADDRESS] = None


class ChangeAddress(Body):
    """A merge patch of the address."""

    line1: Part = "unchanged"
    line2: Part | None = None
    city: Part = "unchanged"
    province: Province | None = None
    postal_code: PostalCode = "0000"
    country: Literal["ZA"] = "ZA"


class ChangeBillTo(Body):
    """A merge patch of the recipient."""

    legal_name: Name = "unchanged"
    trading_name: Name | None = None
    vat_number: Annotated[VatNumber | None, _VAT] = None
    registration_number: Annotated[RegistrationNumber | None, _REGISTRATION] = None
    address: Annotated[ChangeAddress | None, _ADDRESS] = None


class OpenAccount(Body):
    """Who is billed: said here, taken from the profile, or both; what is said here counts."""

    bill_to: BillTo | None = None
    prefill_from_organization: Annotated[
        bool, Field(description="Take names and numbers from the organization's profile.")
    ] = False
    invoice_emails: Emails = []
    order_number: Annotated[OrderNumber | None, _ORDER] = None
    spend_cap: Annotated[Rand | None, _CAP] = None


class ChangeAccount(Body):
    """A merge patch: what is left out stays, null empties what may be empty."""

    bill_to: ChangeBillTo = ChangeBillTo()
    invoice_emails: Emails = []
    order_number: Annotated[OrderNumber | None, _ORDER] = None
    spend_cap: Annotated[Rand | None, _CAP] = None
    collection_method: Annotated[
        CollectionMethod,
        Field(description="Only operators change it; `send_invoice` is EFT on 7 days."),
    ] = CollectionMethod.AUTOMATIC
    parked: Annotated[
        None, Field(description="Null lets a parked account go on; only operators do that.")
    ] = None


class CloseAccount(Body):
    reason: Annotated[str, text(5, 500)]


class AddressView(View):
    line1: str
    line2: str | None = None
    city: str
    province: str | None = None
    postal_code: str
    country: str


class BillToView(View):
    legal_name: str
    trading_name: str | None = None
    vat_number: str | None = None
    registration_number: str | None = None
    address: AddressView | None = None


class ProvenanceView(View):
    kind: Literal["customer_supplied", "ai_suggested", "verified", "imported"]
    source: dict[str, str] | None
    confidence: float | None
    recorded_at: datetime


class ReviewView(View):
    """Facts of the profile that changed later; documents still say what stands in `billTo`."""

    fields: list[str]
    since: datetime


class ParkedView(View):
    """Billing by itself has stopped until an operator has looked; access is untouched (BIL-51)."""

    reason: str
    since: datetime


class LiveSubscription(View):
    id: UUID
    plan_code: str
    plan_version: int
    status: SubscriptionStatus


class AccountView(Stored):
    """The billing account of an organization; `standing` and `creditBalance` are derived."""

    organization_id: UUID
    status: Annotated[
        AccountStatus, Field(description="`provisional` until it is said who is billed.")
    ]
    standing: Annotated[
        Standing, Field(description="`delinquent` while a payment is overdue or has failed.")
    ]
    parked: Annotated[
        ParkedView | None, Field(description="Why billing by itself has stopped; mostly null.")
    ]
    book: Annotated[Book, Field(description="Sandbox organizations have books of their own.")]
    bill_to: Annotated[
        BillToView | None,
        Field(description="Who is billed, as documents print it; null until somebody says it."),
    ]
    bill_to_provenance: Annotated[
        ProvenanceView | None, Field(description="Who said whom to bill, and when.")
    ]
    bill_to_review: Annotated[
        ReviewView | None,
        Field(description="What changed in the profile since; null where nothing did."),
    ]
    invoice_emails: Annotated[list[str], Field(description="Where letters about payments go.")]
    order_number: Annotated[
        str | None, Field(description="The customer's own, printed on the next documents.")
    ]
    spend_cap: Annotated[
        Money | None,
        Field(description="Most that usage above the plan may cost in a month; null is no cap."),
    ]
    collection_method: Annotated[
        CollectionMethod,
        Field(description="`automatic` charges a method, `send_invoice` waits for a transfer."),
    ]
    credit_balance: Annotated[Money, Field(description="Paid or credited and not yet used.")]
    subscriptions: Annotated[list[LiveSubscription], Field(description="Those that live.")]
    allowed_moves: list[AllowedMove]

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
                _unless_hindered(move, shown.unfinished.hindrance)
                for move in AccountLifecycle.allowed(account, read.now, by=asking)
            ],
        }
        return cls.model_validate(values)


def _unless_hindered(move: AllowedMove, hindrance: str | None) -> AllowedMove:
    if move["move"] != AccountLifecycle.close.verb or hindrance is None:
        return move
    return AllowedMove(move=move["move"], possible=False, reason=hindrance)


@router.post("/billing/accounts", status_code=201, responses=problems(Duplicate, RuleViolated))
async def open_billing_account(
    body: OpenAccount, work: Annotated[Work, writes(Permission.ACCOUNT_CREATE)]
) -> AccountView:
    """Say who is billed. An organization has one account; from then on plans can be bought."""
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
    """The account of the organization: a list of one, or of none before it is opened."""
    await act_for(read, organization_id)
    found = await accounts.list_accounts(read, page)
    shown = {one.id: await _view(read, one) for one in found.items}
    return PageOf[AccountView].of(found, lambda account: shown[account.id])


@router.get("/billing/accounts/{accountId}")
async def get_billing_account(
    account_id: AccountId, read: Annotated[Reader, reads(Permission.ACCOUNT_READ)]
) -> AccountView:
    """The account with its balance, its standing and its live subscriptions."""
    return await _view(read, await read.get(Account, account_id))


@router.patch("/billing/accounts/{accountId}", responses=problems(InvalidTransition, RuleViolated))
async def change_billing_account(
    account_id: AccountId,
    body: ChangeAccount,
    work: Annotated[Work, writes(Permission.ACCOUNT_UPDATE, if_match=True)],
) -> AccountView:
    """Change the fields you name. Documents that were issued keep what they say."""
    fields = _fields(body, local_day(work.now))
    account = await accounts.change_account(work, account_id, fields=fields)
    return await _view(work, account)


@router.post("/billing/accounts/{accountId}/close", responses=problems(InvalidTransition))
async def close_billing_account(
    account_id: AccountId,
    body: CloseAccount,
    work: Annotated[Work, writes(Permission.ACCOUNT_CLOSE)],
) -> AccountView:
    """End an account for good: no subscription lives, nothing is due and there is no credit."""
    return await _view(work, await accounts.close_account(work, account_id, reason=body.reason))


async def _view(read: Reader, account: Account) -> AccountView:
    return AccountView.of(await accounts.summarize_account(read, account), read)


def _fields(body: OpenAccount | ChangeAccount, today: date) -> dict[str, Any]:
    """Only what was sent, by the names of columns."""
    fields = body.changes()
    if fields.get("bill_to") is not None:
        fields["bill_to"] = _bill_to(fields["bill_to"], today)
    if "spend_cap" in fields:
        cap: Rand | None = fields.pop("spend_cap")
        fields["spend_cap_minor"] = None if cap is None else cap.money.minor
    return fields


def _bill_to(body: BillTo | ChangeBillTo, today: date) -> dict[str, Any]:
    told = body.changes()
    if body.vat_number is not None:
        told["vat_number"] = customer.vat_number(body.vat_number)
    if body.registration_number is not None:
        told["registration_number"] = customer.registration_number(body.registration_number, today)
    if body.address is not None:
        told["address"] = body.address.changes() | {"country": "ZA"}
    return told
