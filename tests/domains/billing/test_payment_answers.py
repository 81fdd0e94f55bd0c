"""What providers answer, or do not: an unknown is never a failure, and nobody pays twice."""

from datetime import datetime, timedelta
from uuid import UUID, uuid4

import httpx2
import pytest

from tests import sweeps
from tests.conftest import Time
from tests.domains.billing.paying import (
    RETURN,
    findings,
    owner,
    pay,
    payfast,
    paystack,
    read,
    told,
    until,
)
from tests.factories import billing, payments
from tests.factories import identity as people
from tests.planting import plant
from tests.providers.loopback import worker
from tests.providers.servers import SHORT, PayFastServer, PaystackServer
from tests.suites import flows
from thenga.domains.billing.services.payments import polling, provider_orders
from thenga.domains.billing.services.payments.attempts import PaymentChoice
from thenga.domains.billing.services.settlement import provider_results
from thenga.domains.billing.tables import (
    Payment,
    PaymentStatus,
)
from thenga.domains.billing.values.provider import (
    NextAction,
    ProviderAnswer,
)
from thenga.kernel.db.work import Work
from thenga.kernel.outside import outbound
from thenga.kernel.process.host import Host

__all__ = ["owner", "payfast", "paystack"]

SWEEP = "find_to_poll_payment"


@pytest.mark.rule("BIL-32")
async def test_a_time_out_that_in_truth_succeeded_is_charged_once(
    api: httpx2.AsyncClient,
    host: Host,
    owner: people.Member,
    clock: Time,
    paystack: PaystackServer,
    monkeypatch: pytest.MonkeyPatch,
):
    paystack.silent = True
    card = await payments.method(host, owner.organization_id)
    made = await payments.begun(host, owner.organization_id, PaymentChoice(card.id))

    async def charged() -> bool:
        return len(paystack.charges) == 1

    async with worker(host):
        with monkeypatch.context() as soon:
            soon.setattr(outbound, "SECONDS", SHORT)
            await flows.until(charged)
            await sweeps.until_idle(host, "billing", owner.organization_id)
        between = await read(api, owner, made.id)
        clock.move(timedelta(seconds=61))
        paid = await until(api, owner, made.id, "succeeded")

    print(f"between={between['status']} then={paid['status']} charged={len(paystack.charges)}")
    assert between["status"] == "processing"
    assert len(paystack.charges) == 1
    assert [one["source"] for one in paid["statements"]] == ["poll"]


async def stored(host: Host, made: Payment) -> tuple[str, int]:
    """What the row says, where the clock has run past every session, and how often it was told."""
    async with host.engines.connection("billing", "billing_system") as connection:
        found = await connection.fetchrow(
            "SELECT status, version FROM billing.payment WHERE id = $1", made.id
        )
    return found["status"], found["version"]


@pytest.mark.rule("BIL-32")
async def test_unreachable_provider_never_causes_a_double_charge(
    host: Host, owner: people.Member, clock: Time, paystack: PaystackServer
):
    paystack.away = True
    card = await payments.method(host, owner.organization_id)
    made = await payments.begun(host, owner.organization_id, PaymentChoice(card.id))

    async with worker(host):
        for step, hours in enumerate((0.1, 6, 30), 2):
            clock.move(timedelta(hours=hours))

            async def recorded(step: int = step) -> bool:
                return (await stored(host, made))[1] >= step

            await flows.until(recorded)
        between, _ = await stored(host, made)
        clock.move(timedelta(hours=72))

        async def given_up() -> bool:
            return "PaymentMismatchFound" in await told(host, owner.organization_id)

        await flows.until(given_up)
    after, _ = await stored(host, made)

    print(f"asked={paystack.asked} status={between} charged={len(paystack.charges)}")
    assert (between, after) == ("processing", "processing")
    assert paystack.charges == []


@pytest.mark.rule("BIL-32")
@pytest.mark.parametrize(
    ("behaviour", "found"),
    [({"pending": True}, ["no_answer"]), ({"off_minor": 1}, ["amount_differs", "no_answer"])],
)
async def test_undecided_payment_is_polled_and_reported_once(
    host: Host,
    owner: people.Member,
    clock: Time,
    paystack: PaystackServer,
    behaviour: dict[str, int],
    found: list[str],
):
    vars(paystack).update(behaviour)
    card = await payments.method(host, owner.organization_id)
    made = await payments.begun(host, owner.organization_id, PaymentChoice(card.id))
    at, asked = made.created_at, []

    async with worker(host):
        await flows.until(lambda: kept(host, made, 1))
        while (at := polling.next_poll_at(made.created_at, at)) is not None:
            clock.set(at)
            await flows.until(lambda: kept(host, made, len(asked) + 2))
            await sweeps.after_sweeps(host, "billing", owner.organization_id, SWEEP)
            asked.append(paystack.asked)
        clock.set(made.created_at + timedelta(days=4))
        await sweeps.after_sweeps(host, "billing", owner.organization_id, SWEEP)

    print(f"charged={len(paystack.charges)} asked={asked} told={await findings(host, made)}")
    assert asked == list(range(1, 17))
    assert (paystack.asked, len(paystack.charges)) == (16, 1)
    assert await findings(host, made) == found
    assert (await stored(host, made))[0] == "processing"


async def kept(host: Host, made: Payment, number: int) -> bool:
    """Whether so many statements of a payment are kept."""
    async with host.engines.connection("billing", "billing_system") as connection:
        rows = await connection.fetchval(
            "SELECT count(*) FROM billing.provider_statement WHERE payment_id = $1", made.id
        )
    return int(rows) >= number


@pytest.mark.rule("BIL-32")
async def test_worker_dying_after_a_retry_leaves_one_charge(
    host: Host,
    owner: people.Member,
    clock: Time,
    payfast: PayFastServer,
    monkeypatch: pytest.MonkeyPatch,
):
    payfast.refuse = "maintenance"
    card = await payments.method(host, owner.organization_id, provider="payfast", token="tok-9")
    made = await payments.begun(host, owner.organization_id, PaymentChoice(card.id))
    record, died = provider_results.record_answer, []

    async def dying(
        work: Work, payment_id: UUID, answer: ProviderAnswer, *, source: str, reference: str
    ) -> None:
        if source == "poll" and not died:
            died.append(answer)
            raise ConnectionError("the worker is gone")
        await record(work, payment_id, answer, source=source, reference=reference)

    async with worker(host):
        await flows.until(lambda: faulty(host, made))
        payfast.refuse = None
        plant(monkeypatch, provider_results, "record_answer", dying)
        clock.move(timedelta(hours=1))

        async def paid() -> bool:
            return (await stored(host, made))[0] == "succeeded"

        await flows.until(paid)

    print(f"died={len(died)} charged={len(payfast.charges)}")
    assert (len(died), len(payfast.charges)) == (1, 1)


async def faulty(host: Host, made: Payment) -> bool:
    """Whether the provider could not take the charge, and it will be tried again."""
    async with host.engines.connection("billing", "billing_system") as connection:
        return bool(
            await connection.fetchval(
                "SELECT charge_again FROM billing.payment WHERE id = $1", made.id
            )
        )


@pytest.mark.rule("BIL-32")
@pytest.mark.parametrize("lost", ["answer", "worker"])
async def test_lost_payment_page_is_requested_again_within_a_minute(
    host: Host,
    owner: people.Member,
    clock: Time,
    paystack: PaystackServer,
    monkeypatch: pytest.MonkeyPatch,
    lost: str,
):
    paystack.silent = lost == "answer"
    made = await payments.begun(host, owner.organization_id, PaymentChoice(provider="paystack"))
    paystack.opened += [made.reference] * (lost == "worker")

    async def renamed() -> bool:
        return (await page_of(host, made))[0] != made.reference

    async def shown() -> bool:
        return (await page_of(host, made))[1] is not None

    async with worker(host):
        with monkeypatch.context() as soon:
            soon.setattr(outbound, "SECONDS", SHORT)
            await flows.until(renamed)
        paystack.silent = False
        clock.move(timedelta(seconds=61))
        await flows.until(shown)

    reference, url = await page_of(host, made)
    assert paystack.opened == [made.reference, reference]
    assert str(url).endswith(reference)
    assert await faults(host, made) == 0


async def test_late_answer_for_an_old_reference_shows_no_page(host: Host, owner: people.Member):
    made = await payments.begun(host, owner.organization_id, PaymentChoice(provider="paystack"))
    late = ProviderAnswer(
        action=NextAction("redirect", f"https://checkout.example/{made.reference}")
    )

    for answer in (ProviderAnswer(), late):
        work = billing.working(host, owner.organization_id)
        await provider_results.record_answer(
            work, made.id, answer, source="answer", reference=made.reference
        )
        await work.finish()

    assert (await page_of(host, made))[1] is None


async def page_of(host: Host, made: Payment) -> tuple[str, str | None]:
    """The reference of a payment, and the address of its page."""
    async with host.engines.connection("billing", "billing_system") as connection:
        found = await connection.fetchrow(
            "SELECT reference, next_action ->> 'url' AS url FROM billing.payment WHERE id = $1",
            made.id,
        )
    return found["reference"], found["url"]


async def faults(host: Host, made: Payment) -> int:
    async with host.engines.connection("billing", "billing_system") as connection:
        return int(
            await connection.fetchval("SELECT faults FROM billing.payment WHERE id = $1", made.id)
        )


@pytest.mark.rule("BIL-32")
def test_the_times_at_which_a_provider_is_asked():
    begun = datetime.fromisoformat("2026-11-14T08:00:00+00:00")
    asked, now = [], begun
    while (following := polling.next_poll_at(begun, now)) is not None:
        asked.append(following - begun)
        now = following

    minutes = [int(one.total_seconds() // 60) for one in asked]
    print(f"minutes={minutes}")
    assert minutes == [1, 5, 15, 60, *(hours * 60 for hours in range(6, 73, 6))]


async def test_a_declined_card_says_why(
    api: httpx2.AsyncClient, host: Host, owner: people.Member, paystack: PaystackServer
):
    paystack.decline = "Stolen card, pick up"
    card = await payments.method(host, owner.organization_id)
    made = await payments.begun(host, owner.organization_id, PaymentChoice(card.id))

    async with worker(host):
        failed = await until(api, owner, made.id, "failed")

    assert failed["failure"] == {
        "category": "hard",
        "code": "Stolen card, pick up",
        "message": "The bank no longer accepts this card. Add another payment method.",
    }


async def test_nobody_pays_for_a_day_and_it_is_over_before_any_sweep(
    api: httpx2.AsyncClient, host: Host, owner: people.Member
):
    made = await payments.payment(host, owner.organization_id)
    back = billing.working(host, owner.organization_id)
    await back.run("UPDATE billing.payment SET created_at = created_at - interval '1 day'")
    await back.finish()

    shown = await read(api, owner, made.id)
    work = billing.working(host, owner.organization_id)
    await provider_orders.expire_payment(work, made.id)
    await work.finish()
    late = await payments.taken(host, made, payments.said(made))

    assert (shown["status"], shown["nextAction"]) == ("expired", None)
    assert late.payment.status is PaymentStatus.SUCCEEDED


async def test_payfast_form_is_signed_and_its_token_charged_later(
    api: httpx2.AsyncClient, host: Host, owner: people.Member, payfast: PayFastServer
):
    invoice = await payments.invoice(host, owner.organization_id)
    body = {"invoiceId": str(invoice.id), "provider": "payfast", "returnUrl": RETURN}
    card = await payments.method(host, owner.organization_id, provider="payfast", token="tok-1")

    form = await pay(api, owner, **body)
    later = await payments.begun(host, owner.organization_id, PaymentChoice(card.id))
    async with worker(host):
        waits = await until(api, owner, form.json()["id"], "requires_action")
        paid = await until(api, owner, later.id, "succeeded")

    fields = {one["name"]: one["value"] for one in waits["nextAction"]["fields"]}
    assert waits["nextAction"]["kind"] == "form_post"
    assert [*fields][:2] == ["merchant_id", "merchant_key"]
    assert (fields["amount"], fields["m_payment_id"]) == ("499.00", form.json()["reference"])
    assert len(fields["signature"]) == 32
    assert paid["providerReference"].startswith("pf")
    assert [one["amount"] for one in payfast.charges] == ["49900"]


@pytest.mark.rule("BIL-42")
@pytest.mark.parametrize(
    ("said", "failure"),
    [
        ("Transaction declined (43)", {"category": "hard", "code": "43"}),
        ("Not sufficient funds (51)", {"category": "soft", "code": "51"}),
        ("The token is not active", {"category": "soft", "code": "The token is not active"}),
    ],
)
async def test_payfast_says_in_its_message_which_code_the_bank_gave(
    api: httpx2.AsyncClient,
    host: Host,
    owner: people.Member,
    payfast: PayFastServer,
    said: str,
    failure: dict[str, str],
):
    payfast.decline = said
    token = f"tok-{uuid4()}"
    card = await payments.method(host, owner.organization_id, provider="payfast", token=token)
    made = await payments.begun(host, owner.organization_id, PaymentChoice(card.id))

    async with worker(host):
        failed = await until(api, owner, made.id, "failed")

    assert failure.items() <= failed["failure"].items()
    assert failed["failure"]["message"].endswith(".")


@pytest.mark.rule("BIL-32")
async def test_unclear_payfast_answer_is_unknown(
    host: Host, owner: people.Member, clock: Time, payfast: PayFastServer
):
    payfast.word = "queued"
    token = f"tok-{uuid4()}"
    card = await payments.method(host, owner.organization_id, provider="payfast", token=token)
    made = await payments.begun(host, owner.organization_id, PaymentChoice(card.id))

    async def charged() -> bool:
        return len(payfast.charges) == 1

    async def paid() -> bool:
        return (await stored(host, made))[0] == "succeeded"

    async with worker(host):
        await flows.until(charged)
        await sweeps.until_idle(host, "billing", owner.organization_id)
        between, _ = await stored(host, made)
        clock.move(timedelta(seconds=61))
        await flows.until(paid)

    assert (between, len(payfast.charges)) == ("processing", 1)
