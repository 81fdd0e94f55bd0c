"""Whether somebody for whom a message is sent later is still permitted to send it (NOT-48)."""

from typing import Literal, cast
from uuid import UUID

from thenga.domains.identity import public as identity
from thenga.domains.notification.permissions import Permission
from thenga.kernel.access.actors import ActorKind
from thenga.kernel.db.work import Work
from thenga.kernel.errors import NotFound

NOT_ALLOWED = "requester_not_allowed"


def requester(work: Work) -> tuple[UUID, str]:
    """The person or API key that asks, for whom it is sent later."""
    actor = work.actor
    if actor.id is None or actor.kind not in (ActorKind.USER, ActorKind.API_KEY):
        raise NotFound()
    return actor.id, "user" if actor.kind is ActorKind.USER else "api_key"


async def is_allowed(work: Work, acts_for: UUID, kind: str | None, permission: Permission) -> bool:
    """Asked before the first write. If Identity is silent this raises, so the job tries again."""
    actor = identity.ActorRef(type=cast(Literal["user", "api_key"], kind), id=acts_for)
    decisions = await work.port(identity.Decisions).check_many(
        questions=[
            identity.Question(
                actor=actor,
                organization_id=work.organization_id,
                action=action,
                resource=identity.ResourceRef(type="request"),
                channel="job",
                request_id=work.origin.request_id,
            )
            for action in (permission, Permission.REQUEST_CREATE)
        ]
    )
    return all(one.decision == "allow" for one in decisions)
