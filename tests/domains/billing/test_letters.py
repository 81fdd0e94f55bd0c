"""What the payer reads: the day, the sum and the plan as they are, delivered once to everybody."""

from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import aiosmtplib
import httpx2
import pytest

from tests.conftest import Time
from tests.factories import paying
from tests.factories.paying import Payer
from tests.letters import Letters
from thenga.domains.billing.adapters.mail import MailRequests
from thenga.domains.billing.services.customer import notices
from thenga.domains.notification.public import Recipient
from thenga.kernel.host import Host
from thenga.kernel.settings import Settings
from thenga.kernel.starting import make_host

READS = "you can read and take out everything you have, but not change it."
FACTS = dict.fromkeys(("name", "plan", "amount", "standing", "next"), "A")


async def failed(payer: Payer) -> UUID:
    (found,) = await payer.rows("SELECT id FROM billing.payment_failure WHERE organization_id = $1")
    return UUID(str(found["id"]))


@pytest.mark.rule("BIL-40")
@pytest.mark.parametrize(
    ("after", "said"),
    [
        ("read_only", f"From 29 November 2026 on {READS}"),
        ("none", "From 29 November 2026 on the plan is suspended; everything you have can still"),
        ("keep", "Nothing is closed: you can go on working."),
    ],
)
async def test_the_end_of_grace_is_told_by_its_day_and_by_what_the_policy_does_then(
    host: Host, seeded: None, clock: Time, after: str, said: str
):
    payer, _ = await paying.declined(host, clock)
    await payer.rows(
        "UPDATE billing.payment_failure SET policy = policy || "
        f"jsonb_build_object('afterGrace', '{after}', 'afterExhausted', '{after}') "
        "WHERE organization_id = $1 RETURNING id"
    )
    clock.set(datetime(2026, 11, 25, 22, tzinfo=UTC))

    written = await payer.letter(notices.GRACE_ENDING, await failed(payer))

    assert written is not None
    assert said in written


@pytest.mark.rule("BIL-40")
@pytest.mark.parametrize(
    ("at", "said"),
    [
        ("2026-11-21T06:00:01Z", "you can go on working until 28 November 2026."),
        ("2026-11-29T06:00:00Z", f"Until it is paid {READS}"),
        ("2026-12-05T06:00:01Z", "Until it is paid the plan is suspended;"),
    ],
)
async def test_a_failed_attempt_is_told_with_what_is_open_that_day(
    host: Host, seeded: None, clock: Time, at: str, said: str
):
    payer, _ = await paying.declined(host, clock)
    await payer.at(datetime.fromisoformat(at))

    written = await payer.letter(notices.PAYMENT_FAILED, await failed(payer))

    assert written is not None
    assert said in written


@pytest.mark.rule("BIL-42")
async def test_a_payment_that_the_bank_wants_confirmed_sends_a_pay_link(
    host: Host, seeded: None, clock: Time
):
    payer, _ = await paying.declined(host, clock, card="authentication")
    (failure,) = await payer.rows(
        "SELECT invoice_id FROM billing.payment_failure WHERE organization_id = $1"
    )

    written = await payer.letter(notices.PAYMENT_FAILED, await failed(payer))

    assert written is not None
    assert f"https://thenga.example/pay/{failure['invoice_id']}" in written


@pytest.mark.rule("BIL-14")
async def test_a_renewal_is_told_with_the_plan_that_it_begins(
    api: httpx2.AsyncClient, host: Host, seeded: None, clock: Time
):
    payer = await paying.payer(host, clock, datetime(2027, 1, 14, 8, tzinfo=UTC))
    held = await payer.buy("professional")
    headers = await paying.owner_of(host, payer)
    path = f"/billing/subscriptions/{held.id}/change-plan"
    await api.post(path, json={"planCode": "starter"}, headers=headers)
    await payer.at(datetime(2027, 2, 11, 8, tzinfo=UTC))
    (renewal,) = await payer.rows("SELECT id FROM billing.renewal WHERE organization_id = $1")

    written = await payer.letter(notices.RENEWAL_DUE, renewal["id"])
    headers = await paying.owner_of(host, payer)
    leaving = {"reasonCode": "other"}
    await api.post(f"/billing/subscriptions/{held.id}/cancel", json=leaving, headers=headers)
    left = await payer.letter(notices.RENEWAL_DUE, renewal["id"])

    assert written is not None
    assert "Starter is what you have from 14 February 2027 on. ZAR 499.00" in written
    assert "credit is taken off already" in written
    assert left is None  # who leaves is told of no renewal


class Choosy(Letters):
    """Refuses addresses of a company that is gone."""

    async def handle_RCPT(
        self, server: Any, session: Any, envelope: Any, address: str, options: Any
    ) -> str:
        if address.endswith("@gone.example"):
            return "550 No such mailbox"
        envelope.rcpt_tos.append(address)
        return "250 OK"


@pytest.mark.rule("BIL-40")
async def test_an_address_that_is_refused_keeps_nobody_else_from_the_letter(settings: Settings):
    first, gone, last = "a@here.example", "b@gone.example", "c@here.example"
    with Choosy() as letters:
        there = {"smtp_host": "127.0.0.1", "smtp_port": letters.port}
        made_on = make_host(settings.model_copy(update=there))
        mail = MailRequests(made_on)

        async def send(*addresses: str) -> None:
            await mail.accept(
                topic_code=notices.PAYMENT_FAILED,
                recipients=[Recipient(address=one) for one in addresses],
                facts=FACTS,
                sealed_facts={},
                key="k",
            )

        await send(first, gone, last)
        with pytest.raises(aiosmtplib.SMTPException):
            await send(gone)

        await made_on.close()
        assert [letters.count(one) for one in (first, gone, last)] == [1, 0, 1]
