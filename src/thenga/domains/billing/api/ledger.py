"""Ledger: the journal behind every amount, and the checks that it balances."""

from datetime import date, datetime
from typing import Annotated, Literal
from uuid import UUID

from fastapi import Query
from pydantic import Field

from thenga.domains.billing.permissions import Permission
from thenga.domains.billing.services import accounts, ledger
from thenga.domains.billing.services.acting import act_for
from thenga.domains.billing.tables import Book, EntryKind, JournalEntry, JournalLine
from thenga.kernel.db.paging import Paged
from thenga.kernel.db.reader import Reader
from thenga.kernel.http.bodies import PageOf, Stored, View
from thenga.kernel.http.doors import router as make_router
from thenga.kernel.http.entrances import reads
from thenga.kernel.http.lists import paged
from thenga.kernel.values.calendar import local_day
from thenga.kernel.values.fields import Day, matching
from thenga.kernel.values.money import Money

router = make_router("Billing / Ledger")

OfOrganization = Annotated[
    UUID | None,
    Query(alias="organizationId", description="For operators: whose; for others their own."),
]
LedgerAccount = Annotated[str, matching("^[a-z][a-z_]*(?:\\.[a-z][a-z0-9_]*)?$", 60)]


class SourceView(View):
    type: str
    id: UUID


class LineView(View):
    account: str
    amount: Annotated[Money, Field(description="Positive for debit, negative for credit.")]

    @classmethod
    def of(cls, line: JournalLine) -> "LineView":
        return cls(account=line.account, amount=Money(line.amount_minor, line.currency))


class EntryView(Stored):
    """One booking; its lines sum to 0 in each currency, and it is never changed."""

    organization_id: UUID
    book: Book
    kind: EntryKind
    source: Annotated[SourceView, Field(description="The document or payment it was made for.")]
    occurred_at: datetime
    lines: list[LineView]

    @classmethod
    def of(cls, entry: JournalEntry, lines: list[JournalLine]) -> "EntryView":
        values = entry.__dict__ | {
            "source": SourceView(type=entry.source_type, id=entry.source_id),
            "lines": [LineView.of(line) for line in lines],
        }
        return cls.shown(values)


class BalanceView(View):
    book: Book
    account: str
    debit: Money
    credit: Money
    balance: Annotated[Money, Field(description="Debit less credit.")]


class TrialBalanceView(View):
    """Every account at the end of a day; the balances sum to 0."""

    organization_id: UUID
    until: date
    accounts: list[BalanceView]


class CheckedBalance(View):
    book: Book
    account: str
    balance: Money


class CheckView(View):
    """The journal against documents and money, and what is held against what it comes from."""

    check: Literal[
        "receivable", "credit", "payments", "allocations", "vat", "series", "entitlements"
    ]
    wrong: Annotated[
        int, Field(description="How many organizations, payments, documents, series or sets.")
    ]


class VerificationView(Stored):
    """What a nightly check of all books found; a night that was missed has no checks."""

    day: date
    entries: int
    lines: int
    journal_sum: Annotated[int, Field(description="In cents over all lines; 0 where all is well.")]
    unbalanced: Annotated[int, Field(description="Entries that do not sum to 0.")]
    passed: bool
    balances: list[CheckedBalance]
    checks: list[CheckView]


@router.get("/billing/ledger/entries")
async def list_journal_entries(
    read: Annotated[Reader, reads(Permission.LEDGER_READ)],
    page: Annotated[Paged, paged("createdAt")],
    organization_id: OfOrganization = None,
    account: Annotated[LedgerAccount | None, Query(description="With a line on it.")] = None,
    since: Annotated[Day | None, Query(alias="from", description="From this day on.")] = None,
    until: Annotated[Day | None, Query(alias="to", description="To the end of this day.")] = None,
    source: Annotated[UUID | None, Query(description="Made for this document or payment.")] = None,
) -> PageOf[EntryView]:
    """The bookings of the organization, each with both of its sides."""
    await act_for(read, organization_id)
    found = await ledger.list_entries(
        read, page, account=account, since=since, until=until, source_id=source
    )
    lines = await ledger.entry_lines(read, found.items)
    return PageOf[EntryView].of(found, lambda entry: EntryView.of(entry, lines[entry.id]))


@router.get("/billing/ledger/trial-balance")
async def get_trial_balance(
    read: Annotated[Reader, reads(Permission.LEDGER_READ)],
    organization_id: OfOrganization = None,
    until: Annotated[
        Day | None, Query(alias="to", description="At the end of this day; today if left out.")
    ] = None,
) -> TrialBalanceView:
    """What each account of the organization comes to."""
    await act_for(read, organization_id)
    day = until or local_day(read.now)
    balances = await ledger.trial_balance(read, until=day)
    return TrialBalanceView(
        organization_id=read.organization_id,
        until=day,
        accounts=[BalanceView.model_validate(one) for one in balances],
    )


@router.get("/billing/ledger/verifications")
async def list_ledger_verifications(
    read: Annotated[Reader, reads(Permission.LEDGER_AUDIT)],
    page: Annotated[Paged, paged("createdAt", default="-createdAt")],
) -> PageOf[VerificationView]:
    """The nightly checks of all books, the newest first."""
    found = await accounts.list_checks(read, page)
    return PageOf[VerificationView].of(
        found,
        lambda one: VerificationView.shown(
            one.__dict__
            | {
                "journal_sum": one.journal_sum_minor,
                "checks": [CheckView.model_validate(check) for check in one.checks],
                "balances": [
                    CheckedBalance(
                        book=Book(line["book"]),
                        account=line["account"],
                        balance=Money(line["minor"], line["currency"]),
                    )
                    for line in one.balances
                ],
            }
        ),
    )
