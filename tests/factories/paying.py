"""A payer and the time that passes for it; a charge is answered at once as the card says."""

import os
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any
from uuid import UUID, uuid4

from tests.factories import billing
from tests.factories import identity as people
from tests.letters import written as letter_text
from tests.providers.cards import Cards, statement
from tests.timeline import Clock, Timeline
from thenga import topology
from thenga.domains.billing.adapters.providers import Providers
from thenga.domains.billing.services.payments.attempts import PaymentChoice
from thenga.domains.billing.services.settlement import provider_results
from thenga.domains.billing.services.subscriptions import letters, purchase
from thenga.domains.billing.tables import (
    Account,
    Book,
    Interval,
    MethodKind,
    Payment,
    PaymentMethod,
    Subscription,
)
from thenga.kernel.access.actors import SYSTEM, Scope
from thenga.kernel.access.origin import Origin
from thenga.kernel.db.work import Work
from thenga.kernel.process.host import Host

# They take long, or go to people, and change nothing here.
UNDONE = ("render_pdf", "tell_payer")
_DOMAINS = topology.load(["billing"])


@dataclass
class Payer:
    """An organization that buys, with a card that pays, declines, or says nothing."""

    host: Host
    clock: Clock
    organization_id: UUID
    account: Account
    method: PaymentMethod
    card: str = "ok"  # ok, soft, hard, authentication, silent
    charged: list[Payment] = field(default_factory=list)

    def work(self, login: str | None = None) -> Work:
        origin = Origin(action="payer", request_id="payer", correlation_id="payer")
        scope = Scope(SYSTEM, self.organization_id)
        return Work(self.host, "billing", scope, origin, login=login)

    async def rows(self, statement: str) -> list[Any]:
        async with self.host.engines.connection("billing", "billing_system") as connection:
            return list(await connection.fetch(statement, self.organization_id))

    async def told(self) -> list[str]:
        found = await self.rows(
            "SELECT envelope::jsonb ->> 'type' AS type FROM billing.outbox "
            "WHERE organization_id = $1 ORDER BY position"
        )
        return [row["type"].split(".")[1] for row in found]

    def __post_init__(self) -> None:
        self._cards = Cards(self.host.now, lambda: self.card)
        self._timeline = Timeline(
            *(self.host, self.clock, _DOMAINS, self.organization_id),
            adapters={Providers: self._cards},
            undone=UNDONE,
        )

    async def at(self, instant: datetime) -> None:
        """Let time pass to an instant, stopping at every due check on the way."""
        await self._timeline.until(instant)
        await self._note_charges()

    async def settle(self) -> None:
        """Do all that is due now, until nothing is left to do."""
        await self._timeline.settle()
        await self._note_charges()

    async def _note_charges(self) -> None:
        known = {one.reference for one in self.charged}
        for order in self._cards.charged:
            if order.reference not in known:
                self.charged.append(await self.read(Payment, UUID(order.key)))
                known.add(order.reference)

    async def answer(self, payment_id: UUID, said: str) -> None:
        """The provider's word on one charge."""
        work = self.work()
        try:
            payment = await work.get(Payment, payment_id)
            self.charged.append(payment)
            await provider_results.apply_report(
                work, payment_id, statement(payment, said, self.host.now())
            )
            await work.finish()
        finally:
            await work.close()

    async def buy(self, plan: str, interval: Interval = Interval.MONTH) -> Subscription:
        work = self.work()
        bought = await purchase.buy_plan(
            work,
            plan_code=plan,
            interval=interval,
            how=PaymentChoice(payment_method_id=self.method.id),
        )
        await work.finish()
        await self.settle()
        return await self.read(Subscription, bought.subscription.id)

    async def letter(self, topic: str, about: UUID) -> str | None:
        """The letter as it would go out now; none where nothing is to be told any more."""
        work = self.work()
        account = await work.lock(Account, self.account.id)
        account.invoice_emails = ["books@mokoena.example"]
        await work.save(account)
        await work.finish()
        work = self.work()
        try:
            written = await letters.compose_letter(work, topic, about)
        finally:
            await work.close()
        if written is None:
            return None
        return letter_text(topic, written.facts).text

    async def read(self, row: Any, row_id: UUID) -> Any:
        work = self.work()
        try:
            return await work.get(row, row_id)
        finally:
            await work.close()


async def payer(host: Host, clock: Clock, at: datetime, **account: Any) -> Payer:
    """A new payer at an instant, with a card on file that pays.

    In the book of sandboxes, whose numbers are each one's own: live dates never fall again.
    """
    clock.set(at)
    organization_id = uuid4()
    opened = await billing.account(host, organization_id, **{"book": Book.SANDBOX} | account)
    method = await card(host, opened)
    return Payer(host, clock, organization_id, opened, method)


async def card(host: Host, account: Account, *, preferred: bool = True) -> PaymentMethod:
    """A card on file; its token is never sent anywhere."""
    work = billing.working(host, account.organization_id)
    sandbox = account.book is Book.SANDBOX
    made = await work.add(
        PaymentMethod(
            organization_id=account.organization_id,
            account_id=account.id,
            provider="sandbox" if sandbox else "paystack",
            kind=MethodKind.CARD,
            brand="visa",
            last4="4081",
            preferred=preferred,
            sealed_token=b"",
            token_hash=os.urandom(16),
        )
    )
    await work.finish()
    return made


async def owner_of(host: Host, payer: Payer) -> dict[str, str]:
    """Whoever may read now: a session of today, whatever today is."""
    who = await people.member(host, payer.organization_id, role="owner")
    return who.headers | {"X-Organization-Id": str(payer.organization_id)}


RENEWED = datetime(2026, 11, 13, 22, tzinfo=UTC)  # 14 November begins, local


async def declined(host: Host, clock: Clock, card: str = "soft") -> tuple[Payer, Subscription]:
    """Professional, renewed on 14 November and declined."""
    made = await payer(host, clock, datetime(2026, 11, 1, 8, tzinfo=UTC))
    bought = await made.buy("professional")
    work = made.work()
    held = await work.lock(Subscription, bought.id)
    # The catalogue begins in November, so the first period is made to end where it must.
    held.anchor_date = datetime(2026, 10, 14, tzinfo=UTC).date()
    held.period_end = datetime(2026, 11, 14, tzinfo=UTC).date()
    held.next_check_at = RENEWED
    await work.save(held)
    await work.run(
        "UPDATE billing.billed_span SET ends_on = '2026-11-14' WHERE subscription_id = $1",
        bought.id,
    )
    await work.finish()
    made.card = card
    await made.at(RENEWED)
    return made, await made.read(Subscription, bought.id)
