"""Refunds: sent once, asked for while nobody knows, and told when nobody answers."""

from datetime import datetime, timedelta
from uuid import UUID

import pytest

from tests import sweeps
from tests.conftest import Time
from tests.domains.billing.paying import booked, findings, owner, payfast, paystack, told
from tests.factories import billing, payments
from tests.factories import identity as people
from tests.planting import plant
from tests.providers.loopback import worker
from tests.providers.servers import SHORT, PaystackServer
from tests.suites import flows
from thenga.domains.billing.services.payments import polling, refunds
from thenga.domains.billing.tables import (
    Payment,
    Refund,
)
from thenga.domains.billing.values.provider import (
    ProviderAnswer,
)
from thenga.kernel.db.work import Work
from thenga.kernel.outside import outbound
from thenga.kernel.process.host import Host
from thenga.kernel.values.money import Money

__all__ = ["owner", "payfast", "paystack"]

SWEEP = "find_to_poll_refund"


async def asked_for(host: Host, of: Payment, amount: str = "50.00") -> Refund:
    """A refund that an operator asked for, with its job."""
    work = billing.working(host, of.organization_id)
    try:
        made = await refunds.request_refund(
            work, of.id, amount=Money.of(amount), reason="Paid by mistake"
        )
        await work.finish()
    finally:
        await work.close()
    return made


async def status(host: Host, refund: Refund) -> str:
    async with host.engines.connection("billing", "billing_system") as connection:
        found = await connection.fetchval(
            "SELECT status FROM billing.refund WHERE id = $1", refund.id
        )
    return str(found)


async def until(host: Host, refund: Refund, wanted: str) -> None:
    async def there() -> bool:
        return await status(host, refund) == wanted

    await flows.until(there)


@pytest.mark.rule("BIL-32")
async def test_worker_dying_after_a_refund_leaves_one_refund(
    host: Host,
    owner: people.Member,
    clock: Time,
    paystack: PaystackServer,
    monkeypatch: pytest.MonkeyPatch,
):
    refund = await asked_for(host, await payments.paid_twice(host, owner.organization_id))
    record, died = refunds.record_refund_answer, []

    async def dying(work: Work, refund_id: UUID, answer: ProviderAnswer, *, source: str) -> None:
        if not died:
            died.append(source)
            raise ConnectionError("the worker is gone")
        await record(work, refund_id, answer, source=source)

    plant(monkeypatch, refunds, "record_refund_answer", dying)

    async def is_gone() -> bool:
        return bool(died)

    clock.set(clock.now())  # however slow the machine is, no poll comes before the answer
    async with worker(host):
        await until(host, refund, "processing")
        await flows.until(is_gone)
        clock.move(timedelta(seconds=61))
        await until(host, refund, "succeeded")

    print(f"died={died} sent={len(paystack.refunds)} asked={paystack.asked}")
    assert (died, len(paystack.refunds)) == (["answer"], 1)
    assert (await told(host, owner.organization_id)).count("RefundSucceeded") == 1


@pytest.mark.rule("BIL-32")
async def test_unknown_refund_state_is_polled_until_decided(
    host: Host,
    owner: people.Member,
    clock: Time,
    paystack: PaystackServer,
    monkeypatch: pytest.MonkeyPatch,
):
    paystack.silent, paystack.refund_state = True, "needs-attention"
    paid = await payments.paid_twice(host, owner.organization_id)
    refund = await asked_for(host, paid)

    def times() -> int:
        return paystack.asked_of.count(str(paid.provider_reference))

    async def asked() -> bool:
        return times() == 1

    async with worker(host):
        with monkeypatch.context() as soon:
            soon.setattr(outbound, "SECONDS", SHORT)
            await until(host, refund, "processing")
            await sweeps.until_idle(host, "billing", owner.organization_id)
        clock.move(timedelta(seconds=61))
        await flows.until(asked)
        await sweeps.until_idle(host, "billing", owner.organization_id)
        between = await status(host, refund)
        paystack.refund_state = "processed"
        clock.move(timedelta(minutes=5))
        await until(host, refund, "succeeded")

    assert (between, len(paystack.refunds), times()) == ("processing", 1, 2)
    assert (await booked(host, owner.organization_id))["clearing.paystack"] == 2 * 49900 - 5000


@pytest.mark.rule("BIL-32")
async def test_unknown_refund_is_polled_on_schedule_and_reported_once(
    host: Host, owner: people.Member, clock: Time, paystack: PaystackServer
):
    paystack.refund_state = "pending"
    paid = await payments.paid_twice(host, owner.organization_id)
    refund = await asked_for(host, paid)
    asked: list[int] = []

    def times() -> int:
        return paystack.asked_of.count(str(paid.provider_reference))

    async def more() -> bool:
        return times() > len(asked)

    async with worker(host):
        await flows.until(lambda: answered(host, refund))
        began = await sent_at(host, refund)
        at: datetime | None = began
        while (at := polling.next_poll_at(began, at or began)) is not None:
            clock.set(at)
            await flows.until(more)
            await sweeps.after_sweeps(host, "billing", owner.organization_id, SWEEP)
            asked.append(times())
        clock.set(began + timedelta(days=4))
        await sweeps.after_sweeps(host, "billing", owner.organization_id, SWEEP)

    print(f"sent={len(paystack.refunds)} asked={asked}")
    assert asked == list(range(1, 17))
    assert (len(paystack.refunds), times()) == (1, 16)
    assert (await findings(host, paid))[-1:] == ["no_answer"]
    assert (await findings(host, paid)).count("no_answer") == 1


async def test_planted_refund_that_stays_due_is_found(
    host: Host,
    owner: people.Member,
    clock: Time,
    paystack: PaystackServer,
    monkeypatch: pytest.MonkeyPatch,
):
    paystack.refund_state = "pending"
    refund = await asked_for(host, await payments.paid_twice(host, owner.organization_id))
    record = refunds.record_refund_answer

    async def staying_due(
        work: Work, refund_id: UUID, answer: ProviderAnswer, *, source: str
    ) -> None:
        await record(work, refund_id, answer, source=source)
        await work.run(
            "UPDATE billing.refund SET next_check_at = $2 WHERE id = $1", refund_id, work.now
        )

    clock.set(clock.now())
    async with worker(host):
        await flows.until(lambda: answered(host, refund))
        plant(monkeypatch, refunds, "record_refund_answer", staying_due)
        clock.move(timedelta(seconds=61))
        await sweeps.after_sweeps(host, "billing", owner.organization_id, SWEEP)

    print(f"planted: asked={len(paystack.asked_of)}")
    assert len(paystack.asked_of) > 1


async def answered(host: Host, refund: Refund) -> bool:
    """Whether what the provider said at once is written down."""
    async with host.engines.connection("billing", "billing_system") as connection:
        found = await connection.fetchval(
            "SELECT provider_reference FROM billing.refund WHERE id = $1", refund.id
        )
    return found is not None


async def sent_at(host: Host, refund: Refund) -> datetime:
    async with host.engines.connection("billing", "billing_system") as connection:
        found: datetime = await connection.fetchval(
            "SELECT sent_at FROM billing.refund WHERE id = $1", refund.id
        )
    return found


@pytest.mark.rule("BIL-32")
async def test_refund_never_received_fails_and_frees_its_credit(
    host: Host, owner: people.Member, clock: Time, paystack: PaystackServer
):
    paystack.away = True
    paid = await payments.paid_twice(host, owner.organization_id)
    refund = await asked_for(host, paid, "499.00")

    async with worker(host):
        await until(host, refund, "processing")
        await sweeps.until_idle(host, "billing", owner.organization_id)
        paystack.away = False
        clock.move(timedelta(minutes=6))
        await sweeps.after_sweeps(host, "billing", owner.organization_id, SWEEP)
        early = await status(host, refund)
        clock.move(timedelta(minutes=55))
        await until(host, refund, "failed")
    again = await asked_for(host, paid, "499.00")

    assert (early, again.amount_minor) == ("processing", 49900)
    assert paystack.refunds == []
