"""A port answered in this process: the units of work that it opens for whoever asks."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from uuid import UUID, uuid5

from thenga.kernel.access.actors import Actor, ActorKind, Scope
from thenga.kernel.access.gate import HeldAs
from thenga.kernel.access.origin import Origin
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.sandbox import clock_offset, clock_offset_within
from thenga.kernel.db.work import Work
from thenga.kernel.declare.port import Port
from thenga.kernel.ports.remote import calling
from thenga.kernel.process.host import Host

_SERVICES = UUID("019a0000-0000-7000-8000-00000005e121")


class Answering:
    """Reads and writes for another domain, in the time of the organization it asks about.

    It acts as a service, and as a person only where that person's request is carried on.
    """

    def __init__(self, host: Host, port: type[Port]) -> None:
        self._host = host
        self._port = port
        self._domain = port.port_name.split(".")[0]

    @asynccontextmanager
    async def reading(
        self, organization_id: UUID | None, *, of_platform: bool = False
    ) -> AsyncIterator[Reader]:
        """What an organization has, or what is published where none is named.

        A port that answers from tables of the platform itself reads `of_platform`.
        """
        scope = Scope(actor=_service(), organization_id=organization_id, platform=of_platform)
        read = Reader(self._host, self._domain, scope, self._origin())
        read.held_as = HeldAs.SERVICE
        try:
            if organization_id is not None:
                # In the same transaction, because the gate waits for some of these answers.
                scope.clock_offset = await clock_offset_within(read, organization_id)
                read.now = read.now_in(scope.clock_offset)
            yield read
        finally:
            await read.close()

    @asynccontextmanager
    async def working(
        self, organization_id: UUID, *, requested_by: UUID | None = None
    ) -> AsyncIterator[Work]:
        """Changes, committed at the end; as the person whose request it is, where one is named."""
        scope = Scope(
            actor=_service() if requested_by is None else Actor(ActorKind.USER, requested_by),
            organization_id=organization_id,
            user_id=requested_by,
            clock_offset=await clock_offset(self._host, self._domain, organization_id),
        )
        work = Work(self._host, self._domain, scope, self._origin())
        work.held_as = HeldAs.SERVICE
        try:
            yield work
            await work.finish()
        finally:
            await work.close()

    def _origin(self) -> Origin:
        context = calling.get()
        request_id = context.request_id or "port"
        return Origin(
            action=self._port.port_name,
            request_id=request_id,
            correlation_id=request_id,
            traceparent=context.traceparent or None,
        )


def _service() -> Actor:
    return Actor(kind=ActorKind.SERVICE, id=uuid5(_SERVICES, calling.get().actor))
