"""Administration as tests need it until it stands: it publishes changes of settings."""

from pathlib import Path
from uuid import UUID

from thenga.domains.administration import public
from thenga.kernel.access.actors import OPERATOR, SYSTEM, Scope
from thenga.kernel.access.origin import Origin
from thenga.kernel.db.kinds import Kind
from thenga.kernel.db.rows import Row
from thenga.kernel.db.work import Work
from thenga.kernel.declare.event import Event
from thenga.kernel.declare.manifest import Domain
from thenga.kernel.host import Host

HOME = Path(__file__).parent
DOMAIN = Domain(name="administration", home=HOME, events=public.EVENTS)


class Version(Row, table="administration.version", kind=Kind.PLATFORM):
    """A version of a setting or policy; the events tell of it."""


async def publish(host: Host, event: Event, *, times: int = 1) -> None:
    """Publish an event through the outbox, in one unit of work each time."""
    for _ in range(times):
        origin = Origin(action="test", request_id="test", correlation_id="test")
        scope = Scope(actor=SYSTEM, organization_id=OPERATOR)
        work = Work(host, "administration", scope, origin, login="administration_system")
        try:
            await _change(work, event.aggregate_id)
            work.publish(event)
            await work.finish()
        finally:
            await work.close()


async def _change(work: Work, version_id: UUID) -> None:
    if await work.find(Version, id=version_id) is None:
        await work.add(Version(id=version_id))
    else:
        await work.touch(await work.lock(Version, version_id))
