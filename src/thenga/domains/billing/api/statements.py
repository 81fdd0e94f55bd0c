"""Statements: what happened on an account, with the balance after each step."""

from datetime import date, datetime
from typing import Annotated
from uuid import UUID

from dateutil.relativedelta import relativedelta
from fastapi import Query, Response
from pydantic import Field

from thenga.domains.billing.api.accounts import AccountId
from thenga.domains.billing.permissions import Permission
from thenga.domains.billing.services import ledger
from thenga.domains.billing.tables import Account, EntryKind
from thenga.kernel.db.paging import Paged
from thenga.kernel.db.reader import Reader
from thenga.kernel.errors import RuleViolated
from thenga.kernel.http.bodies import PageOf, View
from thenga.kernel.http.doors import router as make_router
from thenga.kernel.http.entrances import reads
from thenga.kernel.http.exports import AS_FILE, AsCsv, csv_file
from thenga.kernel.http.lists import paged
from thenga.kernel.http.reference import problems
from thenga.kernel.values.calendar import local_day
from thenga.kernel.values.fields import Day
from thenga.kernel.values.money import Money

router = make_router("Billing / Statement")


class StatementStep(View):
    """One document or movement of money."""

    entry_id: UUID
    kind: EntryKind
    occurred_at: datetime
    source_type: str
    source_id: UUID
    number: Annotated[str | None, Field(description="Of the document, where it is one.")]
    amount: Annotated[Money, Field(description="Positive where it is owed, negative where not.")]
    balance: Annotated[Money, Field(description="Owed after it; negative is credit.")]


class StatementView(PageOf[StatementStep]):
    """A page of a statement; both balances are those of the whole time."""

    account_id: UUID
    since: Annotated[date, Field(alias="from")]
    until: Annotated[date, Field(alias="to")]
    opening_balance: Money
    closing_balance: Money


_HEADER = ("occurredAt", "kind", "number", "amount", "balance", "currency", "entryId")


@router.get(
    "/billing/accounts/{accountId}/statement",
    response_model=StatementView,
    responses=AS_FILE | problems(RuleViolated),
)
async def get_billing_statement(
    account_id: AccountId,
    read: Annotated[Reader, reads(Permission.ACCOUNT_READ)],
    page: Annotated[Paged, paged("occurredAt")],
    as_csv: AsCsv,
    since: Annotated[
        Day | None, Query(alias="from", description="A year before `to` if left out.")
    ] = None,
    until: Annotated[Day | None, Query(alias="to", description="Today if left out.")] = None,
) -> StatementView | Response:
    """Documents and money in order, with the balance after each; at most 366 days at once.

    With `Accept: text/csv` it is a file with all steps of the time.
    """
    account = await read.get(Account, account_id)
    last = until or local_day(read.now)
    first = since or last - relativedelta(years=1) + relativedelta(days=1)
    draw_up = ledger.whole_statement if as_csv else ledger.statement_page
    made = await draw_up(read, page, since=first, until=last, currency=account.currency)
    if as_csv:
        return _file(made, f"statement-{first}-{last}")
    return StatementView.model_construct(
        account_id=account.id,
        since=first,
        until=last,
        opening_balance=made.opening,
        closing_balance=made.closing,
        items=[StatementStep.model_validate(one) for one in made.steps],
        next_cursor=made.next_cursor,
    )


def _file(made: ledger.Statement, name: str) -> Response:
    return csv_file(
        name,
        _HEADER,
        [
            (
                *(one.occurred_at, one.kind.value, one.number),
                *(one.amount, one.balance, one.amount.currency, one.entry_id),
            )
            for one in made.steps
        ],
    )
