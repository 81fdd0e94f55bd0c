"""One reaction to several events, and the envelope of the event it works on."""

from datetime import UTC, datetime
from pathlib import Path
from uuid import uuid4

import pytest

from tests.conftest import Opening
from tests.kernel.running import change_thing, make_things, running, until
from tests.kernel.test_reactions import effects, has
from tests.planting import plant
from tests.probe import Effect, PolicyAcknowledged, ThingChanged, ThingMade
from thenga.kernel.db.work import Work
from thenga.kernel.declare import reaction
from thenga.kernel.declare.event import Envelope, Event
from thenga.kernel.declare.manifest import Domain
from thenga.kernel.declare.reaction import Reactions
from thenga.kernel.events.subscriptions import by_source
from thenga.kernel.events.worker import MeshSide
from thenga.kernel.process.host import Host
from thenga.kernel.values.ids import new_id

HOME = Path(__file__).parents[1] / "probe"


def changed_envelope() -> Envelope:
    event = ThingChanged(organization_id=uuid4(), thing_id=uuid4(), amount=1)
    return Envelope(
        id=new_id(),
        type=event.type,
        source="/probe",
        subject=event.aggregate,
        time=datetime(2026, 11, 2, tzinfo=UTC),
        data=event.model_dump(mode="json", by_alias=True),
    )


def counting() -> Reactions:
    reactions = Reactions("probe")

    @reactions.on(ThingMade, ThingChanged)
    async def count_things(work: Work, event: ThingMade | ThingChanged) -> None:
        await work.add(
            Effect(
                organization_id=event.organization_id,
                thing_id=event.thing_id,
                cause=type(event).__name__,
                sequence=work.envelope.sequence or 0,
            )
        )

    return reactions


async def test_one_function_has_each_of_its_events_once(host: Host, opening: Opening) -> None:
    organization_id = new_id()
    side = MeshSide(host, [Domain(name="probe", home=HOME, reactions=counting())])

    async with running(side):
        (thing_id,) = await make_things(opening, organization_id, 1)
        await change_thing(opening, organization_id, thing_id)
        await until(has(host, organization_id, 2))

    assert await effects(host, organization_id) == [
        (thing_id, "ThingMade", 1),
        (thing_id, "ThingChanged", 2),
    ]


def test_each_event_is_a_reaction_of_one_name() -> None:
    reactions = counting()

    assert [(known.name, known.event_type) for known in reactions.all] == [
        ("count_things", "probe.ThingMade.v1"),
        ("count_things", "probe.ThingChanged.v1"),
    ]
    found = by_source(Domain(name="probe", home=HOME, reactions=reactions))
    assert [known.name for known in found["probe"]] == ["count_things", "count_things"]


def test_more_than_three_events_are_taken_as_any_event() -> None:
    reactions = Reactions("probe")

    @reactions.on(ThingMade, ThingChanged)
    async def forget_one(work: Work, event: ThingMade) -> None: ...

    @reactions.on(ThingMade, ThingChanged, PolicyAcknowledged)
    async def take_three(
        work: Work, event: ThingMade | ThingChanged | PolicyAcknowledged
    ) -> None: ...

    class ThingLost(Event, type="probe.ThingLost.v1", subject="thing_id"):
        """A thing was lost."""

    @reactions.on(ThingMade, ThingChanged, PolicyAcknowledged, ThingLost)
    async def take_all(work: Work, event: Event) -> None: ...

    assert len(reactions.all) == 2 + 3 + 4
    with pytest.raises(TypeError, match="take_all"):
        reactions.on(ThingMade)(take_all)
    with pytest.raises(TypeError, match="once"):
        reactions.on(ThingMade, ThingMade)
    with pytest.raises(TypeError, match="once"):
        reactions.on()


async def test_a_planted_reading_of_each_as_the_first_is_found(
    opening: Opening, monkeypatch: pytest.MonkeyPatch
) -> None:
    known = reaction._typed
    plant(monkeypatch, reaction, "_typed", lambda function, _: known(function, ThingMade))
    _, changed = counting().all
    work = opening.work(uuid4())
    work.envelope = envelope = changed_envelope()

    with pytest.raises(ValueError, match="amount"):
        await changed.handle(work, envelope)
    await work.close()


async def test_work_that_reacts_to_nothing_has_no_envelope(opening: Opening) -> None:
    with pytest.raises(LookupError):
        _ = opening.work(uuid4()).envelope
