"""Requests of other domains: repeated keys, given addresses, secrets, and messages to leavers."""

import asyncio
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from fastapi import FastAPI
from sqlalchemy import select
from tests.conftest import Time
from tests.factories import identity as people
from tests.factories import notification_requests as factory
from tests.factories.notification_requests import Office
from tests.planting import plant
from tests.providers.messaging import MailServer

from thenga.domains.identity import public as identity
from thenga.domains.identity.tables import UserStatus
from thenga.domains.notification.lifecycles import DeliveryLifecycle
from thenga.domains.notification.public import Recipient
from thenga.domains.notification.reactions import identity as reactions
from thenga.domains.notification.services import requests
from thenga.domains.notification.services.requests import Asked, FactsMismatch, sealed_parts
from thenga.domains.notification.tables import (
    Delivery,
    DeliveryStatus,
    HistoryEntry,
    Notification,
    Request,
)
from thenga.kernel.access.actors import OPERATOR
from thenga.kernel.declare.lifecycle import Move
from thenga.kernel.errors import ValidationFailed
from thenga.kernel.process.host import Host

pytestmark = pytest.mark.usefixtures("nothing_waits")

CODE = f"thl_{uuid4().hex}"
ADDRESS = f"thandi.{uuid4().hex}@example.test"


@pytest.fixture
def office(app: FastAPI, host: Host, seeded: None) -> Iterator[Office]:
    made = factory.with_ports(host)
    clock = Time(app.state.shared.host, host, made)
    yield Office(made, clock)
    clock.restore()


def reset() -> dict[str, Any]:
    """A letter with a secret code, as Identity asks for it."""
    return {
        "topic_code": "identity.reset_password",
        "facts": {"name": "Thandi"},
        "sealed_facts": {"link": CODE},
    }


async def moved(
    office: Office, delivery: Delivery, *moves: Move, reason: str | None = None
) -> None:
    """What the delivery room does with a delivery, and what follows from it."""
    work = factory.working(office.host, delivery.organization_id)
    row = await work.lock(Delivery, delivery.id)
    for move in moves:
        move(row, at=work.now)
    row.reason_code, row.next_check_at = reason, None
    await work.save(row)
    await requests.follow_delivery(work, row)
    await work.finish()


async def places_of(host: Host, needle: str) -> list[str]:
    """The tables of Notification in which a text is found, whatever the column."""
    found = []
    async with host.engines.connection("notification", "notification_system") as link:
        tables = await link.fetch(
            "SELECT table_name FROM information_schema.table_privileges "
            "WHERE table_schema = 'notification' AND privilege_type = 'SELECT'"
        )
        for (name,) in tables:
            text = f"SELECT count(*) FROM notification.{name} AS t WHERE t::text LIKE ANY ($1)"
            if await link.fetchval(text, [f"%{needle}%", f"%{needle.encode().hex()}%"]):
                found.append(name)
    assert len(tables) > 15
    return found


@pytest.mark.rule("NOT-19")
async def test_the_same_key_gives_the_same_request(office: Office) -> None:
    key = str(uuid4())

    first = await office.accept(Recipient(address=ADDRESS), **reset(), key=key)
    again = await office.accept(Recipient(address=ADDRESS), **reset(), key=key)

    stored = await office.all(select(Request).where(Request.dedupe_key == key), OPERATOR)
    assert first == again
    assert [one.id for one in stored] == [first]


@pytest.fixture
def relay(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[MailServer]:
    with MailServer(tmp_path) as server:
        monkeypatch.setenv("THENGA_SMTP_HOST_NOTIFICATION", "127.0.0.1")
        monkeypatch.setenv("THENGA_SMTP_PORT_NOTIFICATION", str(server.port))
        monkeypatch.setenv("THENGA_SMTP_CA_NOTIFICATION", server.ca_file)
        yield server


@pytest.mark.rule("NOT-27")
async def test_secret_fact_is_sealed_and_gone_once_sent(
    office: Office, host: Host, relay: MailServer, capsys: pytest.CaptureFixture[str]
) -> None:
    address = f"{uuid4()}@example.test"
    made = await office.accept(Recipient(address=address), **reset())
    await office.work_off(OPERATOR)
    before = await office.get(Request, made, OPERATOR)

    await office.timeline(OPERATOR).settle()

    after = await office.get(Request, made, OPERATOR)
    (mail,) = [one for one in relay.mails if one["To"] == address]
    places = await places_of(host, CODE)
    assert before.sealed_facts is not None
    assert CODE in str(mail)
    assert (after.status, after.sealed_facts, after.sealed_addresses) == ("completed", None, None)
    assert places == await places_of(host, address) == []
    assert "request" in await places_of(host, "Thandi")  # so the search does find what is there
    logged = capsys.readouterr()
    assert CODE not in logged.out + logged.err
    kept = after.sealed_facts is not None
    print(f"code_in_mail=1 code_found_in_tables={len(places)} sealed_after_send={kept:d}")


async def test_planted_secret_kept_after_sending_is_found(
    office: Office, monkeypatch: pytest.MonkeyPatch
) -> None:
    plant(monkeypatch, sealed_parts, "forget", lambda request: None)
    made = await office.accept(Recipient(address=ADDRESS), **reset())
    await office.work_off(OPERATOR)
    (delivery,) = await office.deliveries(made, OPERATOR)

    await moved(office, delivery, DeliveryLifecycle.claim, DeliveryLifecycle.record)

    assert (await office.get(Request, made, OPERATOR)).sealed_facts is not None


@pytest.mark.rule("NOT-27")
async def test_secret_that_is_not_sent_in_time_expires(office: Office, host: Host) -> None:
    begun = office.host.now()
    made = await office.accept(
        Recipient(address=ADDRESS), **reset(), expires_at=begun + timedelta(minutes=10)
    )
    await office.work_off(OPERATOR)
    office.clock.set(begun + timedelta(minutes=10))

    for _ in range(2):  # the second finds nothing to do
        work = factory.working(office.host, OPERATOR)
        await requests.run_due_steps(work, made)
        await work.finish()

    request = await office.get(Request, made, OPERATOR)
    (delivery,) = await office.deliveries(made, OPERATOR)
    assert (delivery.status, delivery.reason_code) == ("not_sent", "expired")
    assert (request.status, request.sealed_facts) == ("expired", None)
    assert await places_of(host, CODE) == []
    ended = [
        one
        for one in await office.events("NotificationRequestCompleted", OPERATOR)
        if one["requestId"] == str(made)
    ]
    failed = await office.events("NotificationFailed", OPERATOR)
    assert [one["status"] for one in ended] == ["expired"]
    assert [one["reasonCode"] for one in failed if one["requestId"] == str(made)] == ["expired"]
    assert ended[0]["counts"] == {"persons": 1, "reached": 0, "notReached": 0, "notSent": 1}
    print(f"unsent_after_min=10 delivery={delivery.status} reason={delivery.reason_code}")


async def test_secret_facts_come_sealed_and_others_do_not(office: Office) -> None:
    open_code = reset() | {"facts": {"link": CODE}, "sealed_facts": {}}
    sealed_name = reset() | {"facts": {}, "sealed_facts": {"link": CODE, "name": "Thandi"}}

    for wrong in (open_code, sealed_name):
        with pytest.raises(FactsMismatch):
            await office.accept(Recipient(address=ADDRESS), **wrong)


@pytest.mark.rule("NOT-5")
async def test_given_address_is_used_for_its_message_only(office: Office, host: Host) -> None:
    person = await people.person(host)
    given = Recipient(user_id=person.user_id, address=ADDRESS)

    with_address = await office.accept(given, **reset())
    without = await office.accept(Recipient(user_id=person.user_id), **reset())
    await office.work_off(OPERATOR)

    (one,) = await office.deliveries(with_address, OPERATOR)
    (other,) = await office.deliveries(without, OPERATOR)
    request = await office.get(Request, with_address, OPERATOR)
    message = await office.get(Notification, one.notification_id, OPERATOR)
    work = factory.working(office.host, OPERATOR)
    opened = await requests.given_address(work, request, message)
    await work.close()
    assert opened == ADDRESS
    assert (one.address_mask, message.recipient_mask) == ("th***@example.test",) * 2
    assert other.address_mask == f"{str(person.user_id)[:2]}***@example.test"
    assert one.address_fingerprint != other.address_fingerprint
    assert await places_of(host, ADDRESS) == []


@pytest.mark.parametrize(
    "address", ["Thandi <a@example.test>", "a@example.test,b@example.test", "a@", "12"]
)
async def test_anything_but_one_plain_address_is_refused(office: Office, address: str) -> None:
    with pytest.raises(ValidationFailed):
        await office.accept(Recipient(address=address), **reset())


@pytest.mark.rule("NOT-2")
async def test_event_with_wrong_facts_is_kept_as_rejected(office: Office) -> None:
    event_id = uuid4()
    work = factory.working(office.host, office.organization_id)
    asked = Asked(
        topic_code="identity.membership_ended",
        source_domain="identity",
        facts={"organisation": "Mokoena"},
        recipients=[Recipient(user_id=uuid4())],
        dedupe_key=str(event_id),
        causation_event_id=event_id,
    )

    await requests.accept_event(work, asked)
    await work.finish()
    await office.work_off()

    (request,) = await office.all(select(Request))
    (event,) = await office.events("NotificationRequestRejected")
    assert (request.status, request.facts) == ("rejected", {})
    assert request.errors == [{"pointer": "/facts/organisation", "code": "unknown"}]
    assert event["causationEventId"] == str(event_id)
    assert await office.all(select(Notification)) == []


@pytest.mark.rule("NOT-3")
async def test_former_member_is_told_in_writing(office: Office, host: Host) -> None:
    leaver = await people.person(host)
    event = identity.MembershipChanged(
        organization_id=office.organization_id,
        membership_id=uuid4(),
        user_id=leaver.user_id,
        status="removed",
        previous_status="active",
        role_codes=[],
        seats_used=1,
    )
    work = factory.working(office.host, office.organization_id)
    work.origin.causation_id = str(uuid4())
    await reactions.tell_former_member(work, event)
    await work.finish()

    await office.work_off()

    (request,) = await office.all(select(Request))
    by_kind = {one.channel_kind: one for one in await office.deliveries(request.id)}
    assert (request.topic_code, by_kind["email"].status) == ("identity.membership_ended", "queued")
    assert by_kind["email"].decisions[0]["rule"] == "NOT-3"
    assert by_kind["sms"].reason_code == "topic_off"  # it takes over if mail is not usable


@pytest.mark.rule("NOT-3")
async def test_disabled_person_is_told_by_the_platform(office: Office, host: Host) -> None:
    person = await people.person(host, status=UserStatus.DISABLED)
    work = factory.working(office.host, OPERATOR)
    work._scope.organization_id = None
    work.origin.causation_id = str(uuid4())
    event = identity.UserDisabled(user_id=person.user_id, code="abuse")
    await reactions.tell_disabled_person(work, event)
    await work.finish()

    await office.work_off(OPERATOR)

    statement = select(Notification).where(Notification.user_id == person.user_id)
    (message,) = await office.all(statement, OPERATOR)
    deliveries = await office.deliveries(message.request_id, OPERATOR)
    assert message.topic_code == "identity.account_disabled"
    assert [one.status for one in deliveries if one.channel_kind == "email"] == ["queued"]


@pytest.mark.parametrize(
    ("moves", "reason", "status", "outcome"),
    [
        ((DeliveryLifecycle.claim, DeliveryLifecycle.record), None, "completed", "reached"),
        ((DeliveryLifecycle.fail,), "provider_rejected", "failed", "not_reached"),
        ((DeliveryLifecycle.stop,), "topic_off", "completed", "not_sent"),
    ],
)
async def test_the_last_delivery_completes_its_request(
    office: Office, moves: tuple[Move, ...], reason: str | None, status: str, outcome: str
) -> None:
    made = await office.accept(Recipient(address=ADDRESS), **reset())
    await office.work_off(OPERATOR)
    (delivery,) = await office.deliveries(made, OPERATOR)

    await moved(office, delivery, *moves, reason=reason)

    message = await office.get(Notification, delivery.notification_id, OPERATOR)
    request = await office.get(Request, made, OPERATOR)
    assert (request.status, message.outcome) == (status, outcome)


async def test_some_people_not_reached_complete_a_request_in_part(office: Office) -> None:
    made = await office.accept(
        Recipient(address=ADDRESS), Recipient(address="sipho@example.test"), **reset()
    )
    await office.work_off(OPERATOR)
    first, second = await office.deliveries(made, OPERATOR)

    await moved(office, first, DeliveryLifecycle.claim, DeliveryLifecycle.record)
    halfway = await office.get(Request, made, OPERATOR)
    await moved(office, second, DeliveryLifecycle.fail, reason="provider_rejected")

    ended = await office.get(Request, made, OPERATOR)
    assert (halfway.status, ended.status) == ("dispatching", "partially_completed")
    assert halfway.sealed_facts is not None


async def test_deliveries_that_end_together_complete_a_request_once(office: Office) -> None:
    people_told = [Recipient(address=f"{number}@example.test") for number in range(6)]
    made = await office.accept(*people_told, **reset())
    await office.work_off(OPERATOR)
    sent = (DeliveryLifecycle.claim, DeliveryLifecycle.record)

    await asyncio.gather(
        *(moved(office, one, *sent) for one in await office.deliveries(made, OPERATOR))
    )

    events = await office.events("NotificationRequestCompleted", OPERATOR)
    ended = [one for one in events if one["requestId"] == str(made)]
    print(f"ended_together=6 completed_events={len(ended)} reached={ended[0]['counts']['reached']}")
    assert [one["counts"]["reached"] for one in ended] == [6]


@pytest.mark.rule("NOT-27")
async def test_history_has_every_step_and_no_secret(office: Office) -> None:
    made = await office.accept(Recipient(address=ADDRESS), **reset())
    await office.work_off(OPERATOR)

    statement = select(HistoryEntry).where(HistoryEntry.request_id == made)
    (entry,) = await office.all(statement, OPERATOR)
    assert (entry.kind, entry.status, entry.channel_kind) == ("planned", "queued", "email")
    assert entry.recipient_mask == "th***@example.test"
    assert DeliveryStatus(entry.status) is DeliveryStatus.QUEUED
