"""Administration's worker in a test: its jobs with their ports bound, and events it hears."""

from dataclasses import dataclass, replace
from uuid import UUID

from tests.conftest import Time
from tests.timeline import Timeline
from thenga import topology
from thenga.domains.administration.jobs.policies import find_due_policies
from thenga.domains.administration.reactions import reactions
from thenga.domains.identity.public import Decisions
from thenga.kernel.access.actors import OPERATOR, SYSTEM, Scope
from thenga.kernel.access.origin import Origin
from thenga.kernel.db.work import Work
from thenga.kernel.declare.event import Envelope
from thenga.kernel.declare.setting import Acknowledged
from thenga.kernel.ports.binding import Bindings
from thenga.kernel.process.host import Host
from thenga.kernel.values.ids import new_id


@dataclass
class Worker:
    """Does what waits in Administration's queue."""

    host: Host
    clock: Time

    def _bound(self) -> Host:
        made = replace(self.host, bindings=Bindings())
        topology.bind(made, topology.load(topology.DOMAINS), gate=Decisions)
        return made

    async def work_off(self) -> None:
        """Do all jobs that wait, with every port answered."""
        domains = topology.load(["administration"])
        bound = self._bound()
        try:
            await Timeline(bound, self.clock, domains, OPERATOR).work_off()
        finally:
            await bound.closing[-1]()

    async def sweep(self) -> None:
        """Find what is due, and do it."""
        work = self.working(login="administration_system")
        await find_due_policies.body(work)
        await work.finish()
        await self.work_off()

    async def hear(
        self,
        kind: type[Acknowledged],
        config_id: UUID,
        *,
        number: int = 1,
        outcome: str = "applied",
        refusal_code: str | None = None,
    ) -> None:
        """React to an acknowledgement of a domain, and do what follows."""
        answer = kind(
            config_id=config_id,
            policy_key="billing.pause",
            number=number,
            outcome=outcome,
            refusal_code=refusal_code,
        )
        envelope = Envelope(
            id=new_id(),
            type=kind.type,
            source=f"/{kind.domain()}",
            subject=answer.aggregate,
            time=self.host.now(),
            data=answer.model_dump(mode="json", by_alias=True),
        )
        (reaction,) = [one for one in reactions.all if one.event_type == kind.type]
        work = self.working()
        await reaction.handle(work, envelope)
        await work.finish()
        await self.work_off()

    def working(self, login: str | None = None) -> Work:
        scope = Scope(actor=SYSTEM, organization_id=OPERATOR)
        origin = Origin("test", "test", "test")
        return Work(self.host, "administration", scope, origin, login=login)
