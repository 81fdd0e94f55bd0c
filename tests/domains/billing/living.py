"""One history on the side of the services: what a person does, and what time and banks answer.

A history is one transaction that is never committed, so thousands of them leave nothing behind;
each step is a unit of work of its own on it, at its own instant, and a refusal is rolled back.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Any
from uuid import UUID

from tests.factories import billing
from tests.providers import cards
from tests.timeline import due
from thenga import topology
from thenga.domains.billing.services.dunning import retries
from thenga.domains.billing.services.invoicing import issuing
from thenga.domains.billing.services.payments.attempts import PaymentChoice
from thenga.domains.billing.services.plan_changes import changes
from thenga.domains.billing.services.plan_changes.quotes import ChangeRequest
from thenga.domains.billing.services.settlement import provider_results
from thenga.domains.billing.services.subscriptions import (
    cancellations,
    clock,
    pauses,
    purchase,
)
from thenga.domains.billing.services.subscriptions.cancellations import CancellationRequest
from thenga.domains.billing.tables import (
    Account,
    Book,
    CancellationMode,
    Interval,
    MethodKind,
    Payment,
    PaymentMethod,
    Refund,
)
from thenga.domains.billing.values.provider import (
    ProviderReport,
    StatedStatus,
    StatementKind,
)
from thenga.kernel.db.work import Work
from thenga.kernel.declare.job import Form
from thenga.kernel.errors import Problem
from thenga.kernel.process.host import Host
from thenga.kernel.values.ids import new_id

(_BILLING,) = topology.load(["billing"])
# Charges before refunds, both before documents.
_WAITING = """
    SELECT 1 AS kind, id FROM billing.payment
        WHERE organization_id = $1 AND status = 'processing'
    UNION ALL SELECT 2, id FROM billing.refund
        WHERE organization_id = $1 AND status = 'requested'
    UNION ALL SELECT 3, id FROM billing.credit_note
        WHERE organization_id = $1 AND released_at IS NOT NULL AND number IS NULL
    UNION ALL SELECT 3, id FROM billing.invoice
        WHERE organization_id = $1 AND released_at IS NOT NULL AND number IS NULL
    ORDER BY kind, id
"""
_MOST_ROUNDS = 2000


class Within:
    """What a declared job is given in place of a `Run`: units of work that are never committed."""

    def __init__(self, lived: "Lived") -> None:
        self._lived = lived
        self._works: list[Work] = []

    def begin(self) -> Work:
        self._works.append(self._lived.work())
        return self._works[-1]

    @asynccontextmanager
    async def working(self) -> AsyncIterator[Work]:
        yield self.begin()

    reading = working

    def enqueued(self) -> bool:
        return any(work._jobs for work in self._works)


@dataclass
class Lived:
    """One history on the side of the services."""

    host: Host
    connection: Any
    book: Book
    organization_id: UUID
    now: datetime
    card: str = "ok"
    method: UUID | None = None
    refused: str = ""

    def work(self) -> Work:
        return billing.working_on(self.connection, self.host, self.organization_id, self.now)

    async def begin(self) -> None:
        work = self.work()
        account = await work.add(
            Account(
                organization_id=self.organization_id,
                book=self.book,
                status="active",
                bill_to=billing.BILL_TO | {"address": {"line1": "1", "city": "2"}},
            )
        )
        self.account_id = account.id
        await self.add_card()

    async def add_card(self) -> PaymentMethod:
        work = self.work()
        await work.run(
            "UPDATE billing.payment_method SET preferred = false WHERE organization_id = $1",
            self.organization_id,
        )
        made = await work.add(
            PaymentMethod(
                organization_id=self.organization_id,
                account_id=self.account_id,
                provider="paystack" if self.book is Book.LIVE else "sandbox",
                kind=MethodKind.CARD,
                preferred=True,
                sealed_token=b"",
                token_hash=new_id().bytes,
            )
        )
        self.method = made.id
        return made

    async def until(self, instant: datetime) -> None:
        """Do what is due, in order, each at its own instant."""
        for _ in range(_MOST_ROUNDS):
            found = await due(self.connection.fetch, _BILLING, self.organization_id, instant)
            if not found:
                break
            self.now = max(self.now, found[0].at)
            run = Within(self)
            job = found[0].job
            given = run if job.form is Form.OUTSIDE else run.begin()
            await job.body(given, **found[0].arguments)
            if run.enqueued():  # without a job nothing waits for an answer or a number
                await self.settle()
        self.now = instant

    async def settle(self) -> None:
        """Answer for the bank, and number the documents, until nothing waits."""
        answers = (self._charge, self._pay_back, self._number)
        for _ in range(_MOST_ROUNDS):
            waiting = await self.connection.fetch(_WAITING, self.organization_id)
            if not waiting:
                break
            kind = waiting[0]["kind"]
            for row in waiting:
                if row["kind"] == kind:
                    await answers[kind - 1](row["id"])

    async def _charge(self, payment_id: UUID) -> None:
        work = self.work()
        payment = await work.get(Payment, payment_id)
        await provider_results.apply_report(
            work, payment.id, cards.statement(payment, self.card, self.now)
        )

    async def _pay_back(self, refund_id: UUID) -> None:
        work = self.work()
        refund = await work.get(Refund, refund_id)
        payment = await work.get(Payment, refund.payment_id)
        said = ProviderReport(
            reference=payment.reference,
            kind=StatementKind.REFUND,
            status=StatedStatus.SUCCEEDED,
            item_reference=str(refund.id),
            amount_minor=refund.amount_minor,
            currency=refund.currency,
            provider_at=self.now,
        )
        await provider_results.apply_report(work, payment.id, said)

    async def _number(self, document_id: UUID) -> None:
        await issuing.issue_next(self.work(), seller="thenga", book=self.book.value)

    async def act(self, name: str, **given: Any) -> bool:
        """Whether it was let; a refusal leaves nothing behind."""
        await self.connection.execute("SAVEPOINT act")
        try:
            await getattr(self, name)(**given)
        except Problem as refused:
            self.refused = f"{type(refused).__name__}: {refused.detail}"
            await self.connection.execute("ROLLBACK TO SAVEPOINT act; RELEASE SAVEPOINT act")
            return False
        await self.connection.execute("RELEASE SAVEPOINT act")
        await self.settle()
        return True

    async def _live(self) -> UUID:
        found = await self.connection.fetchval(
            "SELECT id FROM billing.subscription WHERE organization_id = $1 "
            "AND status IN ('active', 'past_due', 'suspended', 'paused')",
            self.organization_id,
        )
        if found is None:
            raise Problem("There is no subscription.")
        return UUID(str(found))

    async def buy(self, plan: str, interval: str) -> None:
        how = PaymentChoice(payment_method_id=self.method)
        await purchase.buy_plan(self.work(), plan_code=plan, interval=Interval(interval), how=how)

    async def change(self, plan: str, interval: str) -> None:
        work = self.work()
        held = await clock.lock_subscription(work, await self._live())
        wanted = ChangeRequest(plan, Interval(interval), None)
        await changes.request_change(work, held, wanted, expected_due=None)

    async def pause(self, resume_on: date | None) -> None:
        work = self.work()
        held = await clock.lock_subscription(work, await self._live())
        await pauses.pause_subscription(work, held, resume_on=resume_on)

    async def resume(self) -> None:
        work = self.work()
        held = await clock.lock_subscription(work, await self._live())
        if held.status != "paused":
            raise Problem("It is not paused.")
        await pauses.resume_subscription(work, held, on=(self.now + timedelta(hours=2)).date())

    async def cancel(self, at_once: bool) -> None:
        work = self.work()
        held = await clock.lock_subscription(work, await self._live())
        mode = CancellationMode.IMMEDIATE if at_once else CancellationMode.PERIOD_END
        await cancellations.cancel_subscription(
            work, held, CancellationRequest(mode, "other", None, settlement=None)
        )

    async def undo(self) -> None:
        found = await self.connection.fetchval(
            "SELECT id FROM billing.cancellation WHERE organization_id = $1 "
            "AND status = 'scheduled'",
            self.organization_id,
        )
        if found is None:
            raise Problem("Nothing is cancelled.")
        await cancellations.undo_cancellation(self.work(), UUID(str(found)))

    async def retry(self) -> None:
        found = await self.connection.fetchval(
            "SELECT id FROM billing.payment_failure WHERE organization_id = $1 "
            "AND status IN ('open', 'exhausted') ORDER BY id DESC LIMIT 1",
            self.organization_id,
        )
        if found is None:
            raise Problem("Nothing has failed.")
        await retries.retry_now(self.work(), UUID(str(found)), method_id=None)

    async def replace_card(self) -> None:
        self.card = "ok"
        await retries.retry_with_new_method(self.work(), await self.add_card())
