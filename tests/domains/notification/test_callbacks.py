"""Callbacks of providers: verified on the raw bytes, stored once, applied to their message."""

from collections import Counter
from dataclasses import replace
from datetime import timedelta
from uuid import uuid4

import httpx2
import pytest
from tests.conftest import Time
from tests.factories import notification_deliveries as factory
from tests.factories.notification_callbacks import (
    deliver,
    mailed,
    mailgun_forgeries,
    sweep,
    texted,
    twilio_forgeries,
    url_of,
    work_off,
)
from tests.factories.notification_deliveries import FAILED, NOON, Post
from tests.providers import messaging
from tests.providers.messaging import SMS, MailServer, Sent, TwilioServer


@pytest.mark.rule("NOT-33")
async def test_a_delivered_sms_is_reported_once(
    api: httpx2.AsyncClient, post: Post, provider: TwilioServer
) -> None:
    about, sid, number = await texted(post, provider)
    sent = messaging.twilio(url_of(post.host), sid, "delivered", number)

    answers = [(await deliver(api, sent)).status_code for _ in range(3)]
    await work_off(post)

    found = await post.delivery(about, "sms")
    (attempt,) = await post.attempts(found)
    assert (answers, found.status) == ([200] * 3, "delivered")
    assert [one["effect"] for one in attempt.reports] == ["applied"]
    (told,) = await post.events("NotificationDelivered")
    assert told["assurance"] == "signed"
    assert [one.state for one in await factory.callbacks(post.host, sid)] == ["applied"]


@pytest.mark.rule("NOT-33")
async def test_the_former_token_signs_during_a_rotation(
    api: httpx2.AsyncClient, post: Post, provider: TwilioServer
) -> None:
    _, sid, number = await texted(post, provider)
    url, token = url_of(post.host), messaging.FORMER_TOKEN

    answer = await deliver(api, messaging.twilio(url, sid, "delivered", number, token=token))

    assert answer.status_code == 200


@pytest.mark.rule("NOT-9")
@pytest.mark.rule("NOT-29")
async def test_a_mail_that_comes_back_goes_by_sms(
    api: httpx2.AsyncClient, post: Post, relay: MailServer, provider: TwilioServer
) -> None:
    about, message_id, address = await mailed(post)
    hard = {"severity": "permanent", "delivery-status": {"enhanced-code": "5.1.1", "code": 550}}
    sent = messaging.mailgun(message_id, "failed", address, at=NOON, **hard)

    answer = await deliver(api, sent)
    await work_off(post)

    bounced, instead = await post.delivery(about, "email"), await post.delivery(about, "sms")
    assert (answer.status_code, bounced.status) == (200, "bounced")
    assert await factory.suppressed(post.host, "email", address)
    assert (instead.status, "NOT-9" in {one["rule"] for one in instead.decisions}) == ("sent", True)
    (told,) = await post.events("NotificationFailed")
    assert (told["reasonCode"], told["fallbackChannel"]) == ("address_invalid", "sms")


async def test_our_own_reputation_suppresses_no_address(
    api: httpx2.AsyncClient, post: Post, relay: MailServer
) -> None:
    about, message_id, address = await mailed(post)
    ours = {"severity": "permanent", "delivery-status": {"enhanced-code": "5.7.1"}}

    await deliver(api, messaging.mailgun(message_id, "failed", address, at=NOON, **ours))
    await work_off(post)

    assert (await post.delivery(about, "email")).status == "bounced"
    assert not await factory.suppressed(post.host, "email", address)


@pytest.mark.rule("NOT-33")
async def test_forged_callbacks_have_no_effect(
    api: httpx2.AsyncClient, post: Post, provider: TwilioServer, relay: MailServer
) -> None:
    text, sid, number = await texted(post, provider)
    mail, message_id, address = await mailed(post)
    forged = twilio_forgeries(url_of(post.host), sid, number)
    forged |= mailgun_forgeries(message_id, address, NOON)

    answers = {name: (await deliver(api, sent)).status_code for name, sent in forged.items()}
    await work_off(post)

    print(f"forgeries={len(forged)} answers={dict(Counter(answers.values()))}")
    assert set(answers.values()) == {401}, answers
    assert (await post.delivery(text, "sms")).status == "sent"
    assert (await post.delivery(mail, "email")).status == "sent"
    assert await factory.callbacks(post.host, sid) == []


@pytest.mark.parametrize(
    "channel",
    ["01900000-0000-7000-8000-000000000000", "sms", "019a0000-0000-7000-8000-00000000c001"],
    ids=["unknown", "not an id", "without reports"],
)
async def test_a_channel_without_reports_is_not_found(
    api: httpx2.AsyncClient, seeded: None, channel: str
) -> None:
    sent = messaging.twilio("", "SM1", "delivered", "+27820000000")

    answer = await deliver(api, replace(sent, channel=channel))

    assert answer.status_code == 404


async def test_a_callback_over_the_limit_is_refused(api: httpx2.AsyncClient, seeded: None) -> None:
    answer = await deliver(api, Sent(SMS, b"a" * (256 * 1024 + 1), ()))

    assert answer.status_code == 413


@pytest.mark.rule("NOT-33")
async def test_a_callback_faster_than_the_answer_is_applied(
    api: httpx2.AsyncClient, post: Post, provider: TwilioServer
) -> None:
    number = factory.number()
    who = await post.member(phone=number)
    await post.preference(who.user_id, FAILED, sms="on")
    about = await post.message(who.user_id, "sms")
    states: list[str] = []

    async def overtake(sid: str) -> None:
        provider.before_answer = None
        await deliver(api, messaging.twilio(url_of(post.host), sid, "delivered", number))
        timeline = Post(post.host, post.clock, uuid4())
        await work_off(timeline)
        states.extend(one.state for one in await factory.callbacks(post.host, sid))

    provider.before_answer = overtake
    await post.settle()
    await work_off(post)

    assert (states, (await post.delivery(about, "sms")).status) == (["unmatched"], "delivered")


@pytest.mark.rule("NOT-33")
async def test_a_report_without_a_message_waits_for_a_day(
    api: httpx2.AsyncClient, post: Post, provider: TwilioServer, clock: Time
) -> None:
    sid = f"SM{uuid4().hex}"
    await deliver(api, messaging.twilio(url_of(post.host), sid, "sent", factory.number()))
    await work_off(post)

    waiting = await factory.callbacks(post.host, sid)
    clock.set(NOON + timedelta(hours=25))
    await sweep(post)

    assert [one.state for one in waiting] == ["unmatched"]
    assert [one.state for one in await factory.callbacks(post.host, sid)] == ["orphaned"]


@pytest.mark.rule("NOT-33")
async def test_a_report_about_another_number_has_no_effect(
    api: httpx2.AsyncClient, post: Post, provider: TwilioServer
) -> None:
    about, sid, _ = await texted(post, provider)

    await deliver(api, messaging.twilio(url_of(post.host), sid, "delivered", "+27820000000"))
    await work_off(post)

    assert (await post.delivery(about, "sms")).status == "sent"
    assert [one.state for one in await factory.callbacks(post.host, sid)] == ["mismatched"]


@pytest.mark.rule("NOT-31")
async def test_a_late_report_clears_an_unclear_sms(
    api: httpx2.AsyncClient, post: Post, provider: TwilioServer, clock: Time
) -> None:
    provider.script = ["cut"] * 2
    about, sid, number = await texted(post, provider)
    await post.until(NOON + timedelta(minutes=30))
    unclear = await post.delivery(about, "sms")

    await deliver(api, messaging.twilio(url_of(post.host), sid, "delivered", number))
    await work_off(post)
    clock.set(NOON + timedelta(minutes=32))
    await sweep(post)

    lifted = await post.delivery(about, "sms")
    print(f"calls={len(provider.messages)} certainty={unclear.certainty} late={lifted.status}")
    assert (unclear.status, unclear.certainty) == ("sent", "unknown")
    assert (lifted.status, lifted.certainty) == ("delivered", "known")
