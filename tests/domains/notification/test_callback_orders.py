"""Callbacks in any order and number: every order ends alike, forgeries change nothing."""

import itertools
import random
from collections import Counter
from collections.abc import Callable
from urllib.parse import parse_qsl

import httpx2
import pytest
from tests.factories import notification_deliveries as factory
from tests.factories.notification_callbacks import (
    deliver,
    mailed,
    mailgun_forgeries,
    texted,
    twilio_forgeries,
    url_of,
    work_off,
)
from tests.factories.notification_deliveries import NOON, Post
from tests.planting import plant
from tests.providers import messaging
from tests.providers.messaging import MailServer, TwilioServer
from tests.suites.sizes import size

from thenga.domains.notification.adapters import mailgun, twilio
from thenga.domains.notification.services.delivery import callbacks
from thenga.domains.notification.tables import Delivery
from thenga.kernel.db.work import Work


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
    forged = twilio_forgeries(url_of(post.host), sid, number)["one field twice"]
    assert (await deliver(api, forged)).status_code == 401

    monkeypatch.setattr(twilio, "_fields", written_anew)

    assert (await deliver(api, forged)).status_code == 200


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
        stream += twilio_forgeries(url, sid, number).values()
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
        stream += [*true, *true, *mailgun_forgeries(message_id, address, NOON).values()]
        expected[about.id, "email"] = "bounced"
    chance.shuffle(stream)

    answers = Counter([(await deliver(api, sent)).status_code for sent in stream])
    await work_off(post)

    wrong = doubled = forged = 0
    states: dict[str, set[str]] = {"sms": set(), "email": set()}
    for (message_id_, kind), status in expected.items():
        (found,) = await post.all(Delivery, notification_id=message_id_, channel_kind=kind)
        (attempt,) = await post.attempts(found)
        states[kind].add(found.status)
        wrong += found.status != status
        doubled += max(0, len(attempt.reports) - 3)
        # Each message has three genuine reports; whatever else was stored came from a forgery.
        stored = await factory.callbacks(post.host, str(attempt.provider_message_id))
        forged += max(0, len(stored) - 3)
    ends = await post.events("NotificationDelivered")
    doubled += len(ends) - len({one["deliveryId"] for one in ends})
    errors = sum(count for status, count in answers.items() if status >= 500)
    final_states = max(len(one) for one in states.values())
    print(
        f"callbacks={len(stream)} forged_effects={forged} doubled={doubled} 5xx={errors} "
        f"final_states={final_states} wrong_states={wrong} answers={dict(answers)}"
    )
    assert (forged, wrong, doubled, errors, final_states) == (0, 0, 0, 0, 1)
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

    for sent in twilio_forgeries(url_of(post.host), sid, number).values():
        await deliver(api, sent)
    await work_off(post)

    assert (await post.delivery(about, "sms")).status != "sent"
