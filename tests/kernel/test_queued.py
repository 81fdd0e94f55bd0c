"""Service functions that are jobs: enqueued with checked arguments, or called at once."""

from datetime import timedelta
from types import FunctionType
from uuid import UUID, uuid4

import pytest
from sqlalchemy import select

from tests.conftest import Opening
from tests.kernel.job_worker import side
from tests.kernel.running import running, until
from tests.planting import plant
from tests.probe import Effect
from thenga.kernel.db.work import Work
from thenga.kernel.declare import job as declaring
from thenga.kernel.declare.job import Jobs
from thenga.kernel.jobs.queued import queued
from thenga.kernel.process.host import Host
from thenga.kernel.values.ids import new_id


@queued(key="{thing_id}", domain="probe")
async def index_thing(work: Work, *, thing_id: UUID, cause: str = "indexed") -> None:
    await work.add(Effect(organization_id=work.organization_id, thing_id=thing_id, cause=cause))


async def causes(opening: Opening, organization_id: UUID) -> list[str]:
    read = opening.reader(organization_id)
    found = await read.values(select(Effect.cause).where(Effect.organization_id == organization_id))
    await read.close()
    return found


async def test_a_service_function_is_done_as_a_job(host: Host, opening: Opening) -> None:
    organization_id, thing_id = uuid4(), new_id()
    async with running(side(host, Jobs.declared_in("probe"))):
        work = opening.work(organization_id)
        work.enqueue(index_thing.call(thing_id=thing_id, cause="by call"))
        work.enqueue(index_thing.call(thing_id=thing_id, cause="of the same key"))
        work.enqueue(index_thing, thing_id=new_id(), cause="by name")
        await work.finish()

        async def done() -> bool:
            return len(await causes(opening, organization_id)) >= 2

        await until(done)

    assert sorted(await causes(opening, organization_id)) == ["by call", "by name"]


async def test_it_can_be_called_at_once(opening: Opening) -> None:
    work = opening.work(uuid4())

    await index_thing(work, thing_id=new_id())
    await work.finish()

    assert await causes(opening, work.organization_id) == ["indexed"]


def test_the_stored_form_is_that_of_a_job_declared_elsewhere(opening: Opening) -> None:
    older = Jobs("probe")
    assert isinstance(index_thing.body, FunctionType)
    known = older.queued(key="{thing_id}")(index_thing.body)
    work, thing_id = opening.work(uuid4()), new_id()

    work.enqueue(index_thing.call(thing_id=thing_id))
    work.enqueue(known, thing_id=thing_id)

    new, old = work._jobs
    assert new.arguments | {"id": ""} == old.arguments | {"id": ""}
    assert (new.queue, new.task, new.lock, new.key) == (old.queue, old.task, old.lock, old.key)
    assert index_thing.read_arguments(old.arguments["arguments"]) == {"thing_id": thing_id}


def keyed_by_unknown() -> None:
    """What an import of such a module does."""

    @queued(key="{listing_id}", domain="probe")
    async def reindex(work: Work, *, thing_id: UUID) -> None: ...


def test_a_key_that_names_no_argument_is_refused_at_import(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with pytest.raises(TypeError, match="listing_id"):
        keyed_by_unknown()
    with pytest.raises(TypeError, match="listing_id"):
        Jobs("probe").queued(key="{listing_id}")(index_thing.body)

    plant(monkeypatch, declaring, "_check_key", lambda _: None)
    monkeypatch.setitem(declaring._QUEUED, "probe", {})
    keyed_by_unknown()  # found only when it is enqueued
    with pytest.raises(KeyError):
        Jobs.declared_in("probe").declared["reindex"].key_of({"thing_id": new_id()}, None)


def test_arguments_are_checked_at_the_call() -> None:
    with pytest.raises(TypeError, match="thing_id"):
        index_thing.call(listing_id=new_id())  # type: ignore[call-arg]


def test_the_domain_is_that_of_the_module() -> None:
    async def tidy(work: Work) -> None: ...

    with pytest.raises(TypeError, match="no domain"):
        queued()(tidy)
    tidy.__module__ = "thenga.domains.orchard.services.trees"
    made = queued()(tidy)

    assert (made.task, made.form) == ("orchard.tidy", "queued")
    assert set(Jobs.declared_in("orchard").declared) == {"tidy"}
    del declaring._QUEUED["orchard"]


def test_jobs_of_the_module_stand_beside_them() -> None:
    timed = Jobs("probe")

    @timed.every(timedelta(hours=1))
    async def sweep(work: Work) -> None: ...

    assert set(Jobs.declared_in("probe", timed).declared) == {"index_thing", "sweep"}
    timed.queued()(index_thing.body)
    with pytest.raises(TypeError, match="twice"):
        Jobs.declared_in("probe", timed)
