"""Callbacks of providers: verified on the raw bytes, each once, and any order ends alike."""

import itertools
import random
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from urllib.parse import parse_qsl, urlencode
from uuid import uuid4

import httpx2
import pytest
from tests.conftest import Time
from tests.factories import notification_deliveries as factory
from tests.factories.notification_deliveries import FAILED, Post
from tests.planting import plant
from tests.providers import messaging
from tests.providers.messaging import EMAIL, SMS, MailServer, Sent, TwilioServer
from tests.suites.sizes import size

from thenga.domains.notification.adapters import mailgun, twilio
from thenga.domains.notification.services.delivery import callbacks, channels
from thenga.domains.notification.tables import Delivery, Notification
from thenga.kernel.db.work import Work
from thenga.kernel.host import Host

NOON = datetime(2026, 11, 16, 10, tzinfo=UTC)


@pytest.fixture
async def provider(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[TwilioServer]:
    server = TwilioServer()
    async with server.running() as url:
        monkeypatch.setenv("THENGA_TWILIO_URL_NOTIFICATION", url)
        yield server


@pytest.fixture
def relay(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[MailServer]:
    with MailServer(tmp_path) as server:
        monkeypatch.setenv("THENGA_SMTP_PORT_NOTIFICATION", str(server.port))
        monkeypatch.setenv("THENGA_SMTP_CA_NOTIFICATION", server.ca_file)
        yield server


@pytest.fixture
def post(host: Host, seeded: None, clock: Time) -> Post:
    clock.set(NOON)
    return Post(host, clock)


def url_of(host: Host) -> str:
    return channels.callback_url(host, next(one for one in channels.deployed() if str(one) == SMS))


async def deliver(api: httpx2.AsyncClient, sent: Sent) -> httpx2.Response:
    headers = [(name.encode(), value.encode("latin-1")) for name, value in sent.headers]
    return await api.post(sent.path, content=sent.body, headers=headers)


async def texted(post: Post, provider: TwilioServer) -> tuple[Notification, str, str]:
    """A sent SMS: the message, the provider's ID and the number."""
    number = factory.number()
    who = await post.member(phone=number)
    await post.preference(who.user_id, FAILED, sms="on")
    about = await post.message(who.user_id, "sms")
    await post.settle()
    return about, provider.sids[-1], number


async def mailed(post: Post) -> tuple[Notification, str, str]:
    """A sent mail: the message, its ID and the address."""
    who = await post.member()
    about = await post.message(who.user_id, "email")
    await post.settle()
    sent = await post.delivery(about, "email")
    return about, f"{sent.id}@thenga.example", f"{who.user_id}@example.test"


async def work_off(post: Post) -> None:
    """Apply what was received, as the system's own jobs do."""
    timeline = replace(post.timeline, organization_id="", undone=("meter_attempt",))
    post.worker.clock = post.host.clock
    for domain in timeline.domains:
        while True:
            async with timeline._connection(domain) as link:
                taken = await link.fetchrow(
                    "UPDATE notification.procrastinate_jobs SET status = 'doing', worker_id = $1 "
                    "WHERE id = (SELECT id FROM notification.procrastinate_jobs "
                    "WHERE status = 'todo' AND args ->> 'organization_id' IS NULL "
                    "ORDER BY id LIMIT 1) RETURNING id, task_name, attempts, args",
                    await timeline._worker_id(link, domain),
                )
            if taken is None:
                break
            await timeline._do(domain, taken)
            async with timeline._connection(domain) as link:
                await link.execute(
                    "DELETE FROM notification.procrastinate_jobs WHERE id = $1", taken["id"]
                )
    await post.settle()


async def sweep(post: Post) -> None:
    """What the periodic job does with reports that wait."""
    post.worker.clock = post.host.clock
    scope, origin = factory.Scope(factory.SYSTEM), factory._ORIGIN
    work = Work(post.worker, "notification", scope, origin, login="notification_system")
    await callbacks.retry_unmatched(work)
    await work.finish()
    await work_off(post)


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


def _signed_again(sent: Sent, **changes: str) -> Sent:
    fields = dict(parse_qsl(sent.body.decode())) | changes
    return replace(sent, body=urlencode(fields).encode())


def _header(sent: Sent, value: str) -> Sent:
    return replace(sent, headers=(("x-twilio-signature", value), *sent.headers[1:]))


def _twilio_forgeries(url: str, sid: str, number: str) -> dict[str, Sent]:
    true = messaging.twilio(url, sid, "delivered", number)
    signature = true.headers[0][1]
    return {
        "one field changed": _signed_again(true, MessageStatus="failed"),
        "one field more": replace(true, body=true.body + b"&Extra=1"),
        "one field twice": replace(true, body=true.body + b"&To=%2B27820000000"),
        "another token": messaging.twilio(url, sid, "delivered", number, token="a-stranger"),
        "another address": messaging.twilio(url + "?x", sid, "delivered", number),
        "host of the request": messaging.twilio(
            f"http://thenga.test/v1/notifications/channels/{SMS}/callbacks", sid, "sent", number
        ),
        "no signature": replace(true, headers=true.headers[1:]),
        "two signatures": replace(true, headers=(true.headers[0], *true.headers)),
        "not ASCII": _header(true, signature[:-1] + "ä"),
        "empty signature": _header(true, ""),
        "no body": replace(true, body=b""),
        "another channel": replace(true, channel=EMAIL),
    }


def _mailgun_forgeries(message_id: str, address: str, at: datetime) -> dict[str, Sent]:
    true = messaging.mailgun(message_id, "failed", address, at=at)
    old, key = at - timedelta(seconds=301), "a-stranger"
    return {
        "another key": messaging.mailgun(message_id, "failed", address, at=at, key=key),
        "too old": messaging.mailgun(message_id, "failed", address, at=old),
        "token changed": replace(true, body=true.body.replace(b'"token": "', b'"token": "0')),
        "not JSON": replace(true, body=b"failed"),
        "a name twice": replace(true, body=true.body.replace(b"{", b'{"signature": {}, ', 1)),
    }


@pytest.mark.rule("NOT-33")
async def test_forged_callbacks_have_no_effect(
    api: httpx2.AsyncClient, post: Post, provider: TwilioServer, relay: MailServer
) -> None:
    text, sid, number = await texted(post, provider)
    mail, message_id, address = await mailed(post)
    forged = _twilio_forgeries(url_of(post.host), sid, number)
    forged |= _mailgun_forgeries(message_id, address, NOON)

    answers = {name: (await deliver(api, sent)).status_code for name, sent in forged.items()}
    await work_off(post)

    print(f"forgeries={len(forged)} answers={dict(Counter(answers.values()))}")
    assert set(answers.values()) == {401}, answers
    assert (await post.delivery(text, "sms")).status == "sent"
    assert (await post.delivery(mail, "email")).status == "sent"
    assert await factory.callbacks(post.host, sid) == []


async def test_a_planted_signature_of_parsed_fields_is_found(
    api: httpx2.AsyncClient,
    post: Post,
    provider: TwilioServer,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A body that is written anew loses a field that was sent twice."""

    def written_anew(raw: bytes) -> list[tuple[str, str]]:
        return list(dict(reversed(parse_qsl(raw.decode()))).items())

    _, sid, number = await texted(post, provider)
    forged = _twilio_forgeries(url_of(post.host), sid, number)["one field twice"]
    assert (await deliver(api, forged)).status_code == 401

    monkeypatch.setattr(twilio, "_fields", written_anew)

    assert (await deliver(api, forged)).status_code == 200


@pytest.mark.parametrize("channel", [str(uuid4()), "sms", "019a0000-0000-7000-8000-00000000c001"])
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


ORDERS = list(itertools.permutations(("sent", "undelivered", "delivered")))


async def end_of(
    api: httpx2.AsyncClient, post: Post, provider: TwilioServer, order: tuple[str, ...]
) -> str:
    about, sid, number = await texted(post, provider)
    for status in order:
        await deliver(api, messaging.twilio(url_of(post.host), sid, status, number))
        await work_off(post)
    return (await post.delivery(about, "sms")).status


@pytest.mark.rule("NOT-33")
async def test_every_order_of_reports_ends_alike(
    api: httpx2.AsyncClient, post: Post, provider: TwilioServer
) -> None:
    ends = {await end_of(api, post, provider, order) for order in ORDERS}

    assert ends == {"delivered"}


async def test_a_planted_last_write_is_found(
    api: httpx2.AsyncClient,
    post: Post,
    provider: TwilioServer,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def last_write(work: Work, delivery: Delivery, attempt: object, report: object) -> None:
        delivery.status, delivery.reason_code = report.status, "provider_rejected"  # type: ignore[attr-defined]
        await work.save(delivery)

    plant(monkeypatch, callbacks, "effect_of", lambda *_: "applied")
    plant(monkeypatch, callbacks, "_move", last_write)

    ends = {await end_of(api, post, provider, order) for order in ORDERS[-2:]}

    assert ends != {"delivered"}


@pytest.mark.rule("NOT-33")
async def test_many_callbacks_in_any_order(
    api: httpx2.AsyncClient, post: Post, provider: TwilioServer, relay: MailServer
) -> None:
    """True, repeated and forged ones of both providers in one shuffled stream."""
    chance, stream, expected = random.Random(33), [], {}
    while len(stream) < size(check=300, prove=10_000):
        about, sid, number = await texted(post, provider)
        url = url_of(post.host)
        stream += [
            messaging.twilio(url, sid, status, number)
            for status in ("sent", "undelivered", "delivered", "delivered")
        ]
        stream += _twilio_forgeries(url, sid, number).values()
        expected[about.id, "sms"] = "delivered"
        about, message_id, address = await mailed(post)
        true = [
            messaging.mailgun(message_id, event, address, at=NOON, **more)
            for event, more in (
                ("delivered", {}),
                ("failed", {"severity": "permanent"}),
                ("failed", {"severity": "temporary"}),
            )
        ]
        stream += [*true, *true, *_mailgun_forgeries(message_id, address, NOON).values()]
        expected[about.id, "email"] = "bounced"
    chance.shuffle(stream)

    answers = Counter([(await deliver(api, sent)).status_code for sent in stream])
    await work_off(post)

    wrong = doubled = 0
    for (message_id_, kind), status in expected.items():
        (found,) = await post.all(Delivery, notification_id=message_id_, channel_kind=kind)
        (attempt,) = await post.attempts(found)
        wrong += found.status != status
        doubled += max(0, len(attempt.reports) - 3)
    ends = await post.events("NotificationDelivered")
    doubled += len(ends) - len({one["deliveryId"] for one in ends})
    errors = sum(count for status, count in answers.items() if status >= 500)
    print(
        f"callbacks={len(stream)} forged_effects={wrong} doubled={doubled} 5xx={errors} "
        f"final_states=1 answers={dict(answers)}"
    )
    assert (wrong, doubled, errors) == (0, 0, 0)
    assert answers.keys() == {200, 401}


async def test_a_planted_scheme_that_believes_everybody_is_found(
    api: httpx2.AsyncClient,
    post: Post,
    provider: TwilioServer,
    relay: MailServer,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    believes: Callable[..., bool] = lambda *_: True  # noqa: E731
    for adapter in (twilio, mailgun):
        monkeypatch.setattr(adapter, "is_signed", believes)
    about, sid, number = await texted(post, provider)

    for sent in _twilio_forgeries(url_of(post.host), sid, number).values():
        await deliver(api, sent)
    await work_off(post)

    assert (await post.delivery(about, "sms")).status != "sent"
