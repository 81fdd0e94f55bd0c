"""Who is in an audience, asked of Identity in batches (NOT-4)."""

from collections.abc import Sequence
from typing import Any, Protocol, TypeVar
from uuid import UUID

from thenga.domains.identity import public as identity
from thenga.domains.notification import public
from thenga.kernel.access.actors import OPERATOR
from thenga.kernel.declare.port import Port
from thenga.kernel.errors import ERRORS, Problem, extensions

P = TypeVar("P", bound=Port)

MOST_AT_ONCE = 200


class AudienceEmpty(Problem):
    """This audience has no one to notify. Name users, a role or a permission that someone holds."""

    code, status, title = "notification-audience-empty", 422, "The audience is empty"
    members = extensions(errors=ERRORS)


def empty_audience() -> AudienceEmpty:
    """The refusal of an audience without people."""
    detail = "This audience has no one to notify. Choose other people, another role or permission."
    error = {"pointer": "/audience", "code": "empty", "detail": detail}
    return AudienceEmpty(detail, errors=[error])


class Asking(Protocol):
    """Whoever can ask other domains: a reader, a unit of work or a job's run."""

    def port(self, port: type[P]) -> P: ...


async def audience(
    asking: Asking,
    organization_id: UUID,
    targets: Sequence[public.Target],
    *,
    after: dict[str, Any] | None = None,
    limit: int = MOST_AT_ONCE,
) -> tuple[list[UUID], dict[str, Any] | None]:
    """The next people of an audience and where to go on; None at the end.

    Within a batch nobody comes twice; over batches a person in two targets may. Users are taken
    as named: the pipeline checks whether they are members. Of the operator only staff are taken.
    """
    found: dict[UUID, None] = {}
    number, last = _position(after)
    while number < len(targets):
        room = limit - len(found)
        if room <= 0:
            return list(found), {"target": number, "user": last and str(last)}
        batch = await _of_target(asking, organization_id, targets[number], after=last, limit=room)
        found.update(dict.fromkeys(batch))
        if len(batch) < room:
            number, last = number + 1, None
        else:
            last = batch[-1]
    return list(found), None


def _position(after: dict[str, Any] | None) -> tuple[int, UUID | None]:
    if after is None:
        return 0, None
    return int(after["target"]), UUID(after["user"]) if after["user"] else None


async def _of_target(
    asking: Asking, organization_id: UUID, target: public.Target, *, after: UUID | None, limit: int
) -> list[UUID]:
    """People of one target in the order of their IDs. The operator's people are its staff."""
    if organization_id == OPERATOR:
        return await asking.port(identity.Members).staff_holding(
            permission=target.permission if target.kind == "permission" else None,
            role_code=target.role_code if target.kind == "role" else None,
            user_ids=target.user_ids if target.kind == "users" else None,
            limit=limit,
            after=after,
        )
    if target.kind == "users":
        named = sorted(one for one in set(target.user_ids) if after is None or one > after)
        return named[:limit]
    return await asking.port(identity.Members).holding(
        organization_id=organization_id,
        permission=target.permission if target.kind == "permission" else None,
        role_code=target.role_code if target.kind == "role" else None,
        limit=limit,
        after=after,
    )


async def ask_people(asking: Asking, user_ids: Sequence[UUID]) -> dict[UUID, identity.PersonCard]:
    """The cards of at most 200 people; an unknown or erased person has none.

    If Identity is silent this raises, so that the caller tries again: silence does not mean nobody.
    """
    if not user_ids:
        return {}
    cards = await asking.port(identity.People).describe(user_ids=list(user_ids))
    return {card.user_id: card for card in cards}
