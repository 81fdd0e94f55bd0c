"""Sending: claimed once, checked again, tried again, and by the next channel if one is owed."""

from datetime import timedelta
from uuid import uuid4

import pytest
from tests.conftest import Time
from tests.factories import billing
from tests.factories import notification_deliveries as factory
from tests.factories.notification_deliveries import FAILED, NOON, Post
from tests.planting import plant
from tests.providers.messaging import MailServer, TwilioServer

from thenga.domains.notification.adapters import senders
from thenga.domains.notification.services import recipients
from thenga.domains.notification.services.delivery import retries, sending
from thenga.domains.notification.tables import Notification, Request
from thenga.kernel.process.host import Host


@pytest.mark.rule("NOT-28")
@pytest.mark.rule("NOT-18")
async def test_a_mail_is_sent_once_and_metered_once(
    post: Post, relay: MailServer, host: Host, clock: Time
) -> None:
    post = Post(host, clock, undone=())
    await billing.account(host, post.organization_id)
    who = await post.member()
    about = await post.message(who.user_id, "email")

    await post.settle()
    await post.settle()

    sent = await post.delivery(about, "email")
    (attempt,) = await post.attempts(sent)
    assert (sent.status, sent.certainty, sent.attempts) == ("sent", "known", 1)
    assert (attempt.outcome, attempt.units) == ("accepted", 1)
    assert relay.recipients == [f"{who.user_id}@example.test"]
    assert "R499,00" in relay.mails[0].get_body(("plain",)).get_content().replace("\xa0", "")  # type: ignore[union-attr]
    (told,) = await post.events("NotificationSent")
    assert (told["certainty"], told["channelKind"]) == ("known", "email")
    (message,) = await post.all(Notification, id=about.id)
    (request,) = await post.all(Request, id=about.request_id)
    assert (message.outcome, request.status) == ("reached", "completed")
    assert message.content_hash is not None
    async with host.engines.connection("billing", "billing_system") as link:
        used = await link.fetch(
            "SELECT meter, quantity FROM billing.usage_record WHERE organization_id = $1 "
            "AND key = $2",
            post.organization_id,
            str(attempt.id),
        )
    assert [tuple(one) for one in used] == [("notification.email.message", 1)]


@pytest.mark.rule("NOT-5")
async def test_the_address_is_read_when_the_message_is_sent(
    post: Post, relay: MailServer, provider: TwilioServer
) -> None:
    who = await post.member()
    await post.preference(who.user_id, FAILED, sms="on")
    about = await post.message(who.user_id, "sms")
    number = factory.number()
    await factory.move_to(post.host, who.user_id, phone=number)

    await post.settle()

    sent = await post.delivery(about, "sms")
    assert [one["To"] for one in provider.messages] == [number]
    assert sent.address_mask == recipients.mask("sms", number)
    assert sent.address_fingerprint == recipients.address_fingerprint(post.host, "sms", number)


@pytest.mark.rule("NOT-1")
async def test_a_preference_set_after_planning_counts(post: Post, provider: TwilioServer) -> None:
    who = await post.member()
    await post.preference(who.user_id, FAILED, sms="on")
    about = await post.message(who.user_id, "sms")
    await post.preference(who.user_id, FAILED, sms="off")

    await post.settle()

    stopped = await post.delivery(about, "sms")
    assert (stopped.status, stopped.reason_code) == ("not_sent", "topic_off")
    assert provider.messages == []


async def test_a_planted_preference_of_the_plan_is_found(
    post: Post, provider: TwilioServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    def as_planned(topic: object, person: object, channels: list[str], **_: object) -> object:
        decided = recipients.Verdict("send", None, None, ())
        return dict.fromkeys(channels, decided)

    plant(monkeypatch, recipients, "verdicts", as_planned)
    who = await post.member()
    await post.preference(who.user_id, FAILED, sms="on")
    about = await post.message(who.user_id, "sms")
    await post.preference(who.user_id, FAILED, sms="off")

    await post.settle()

    assert (await post.delivery(about, "sms")).status == "sent"


@pytest.mark.rule("NOT-1")
async def test_somebody_who_left_gets_nothing(post: Post, relay: MailServer) -> None:
    who = await post.member()
    elsewhere = Post(post.host, post.clock, uuid4())
    await factory.tenant(post.host, elsewhere.organization_id)
    about = await elsewhere.message(who.user_id, "email")

    await elsewhere.settle()

    stopped = await elsewhere.delivery(about, "email")
    assert (stopped.status, stopped.reason_code) == ("not_sent", "membership_ended")
    assert relay.mails == []


async def test_a_message_whose_time_is_over_is_not_sent(post: Post, relay: MailServer) -> None:
    who = await post.member()
    about = await post.message(who.user_id, "email", expires_in=timedelta(seconds=0))

    await post.settle()

    stopped = await post.delivery(about, "email")
    assert (stopped.status, stopped.reason_code) == ("not_sent", "expired")


@pytest.mark.rule("NOT-10")
async def test_an_sms_waits_for_the_morning(
    post: Post, provider: TwilioServer, clock: Time
) -> None:
    clock.set(NOON + timedelta(hours=10))
    who = await post.member()
    about = await post.message(who.user_id, "sms", topic_code=FAILED)
    await post.preference(who.user_id, FAILED, sms="on")

    await post.settle()
    held = await post.delivery(about, "sms")
    await post.until(NOON + timedelta(hours=20))

    assert (held.status, held.reason_code, provider.sids[1:]) == ("held", "quiet_hours", [])
    assert (await post.delivery(about, "sms")).status == "sent"


@pytest.mark.rule("NOT-30")
def test_delays_between_tries_grow_to_a_bound() -> None:
    bounds = [int(retries.longest_delay(n, "normal").total_seconds()) for n in range(1, 8)]
    urgent = [int(retries.longest_delay(n, "security").total_seconds()) for n in range(1, 7)]

    assert (bounds, sum(bounds)) == ([15, 30, 60, 120, 240, 480, 900], 1845)
    assert urgent == [2, 4, 8, 16, 20, 20]
    for n in range(1, 8):
        assert (
            timedelta(0) <= retries.delay(uuid4(), n, "normal") <= timedelta(seconds=bounds[n - 1])
        )


@pytest.mark.rule("NOT-30")
def test_a_try_is_never_before_retry_after_nor_after_expiry() -> None:
    later = NOON + timedelta(hours=1)
    wait = timedelta(minutes=40)

    due = retries.next_try(uuid4(), 1, "normal", at=NOON, expires_at=later, retry_after=wait)

    assert due is not None and due >= NOON + wait
    assert retries.next_try(uuid4(), 8, "normal", at=NOON, expires_at=later) is None
    assert retries.next_try(uuid4(), 50, "security", at=NOON, expires_at=later) is not None
    assert retries.next_try(uuid4(), 50, "security", at=NOON, expires_at=NOON) is None


@pytest.mark.rule("NOT-30")
@pytest.mark.rule("NOT-9")
@pytest.mark.rule("NOT-21")
async def test_eight_tries_and_then_the_next_channel(
    post: Post, relay: MailServer, provider: TwilioServer
) -> None:
    relay.script = ["451 4.3.0 Later"] * 20
    who = await post.member()
    about = await post.message(who.user_id, "email")

    await post.until(NOON + timedelta(hours=1))

    failed = await post.delivery(about, "email")
    instead = await post.delivery(about, "sms")
    assert (failed.status, failed.reason_code) == ("undelivered", "provider_unreachable")
    assert [one.outcome for one in await post.attempts(failed)] == ["refused_transient"] * 8
    assert (instead.status, len(provider.messages)) == ("sent", 1)
    assert {"NOT-9"} <= {one["rule"] for one in instead.decisions}
    (told,) = await post.events("NotificationFailed")
    assert (told["attempts"], told["fallbackChannel"]) == (8, "sms")
    (request,) = await post.all(Request, id=about.request_id)
    assert request.status == "completed"


@pytest.mark.rule("NOT-9")
@pytest.mark.rule("NOT-21")
async def test_a_bounced_address_is_not_used_again(
    post: Post, relay: MailServer, provider: TwilioServer
) -> None:
    who = await post.member()
    address = f"{who.user_id}@example.test"
    relay.refused = {address: "550 5.1.1 No such mailbox"}
    first = await post.message(who.user_id, "email")
    await post.settle()

    second = await post.message(who.user_id, "email")
    await post.settle()

    assert (await post.delivery(first, "email")).reason_code == "address_invalid"
    assert await factory.suppressed(post.host, "email", address)
    stopped = await post.delivery(second, "email")
    assert (stopped.status, stopped.reason_code) == ("not_sent", "address_suppressed_bounce")
    assert (await post.delivery(second, "sms")).status == "sent"
    assert (len(provider.messages), relay.mails) == (2, [])


@pytest.mark.rule("NOT-9")
async def test_a_channel_that_is_off_takes_over(
    post: Post, relay: MailServer, provider: TwilioServer
) -> None:
    who = await post.member()
    await post.preference(who.user_id, FAILED, sms="off")
    about = await post.message(who.user_id, "sms", "email")
    relay.script = ["554 5.6.0 No"]

    await post.until(NOON + timedelta(minutes=1))

    assert (await post.delivery(about, "email")).status == "undelivered"
    assert (await post.delivery(about, "sms")).status == "sent"


@pytest.mark.rule("NOT-31")
async def test_an_unclear_mail_goes_once_more_with_its_id(post: Post, relay: MailServer) -> None:
    relay.script = ["cut", "cut"]
    who = await post.member()
    about = await post.message(who.user_id, "email")

    await post.until(NOON + timedelta(hours=1))

    sent = await post.delivery(about, "email")
    assert (sent.status, sent.certainty) == ("sent", "unknown")
    assert len(relay.mails) == 2
    assert len({mail["Message-ID"] for mail in relay.mails}) == 1


@pytest.mark.rule("NOT-31")
@pytest.mark.parametrize(("topic", "calls"), [("organization.announcement", 1), (FAILED, 2)])
async def test_an_unclear_sms_is_sent_again_only_if_it_must(
    post: Post, provider: TwilioServer, topic: str, calls: int
) -> None:
    facts = {"title": "Closed", "message": "Closed"} if topic != FAILED else factory.FACTS
    provider.script = ["cut"] * 5
    who = await post.member()
    await post.preference(who.user_id, topic, sms="on")
    about = await post.message(who.user_id, "sms", topic_code=topic, facts=facts)

    await post.until(NOON + timedelta(hours=1))

    sent = await post.delivery(about, "sms")
    print(f"topic={topic} calls={len(provider.messages)} certainty={sent.certainty}")
    assert (sent.status, sent.certainty, len(provider.messages)) == ("sent", "unknown", calls)


async def test_a_call_that_was_interrupted_counts_as_unclear(
    post: Post, provider: TwilioServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Killed(Exception):
        pass

    async def die(*_: object, **__: object) -> None:
        raise Killed

    who = await post.member()
    await post.preference(who.user_id, FAILED, sms="on")
    about = await post.message(who.user_id, "sms")
    with monkeypatch.context() as patch:
        plant(patch, sending, "record", die)
        with pytest.raises(Killed):
            await post.settle()

    await post.until(NOON + timedelta(hours=1))

    sent = await post.delivery(about, "sms")
    assert [one.outcome for one in await post.attempts(sent)] == ["unknown", "accepted"]
    assert (sent.status, sent.certainty, len(provider.messages)) == ("sent", "known", 2)


async def test_a_fence_that_is_not_ours_records_nothing(post: Post, provider: TwilioServer) -> None:
    who = await post.member()
    await post.preference(who.user_id, FAILED, sms="on")
    about = await post.message(who.user_id, "sms")

    async def meanwhile(sid: str) -> None:
        provider.before_answer = None
        work = factory.working(post.host, post.organization_id)
        claimed = await work.lock(factory.Delivery, (await post.delivery(about, "sms")).id)
        claimed.fence += 1
        await work.save(claimed)
        await work.finish()

    provider.before_answer = meanwhile
    await post.settle()

    late = await post.delivery(about, "sms")
    (attempt,) = await post.attempts(late)
    assert (late.status, attempt.outcome, attempt.provider_message_id) == ("sending", None, None)
    assert await post.events("NotificationSent") == []


@pytest.mark.rule("NOT-49")
@pytest.mark.parametrize(
    ("address", "status", "reason"),
    [
        (None, "not_sent", "sandbox_captured"),
        ("delivered@sandbox.test", "delivered", None),
        ("bounce@sandbox.test", "undelivered", "address_invalid"),
        ("defer@sandbox.test", "undelivered", "provider_unreachable"),
        ("unknown@sandbox.test", "sent", "outcome_unknown"),
    ],
)
async def test_a_sandbox_sends_nothing_outside(
    post: Post, relay: MailServer, address: str | None, status: str, reason: str | None
) -> None:
    await factory.tenant(post.host, post.organization_id, sandbox=True)
    who = await factory.reachable(post.host, post.organization_id, email=address)
    about = await post.message(who.user_id, "email")

    await post.until(NOON + timedelta(hours=1))

    found = await post.delivery(about, "email")
    assert (found.status, found.reason_code) == (status, reason)
    assert relay.data_bytes == 0


async def test_a_channel_without_settings_sends_nothing(
    post: Post, relay: MailServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("THENGA_TWILIO_ACCOUNT_NOTIFICATION", "")
    who = await post.member()
    await post.preference(who.user_id, FAILED, sms="on")
    about = await post.message(who.user_id, "sms")

    await post.settle()

    stopped = await post.delivery(about, "sms")
    assert (stopped.status, stopped.reason_code) == ("not_sent", "channel_not_configured")


@pytest.mark.rule("NOT-50")
async def test_what_is_above_the_limit_of_a_recipient_waits(
    post: Post, relay: MailServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    who = await post.member(email=f"{uuid4().hex}@example.test")
    messages = [await post.message(who.user_id, "email") for _ in range(22)]

    await post.settle()

    found = [await post.delivery(one, "email") for one in messages]
    held = [(one.reason_code, one.held_until) for one in found if one.status == "held"]
    later = NOON + timedelta(hours=1)
    assert (len(relay.mails), held) == (20, [("too_many_messages", later)] * 2)

    monkeypatch.setattr(senders, "EVERY", ())  # the hour of Redis has passed
    await post.until(later + timedelta(minutes=6))

    found = [await post.delivery(one, "email") for one in messages]
    assert {(one.status, one.reason_code) for one in found} == {("sent", None)}
    assert len(relay.mails) == 22


@pytest.mark.rule("NOT-50")
async def test_what_would_be_too_late_is_not_sent(post: Post, relay: MailServer) -> None:
    who = await post.member(email=f"{uuid4().hex}@example.test")
    soon = {"expires_in": timedelta(minutes=50)}
    messages = [await post.message(who.user_id, "email", **soon) for _ in range(21)]

    await post.settle()

    found = [await post.delivery(one, "email") for one in messages]
    stopped = [one.reason_code for one in found if one.status == "not_sent"]
    assert (len(relay.mails), stopped) == (20, ["too_many_messages"])
