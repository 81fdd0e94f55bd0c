"""Identity's ports, answered in this process."""

from uuid import UUID, uuid5

from thenga.domains.identity import public
from thenga.domains.identity.services import belonging, decisions, memberships, roles, sessions
from thenga.kernel.access.gate import Passage, Refusal
from thenga.kernel.events.inbox import AlreadyTaken, take
from thenga.kernel.ports.local import Answering
from thenga.kernel.process.host import Host

_ENSURED = UUID("019a0000-0000-7000-8000-00000000e45e")


class LocalDecisions(public.Decisions):
    """The gate itself."""

    def __init__(self, host: Host) -> None:
        self._host = host

    async def enter(
        self,
        *,
        credential: str | None,
        organization_id: UUID | None,
        permission: str,
        network: str,
        request_id: str,
    ) -> Passage | Refusal:
        passed = await decisions.enter(
            self._host,
            credential=credential,
            organization_id=organization_id,
            permission=permission,
            network=network,
            request_id=request_id,
        )
        if isinstance(passed, Passage):
            self._note(passed, network)
        return passed

    def _note(self, passed: Passage, network: str) -> None:
        """A session is seen where it is let in (IDN-42)."""
        actor = passed.actor
        if actor.session_id is not None and actor.id is not None:
            sessions.note_use(
                self._host,
                actor.session_id,
                actor.id,
                used_in=passed.organization_id,
                network=network,
                at=self._host.now(),
            )

    async def check(
        self,
        *,
        actor: public.ActorRef,
        organization_id: UUID | None,
        action: str,
        resource: public.ResourceRef,
        channel: str,
        request_id: str,
        network: str | None = None,
        amount: int | None = None,
        agent: public.AgentRef | None = None,
    ) -> public.Decision:
        asked = public.Question(
            actor=actor,
            organization_id=organization_id,
            action=action,
            resource=resource,
            channel=channel,
            request_id=request_id,
            network=network,
            amount=amount,
            agent=agent,
        )
        return await decisions.check(self._host, asked)

    async def check_many(self, *, questions: list[public.Question]) -> list[public.Decision]:
        return await decisions.check_many(self._host, questions)


class LocalMembers(public.Members):
    """Who may do something, read as the organization; staff by the login of the gate."""

    def __init__(self, host: Host) -> None:
        self._host = host
        self._answering = Answering(host, public.Members)

    async def holding(
        self,
        *,
        organization_id: UUID,
        permission: str | None = None,
        role_code: str | None = None,
        limit: int = 200,
        after: UUID | None = None,
    ) -> list[UUID]:
        async with self._answering.reading(organization_id) as read:
            return await memberships.holding(
                read, permission=permission, role_code=role_code, limit=limit, after=after
            )

    async def staff_holding(
        self,
        *,
        permission: str | None = None,
        role_code: str | None = None,
        user_ids: list[UUID] | None = None,
        limit: int = 200,
        after: UUID | None = None,
    ) -> list[UUID]:
        return await roles.staff_holding(
            self._host,
            permission=permission,
            role_code=role_code,
            user_ids=user_ids,
            limit=limit,
            after=after,
        )


class LocalMemberships(public.Memberships):
    """Belonging, brought about for whoever asked another domain for it."""

    def __init__(self, host: Host) -> None:
        self._host = host
        self._answering = Answering(host, public.Memberships)

    async def ensure(
        self,
        *,
        organization_id: UUID,
        email: str | None,
        user_id: UUID | None,
        role_codes: list[str],
        requested_by: UUID,
        key: str,
    ) -> public.Belonging:
        now = self._host.now()
        taken = uuid5(_ENSURED, f"{organization_id}#{key}")
        try:
            async with self._answering.working(organization_id, requested_by=requested_by) as work:
                work.first = take("identity", "memberships.ensure", taken, now)
                # The route of the domain that asks has demanded the proof (IDN-15).
                work.proven_at = now
                return await belonging.ensure(
                    work, email=email, user_id=user_id, role_codes=role_codes
                )
        except AlreadyTaken:
            async with self._answering.reading(organization_id) as read:
                return await belonging.ensured(read, email=email, user_id=user_id)


class LocalPeople(public.People):
    """The cards of people."""

    def __init__(self, host: Host) -> None:
        self._host = host

    async def describe(self, *, user_ids: list[UUID]) -> list[public.PersonCard]:
        return await memberships.describe_people(self._host, user_ids)
