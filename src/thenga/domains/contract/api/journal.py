"""The journal of a contract."""

from datetime import date
from typing import Annotated, Any
from uuid import UUID

from fastapi import Query
from pydantic import Field

from thenga.domains.contract.api.workspace_ids import WorkspaceId
from thenga.domains.contract.permissions import Permission
from thenga.domains.contract.services import ledger, workspaces
from thenga.domains.contract.services.ledger import JournalFilters
from thenga.domains.contract.tables import Account, EntryKind, JournalEntry, JournalLine
from thenga.kernel.db.paging import Paged
from thenga.kernel.db.reader import Reader
from thenga.kernel.http.bodies import PageOf, Stored, View
from thenga.kernel.http.doors import router as make_router
from thenga.kernel.http.entrances import reads
from thenga.kernel.http.lists import paged
from thenga.kernel.values.fields import Day
from thenga.kernel.values.money import Money

router = make_router("Contract / Journal")


class ContractJournalLineView(View):
    """A debit or credit line of an entry."""

    account: Annotated[Account, Field(description="Account.")]
    amount: Annotated[Money, Field(description="Positive is debit, negative is credit.")]


class ContractJournalEntryView(Stored):
    """An entry of the journal. Its lines add up to 0, and it never changes."""

    organization_id: UUID
    workspace_id: Annotated[UUID, Field(description="ID of the contract.")]
    kind: Annotated[EntryKind, Field(description="Kind of entry.")]
    source_id: Annotated[UUID, Field(description="ID of the invoice, credit note or payment.")]
    occurred_on: Annotated[date, Field(description="Local date of the entry.")]
    lines: Annotated[list[ContractJournalLineView], Field(description="Lines of the entry.")]

    @classmethod
    def of_lines(cls, entry: JournalEntry, lines: list[JournalLine]) -> "ContractJournalEntryView":
        shown = [
            ContractJournalLineView(
                account=line.account, amount=Money(line.amount_minor, line.currency)
            )
            for line in lines
        ]
        return cls.model_validate(entry.__dict__ | {"lines": shown})


class ContractAccountBalance(View):
    """Balance of one account."""

    account: Annotated[Account, Field(description="Account.")]
    balance: Annotated[Money, Field(description="Positive is debit, negative is credit.")]


class ContractJournalPage(PageOf[ContractJournalEntryView]):
    """A page of entries, with the balances of all entries that match the filters."""

    balances: Annotated[
        list[ContractAccountBalance],
        Field(description="Balances for the filtered days. Without an account they add up to 0."),
    ]


@router.get("/contracts/workspaces/{workspaceId}/journal")
async def get_contract_journal(
    workspace_id: WorkspaceId,
    read: Annotated[Reader, reads(Permission.MONEY_READ)],
    page: Annotated[Paged, paged("createdAt", default="-createdAt")],
    since: Annotated[Day | None, Query(alias="from", description="First day.")] = None,
    until: Annotated[Day | None, Query(alias="to", description="Last day.")] = None,
    account: Annotated[Account | None, Query(description="Filter by account.")] = None,
) -> ContractJournalPage:
    """List the journal of a contract, newest first, with the balance of each account."""
    workspace = await workspaces.seen_workspace(read, workspace_id)
    filters = JournalFilters(since, until, account)
    found = await ledger.list_entries(read, page, workspace.id, filters)
    lines = await ledger.entry_lines(read, found.items)
    balances = await ledger.account_balances(read, workspace.id, filters)
    made = PageOf[ContractJournalEntryView].of(
        found, lambda one: ContractJournalEntryView.of_lines(one, lines[one.id])
    )
    more: dict[str, Any] = {"balances": balances}
    return ContractJournalPage.model_validate(made.__dict__ | more)
