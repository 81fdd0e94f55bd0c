"""Ledger: the journal behind every amount, and the checks that it balances."""

from datetime import date, datetime
from typing import Annotated, Literal
from uuid import UUID

from fastapi import Query
from pydantic import Field

from thenga.domains.billing.api.common_fields import OrganizationRef
from thenga.domains.billing.permissions import Permission
from thenga.domains.billing.services import accounts, ledger
from thenga.domains.billing.tables import Book, EntryKind, JournalEntry, JournalLine
from thenga.kernel.db.acting import on_behalf_of
from thenga.kernel.db.paging import Paged
from thenga.kernel.db.reader import Reader
from thenga.kernel.http.bodies import PageOf, Stored, View
from thenga.kernel.http.doors import router as make_router
from thenga.kernel.http.entrances import reads
from thenga.kernel.http.lists import OfOrganization, paged
from thenga.kernel.values.calendar import local_day
from thenga.kernel.values.fields import Day, matching
from thenga.kernel.values.money import Money

router = make_router("Billing / Ledger")

LedgerAccount = Annotated[str, matching("^[a-z][a-z_]*(?:\\.[a-z][a-z0-9_]*)?$", 60)]


class SourceView(View):
    """What an entry was made for."""

    type: Annotated[str, Field(description="Type of the document or payment.")]
    id: Annotated[UUID, Field(description="ID of the document or payment.")]


class LineView(View):
    """One line of a journal entry."""

    account: Annotated[str, Field(description="Ledger account, for example `receivable`.")]
    amount: Annotated[Money, Field(description="Positive for debit, negative for credit.")]

    @classmethod
    def of(cls, line: JournalLine) -> "LineView":
        return cls(account=line.account, amount=Money(line.amount_minor, line.currency))


class EntryView(Stored):
    """A journal entry. Its lines sum to 0 in each currency, and it never changes."""

    organization_id: OrganizationRef
    book: Annotated[Book, Field(description="`live` or `sandbox`.")]
    kind: Annotated[EntryKind, Field(description="What was recorded.")]
    source: Annotated[SourceView, Field(description="Document or payment it was made for.")]
    occurred_at: Annotated[datetime, Field(description="When it took effect.")]
    lines: Annotated[list[LineView], Field(description="Debit and credit lines.")]

    @classmethod
    def of(cls, entry: JournalEntry, lines: list[JournalLine]) -> "EntryView":
        values = entry.__dict__ | {
            "source": SourceView(type=entry.source_type, id=entry.source_id),
            "lines": [LineView.of(line) for line in lines],
        }
        return cls.shown(values)


class BalanceView(View):
    """The balance of one ledger account."""

    book: Annotated[Book, Field(description="`live` or `sandbox`.")]
    account: Annotated[str, Field(description="Ledger account.")]
    debit: Annotated[Money, Field(description="Total of debits.")]
    credit: Annotated[Money, Field(description="Total of credits.")]
    balance: Annotated[Money, Field(description="Debits less credits.")]


class TrialBalanceView(View):
    """The balance of every account at the end of a day. The balances sum to 0."""

    organization_id: OrganizationRef
    until: Annotated[date, Field(description="Last day included.")]
    accounts: Annotated[list[BalanceView], Field(description="Balances by ledger account.")]


class CheckedBalance(View):
    """The balance of one ledger account over all organizations."""

    book: Annotated[Book, Field(description="`live` or `sandbox`.")]
    account: Annotated[str, Field(description="Ledger account.")]
    balance: Annotated[Money, Field(description="Debits less credits.")]


class CheckView(View):
    """One check of the journal against documents, payments and entitlements."""

    check: Annotated[
        Literal["receivable", "credit", "payments", "allocations", "vat", "series", "entitlements"],
        Field(description="What was compared."),
    ]
    wrong: Annotated[
        int,
        Field(
            description="Number of organizations, payments, documents, number series or sets "
            "that differ."
        ),
    ]


class VerificationView(Stored):
    """The result of a nightly check of all books. A missed night has no checks."""

    day: Annotated[date, Field(description="Local day of the check.")]
    entries: Annotated[int, Field(description="Number of journal entries.")]
    lines: Annotated[int, Field(description="Number of journal lines.")]
    journal_sum: Annotated[
        int, Field(description="Sum of all lines in cents. 0 when the journal balances.")
    ]
    unbalanced: Annotated[int, Field(description="Number of entries that do not sum to 0.")]
    passed: Annotated[bool, Field(description="Whether every check passed.")]
    balances: Annotated[list[CheckedBalance], Field(description="Balances of all ledger accounts.")]
    checks: Annotated[list[CheckView], Field(description="Results of the checks.")]


@router.get("/billing/ledger/entries")
async def list_journal_entries(
    read: Annotated[Reader, reads(Permission.LEDGER_READ)],
    page: Annotated[Paged, paged("createdAt", default="-createdAt")],
    organization_id: OfOrganization = None,
    account: Annotated[LedgerAccount | None, Query(description="Filter by ledger account.")] = None,
    since: Annotated[
        Day | None, Query(alias="from", description="Entries on or after this day.")
    ] = None,
    until: Annotated[
        Day | None, Query(alias="to", description="Entries on or before this day.")
    ] = None,
    source: Annotated[
        UUID | None, Query(description="Filter by the document or payment they were made for.")
    ] = None,
) -> PageOf[EntryView]:
    """List the organization's journal entries with their debit and credit lines."""
    await on_behalf_of(read, organization_id)
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
        Day | None, Query(alias="to", description="Last day included. Defaults to today.")
    ] = None,
) -> TrialBalanceView:
    """Get the balance of each of the organization's ledger accounts."""
    await on_behalf_of(read, organization_id)
    day = until or local_day(read.now)
    balances = await ledger.trial_balance(read, until=day)
    return TrialBalanceView(
        organization_id=read.organization_id,
        until=day,
        accounts=[BalanceView.model_validate(balance) for balance in balances],
    )


@router.get("/billing/ledger/verifications")
async def list_ledger_verifications(
    read: Annotated[Reader, reads(Permission.LEDGER_AUDIT)],
    page: Annotated[Paged, paged("createdAt", default="-createdAt")],
) -> PageOf[VerificationView]:
    """List the nightly checks of all books, newest first."""
    found = await accounts.list_checks(read, page)
    return PageOf[VerificationView].of(
        found,
        lambda night: VerificationView.shown(
            night.__dict__
            | {
                "journal_sum": night.journal_sum_minor,
                "checks": [CheckView.model_validate(check) for check in night.checks],
                "balances": [
                    CheckedBalance(
                        book=Book(line["book"]),
                        account=line["account"],
                        balance=Money(line["minor"], line["currency"]),
                    )
                    for line in night.balances
                ],
            }
        ),
    )
