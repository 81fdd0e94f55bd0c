"""Account statements: every document and payment with the balance after it."""

from datetime import date, datetime
from typing import Annotated
from uuid import UUID

from dateutil.relativedelta import relativedelta
from fastapi import Query, Response
from pydantic import Field

from thenga.domains.billing.api.accounts.accounts import AccountId
from thenga.domains.billing.api.common_fields import AccountRef
from thenga.domains.billing.permissions import Permission
from thenga.domains.billing.services import customer, ledger
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
    """One document or payment."""

    entry_id: Annotated[UUID, Field(description="Journal entry.")]
    kind: Annotated[EntryKind, Field(description="What was recorded.")]
    occurred_at: Annotated[datetime, Field(description="When it took effect.")]
    source_type: Annotated[str, Field(description="Type of the document or payment.")]
    source_id: Annotated[UUID, Field(description="ID of the document or payment.")]
    number: Annotated[
        str | None, Field(description="Document number. Null if it is not a document.")
    ]
    amount: Annotated[
        Money, Field(description="Positive increases what is owed, negative reduces it.")
    ]
    balance: Annotated[Money, Field(description="Amount owed afterwards. Negative is credit.")]


class StatementView(PageOf[StatementStep]):
    """A page of an account statement. Both balances are for the whole time range."""

    account_id: AccountRef
    since: Annotated[date, Field(alias="from", description="First day of the range.")]
    until: Annotated[date, Field(alias="to", description="Last day of the range.")]
    opening_balance: Annotated[Money, Field(description="Amount owed before the first day.")]
    closing_balance: Annotated[Money, Field(description="Amount owed after the last day.")]


_HEADER = ("occurredAt", "kind", "number", "amount", "balance", "currency", "entryId")


@router.get(
    "/billing/accounts/{accountId}/statement",
    response_model=StatementView,
    responses=AS_FILE | problems(RuleViolated),
)
async def get_billing_statement(
    account_id: AccountId,
    read: Annotated[Reader, reads(Permission.ACCOUNT_READ)],
    page: Annotated[Paged, paged("occurredAt", default="-occurredAt")],
    as_csv: AsCsv,
    since: Annotated[
        Day | None, Query(alias="from", description="First day. Defaults to one year before `to`.")
    ] = None,
    until: Annotated[
        Day | None, Query(alias="to", description="Last day. Defaults to today.")
    ] = None,
) -> StatementView | Response:
    """Get documents and payments, newest first, with the balance after each, for at most 366 days.

    With `Accept: text/csv` the response is a file with the whole range, in the time zone of the
    organization.
    """
    account = await read.get(Account, account_id)
    last = until or local_day(read.now)
    first = since or last - relativedelta(years=1) + relativedelta(days=1)
    draw_up = ledger.whole_statement if as_csv else ledger.statement_page
    made = await draw_up(read, page, since=first, until=last, currency=account.currency)
    if as_csv:
        time_zone = await customer.time_zone_of(read)
        return _file(made, f"statement-{first}-{last}", time_zone)
    return StatementView.model_construct(
        account_id=account.id,
        since=first,
        until=last,
        opening_balance=made.opening,
        closing_balance=made.closing,
        items=[StatementStep.model_validate(step) for step in made.steps],
        next_cursor=made.next_cursor,
    )


def _file(made: ledger.Statement, name: str, time_zone: str) -> Response:
    return csv_file(
        name,
        _HEADER,
        [
            (
                *(step.occurred_at, step.kind.value, step.number),
                *(step.amount, step.balance, step.amount.currency, step.entry_id),
            )
            for step in made.steps
        ],
        time_zone=time_zone,
    )
