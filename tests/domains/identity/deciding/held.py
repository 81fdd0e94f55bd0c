"""What the gate lets a member do, over the whole catalogue; and a scene to change it in."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import timedelta

from tests.domains.identity.inviting import moved
from tests.factories.identity import Member
from thenga.domains.identity.public import ActorRef, Question, ResourceRef
from thenga.domains.identity.services.decisions import _asking, _holding
from thenga.kernel.access.gate import HeldAs
from thenga.kernel.process.host import Host


@dataclass(frozen=True)
class Place:
    """A resource in the gate's question; none where the question names none."""

    type: str = "organization.equipment"
    id: str | None = None


NOWHERE = Place()


async def catalogue(host: Host) -> list[str]:
    """The codes of every permission that an organization gives."""
    async with host.engines.connection("identity", "identity_system") as connection:
        rows = await connection.fetch(
            "SELECT code FROM identity.permission "
            "WHERE status = 'active' AND 'tenant' = ANY (audiences) ORDER BY code"
        )
    return [row["code"] for row in rows]


async def held(
    host: Host,
    who: Member,
    *,
    codes: Iterable[str] | None = None,
    places: Iterable[Place] = (NOWHERE,),
) -> frozenset[str]:
    """The permissions that the gate's own statement and stage give this member, in some place."""
    asked = [
        Question(
            actor=ActorRef(type="user", id=who.user_id, session_id=None),
            organization_id=who.organization_id,
            action=code,
            resource=ResourceRef(type=place.type, id=place.id, parents=[]),
            channel="job",
            request_id="held",
        )
        for code in codes or await catalogue(host)
        for place in places
    ]
    found = await _asking.facts_of(host, asked)
    return frozenset(
        question.action
        for question, facts in zip(asked, found, strict=True)
        if facts is not None
        and _holding.holding(facts, _asking.question_of(question)).held_as is HeldAs.TENANT
    )


async def over_time(
    host: Host, who: Member, *days: int, places: Iterable[Place] = (NOWHERE,)
) -> list[frozenset[str]]:
    """The same at several moments of the organization's clock, which is set back afterwards."""
    made = []
    for day in days:
        await moved(host, who.organization_id, timedelta(days=day))
        made.append(await held(host, who, places=places))
    await moved(host, who.organization_id, timedelta(0))
    return made
