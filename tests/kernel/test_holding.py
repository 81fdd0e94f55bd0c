"""`Work.hold`: a row that was added or read is locked, and the same object goes on."""

from uuid import uuid4

import pytest
from sqlalchemy import select

from tests.conftest import Opening
from tests.errand import Chore
from tests.probe import Thing
from thenga.kernel.access.actors import NOBODY, SYSTEM, Scope
from thenga.kernel.access.origin import Origin
from thenga.kernel.db.work import UnsavedChange, Work
from thenga.kernel.errors import NotFound
from thenga.kernel.process.host import Host


async def test_what_was_added_can_be_changed_in_the_same_work(opening: Opening):
    organization_id = uuid4()
    work = opening.work(organization_id)
    thing = await work.add(Thing(organization_id=organization_id, name="Crane"))

    held = await work.hold(thing)
    thing.amount = 7
    await work.save(thing)
    await work.finish()

    found = await opening.reader(organization_id).get(Thing, thing.id)
    assert held is thing
    assert (found.amount, found.version) == (7, 2)


async def test_what_was_read_is_brought_up_to_date(opening: Opening):
    organization_id = uuid4()
    work = opening.work(organization_id)
    made = await work.add(Thing(organization_id=organization_id, name="Crane"))
    await work.finish()
    late = opening.work(organization_id)
    read = await late.get(Thing, made.id)
    other = opening.work(organization_id)
    changed = await other.lock(Thing, made.id)
    changed.amount = 3
    await other.save(changed)
    await other.finish()

    await late.hold(read)
    seen = read.amount
    read.amount += 1
    await late.hold(read)  # held already: what was set on it stays
    await late.save(read)
    await late.finish()

    found = await opening.reader(organization_id).get(Thing, made.id)
    assert (seen, found.amount, found.version) == (3, 4, 3)


async def test_a_held_row_that_is_changed_and_not_saved_is_found(opening: Opening):
    organization_id = uuid4()
    work = opening.work(organization_id)
    thing = await work.hold(await work.add(Thing(organization_id=organization_id, name="Crane")))
    thing.amount = 7

    with pytest.raises(UnsavedChange):
        await work.finish()
    await work.close()


async def test_the_row_of_another_is_not_there(opening: Opening):
    work = opening.work(uuid4())
    thing = await work.add(Thing(organization_id=work.organization_id, name="Crane"))
    await work.finish()
    stranger = opening.work(uuid4())

    with pytest.raises(NotFound):
        await stranger.hold(thing)
    await stranger.close()


async def test_a_stranger_adds_nothing_of_the_platform(host: Host):
    origin = Origin("sign in", request_id="stranger", correlation_id="stranger")
    work = Work(host, "probe", Scope(actor=NOBODY), origin)

    with pytest.raises(NotFound):
        await work.add(Chore(next_check_at=None))
    await work.close()

    assert work.held_as == "nobody"
    assert Work(host, "probe", Scope(actor=SYSTEM), origin).held_as == "system"


async def test_a_row_is_read_and_changed_without_a_large_column(opening: Opening):
    organization_id = uuid4()
    work = opening.work(organization_id)
    made = await work.add(Thing(organization_id=organization_id, name="Crane"))
    await work.finish()
    later = opening.work(organization_id)

    (read,) = await later.all(select(Thing), without=[Thing.name])
    await later.hold(read)
    with pytest.raises(AttributeError, match=r"Thing\.name was not loaded"):
        _ = read.name
    read.amount = 5
    await later.save(read)
    await later.finish()

    found = await opening.reader(organization_id).get(Thing, made.id)
    assert (found.name, found.amount, found.version) == ("Crane", 5, 2)
