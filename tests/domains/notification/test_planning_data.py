"""What planning needs of people: audiences in batches, preferences of many at once."""

from collections.abc import AsyncIterator
from datetime import UTC, datetime
from uuid import UUID, uuid4

import pytest
from fastapi import FastAPI
from tests.factories import identity

from thenga.domains.notification.public import Target
from thenga.domains.notification.services import recipients, templates
from thenga.domains.notification.services.recipients import address_fingerprint
from thenga.domains.notification.tables import Preference, Suppression
from thenga.kernel.access.actors import SYSTEM, Scope
from thenga.kernel.access.origin import Origin
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.work import Work
from thenga.kernel.process.host import Host

NOON = datetime(2026, 11, 16, 10, tzinfo=UTC)
FAILED = templates.topics()["billing.payment_failed"]
_ORIGIN = Origin(action="test", request_id="test", correlation_id="test")


@pytest.fixture
def organization_id() -> UUID:
    return uuid4()


@pytest.fixture
async def read(app: FastAPI, organization_id: UUID) -> AsyncIterator[Reader]:
    scope = Scope(actor=SYSTEM, organization_id=organization_id)
    reader = Reader(app.state.shared.host, "notification", scope, _ORIGIN)
    yield reader
    await reader.close()


async def stored(host: Host, organization_id: UUID, **fields: object) -> None:
    work = Work(host, "notification", Scope(actor=SYSTEM, organization_id=organization_id), _ORIGIN)
    user_id, topic_code = fields.get("user_id"), fields.get("topic_code")
    row = recipients.preference_id(organization_id, user_id, topic_code)  # type: ignore[arg-type]
    await work.add(Preference(id=row, organization_id=organization_id, **fields))
    await work.finish()


async def suppress(host: Host, address: str) -> None:
    work = Work(host, "notification", Scope(actor=SYSTEM), _ORIGIN, login="notification_system")
    shown = address_fingerprint(host, "email", address)
    row = Suppression(channel_kind="email", address_fingerprint=shown, reason="bounce")
    await work.add(row)
    await work.finish()


@pytest.mark.rule("NOT-4")
async def test_an_audience_comes_in_batches(
    host: Host, read: Reader, organization_id: UUID
) -> None:
    members = [await identity.member(host, organization_id, role="viewer") for _ in range(3)]
    owner = await identity.member(host, organization_id, role="owner")
    targets = [
        Target(kind="role", role_code="viewer"),
        Target(kind="users", user_ids=[members[0].user_id, owner.user_id]),
    ]
    found: list[UUID] = []
    after, batches = None, 0

    while batches == 0 or after is not None:
        some, after = await recipients.audience(
            read, organization_id, targets, after=after, limit=2
        )
        found, batches = found + some, batches + 1

    assert set(found) == {one.user_id for one in (*members, owner)}
    assert batches <= 4
    everybody, _ = await recipients.audience(read, organization_id, [Target(kind="members")])
    assert set(everybody) == set(found)


@pytest.mark.rule("NOT-8")
@pytest.mark.rule("NOT-24")
async def test_preferences_of_many_people_are_loaded_at_once(
    host: Host, read: Reader, organization_id: UUID
) -> None:
    off, plain = [await identity.member(host, organization_id, role="viewer") for _ in range(2)]
    await stored(
        host,
        organization_id,
        user_id=off.user_id,
        topic_code=None,
        channels={"in_app": "off"},
        language="zu-ZA",
        quiet_hours={
            "from": "22:00",
            "to": "06:00",
            "days": ["monday"],
            "channels": ["email"],
            "timeZone": "Europe/Berlin",
        },
    )
    await stored(
        host,
        organization_id,
        user_id=None,
        topic_code=None,
        channels={"in_app": "on"},
        language="af-ZA",
    )

    cards = await recipients.ask_people(read, [off.user_id, plain.user_id])
    found = await recipients.load_persons(read, cards, topic=FAILED)

    assert found[off.user_id].languages == ("zu-ZA", "af-ZA")
    assert found[plain.user_id].language == "af-ZA"
    assert found[off.user_id].quiet_hours.zone == "Europe/Berlin"
    verdicts = recipients.verdicts(FAILED, found[off.user_id], ("in_app", "email"), at=NOON)
    assert (verdicts["in_app"].verdict, verdicts["email"].verdict) == ("stop", "send")
    assert verdicts["email"].decisions[3].rule == "NOT-9"


@pytest.mark.rule("NOT-9")
async def test_a_suppressed_address_is_not_used(
    host: Host, read: Reader, organization_id: UUID
) -> None:
    who = await identity.member(host, organization_id, role="viewer")
    cards = await recipients.ask_people(read, [who.user_id])
    await suppress(host, str(cards[who.user_id].email))

    found = (await recipients.load_persons(read, cards, topic=FAILED))[who.user_id]

    assert found.suppressed == {"email"}
    verdict = recipients.verdicts(FAILED, found, ("email",), at=NOON)["email"]
    assert verdict.reason == recipients.Reason.ADDRESS_SUPPRESSED_BOUNCE


async def test_platform_templates_are_approved_at_deployment(read: Reader) -> None:
    for topic in templates.topics().values():
        found = await templates.approved(read, topic.template_key)

        assert found is not None
        assert found.content == templates.platform_content(topic.template_key)
    assert await templates.approved(read, "unknown.topic") is None
