"""Writing admin actions (ADM-2)."""

from collections.abc import Mapping
from typing import Any
from uuid import UUID

import orjson
from pydantic import JsonValue
from pydantic.alias_generators import to_camel

from thenga.domains.administration.services.actions.differences import differences
from thenga.domains.administration.tables import AdminAction
from thenga.kernel.access.actors import OPERATOR
from thenga.kernel.access.gate import HeldAs
from thenga.kernel.db.read_audit import separate_work
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.rows import Row
from thenga.kernel.db.work import Work
from thenga.kernel.errors import Problem
from thenga.kernel.values.json_writer import to_json

_KEPT_BY_THE_ROW = frozenset(
    {"id", "created_at", "updated_at", "version", "next_check_at", "due_at"}
)


class ReasonRequired(Problem):
    """Staff must give a reason for every change to a customer's data. Send `reason` with 10 to 500
    characters."""

    code, status, title = "administration-reason-required", 422, "A reason is required"


def is_staff(read: Reader) -> bool:
    """Whether the caller holds the permission as staff; staff sign in as users."""
    return read.held_as == HeldAs.PLATFORM


def actor_of(work: Work) -> UUID:
    """The person who acts."""
    if work.actor.id is None:
        raise LookupError("nobody acts in this unit of work")
    return work.actor.id


async def act_for_platform(work: Work) -> None:
    """Act as the operator, whatever organization a header names: events and time are its own."""
    await work.switch_scope(organization_id=OPERATOR)


def shown(row: Row) -> dict[str, JsonValue]:
    """The row as it stands, without secrets and without what every row has."""
    hidden = _KEPT_BY_THE_ROW | row.__secret__
    values = {to_camel(name): v for name, v in row.__dict__.items() if name not in hidden}
    plain: dict[str, JsonValue] = orjson.loads(to_json(values))
    return plain


async def record(
    work: Work,
    row: Row,
    *,
    reason: str | None,
    before: Mapping[str, JsonValue] | None = None,
    sealed: Mapping[str, str] | None = None,
) -> None:
    """Record a change that staff made to a row; `sealed` has fingerprints by pointer.

    The subject is the organization that the row belongs to, if there is one.
    """
    if not is_staff(work):
        return
    if reason is None:
        raise ReasonRequired("Explain this change in `reason`, in 10 to 500 characters.")
    found = differences(before or {}, shown(row), sealed=sealed)
    await work.add(
        AdminAction(
            **_who_and_what(work, row.__table__.name, row.id),
            subject_organization_id=row.__dict__.get("organization_id"),
            reason=reason,
            changes=found.changes,
            truncated=found.truncated,
            digest=found.digest,
        )
    )


async def record_read(
    read: Reader, resource_type: str, resource_id: UUID, *, organization_id: UUID | None = None
) -> None:
    """Record a sensitive read, in a short transaction of its own."""
    found = differences({}, {})
    async with separate_work(read) as work:
        await work.add(
            AdminAction(
                **_who_and_what(work, resource_type, resource_id),
                subject_organization_id=organization_id,
                reason=read.origin.reason or "",
                digest=found.digest,
            )
        )


def _who_and_what(work: Work, resource_type: str, resource_id: UUID) -> dict[str, Any]:
    return {
        "actor_id": actor_of(work),
        "session_id": work.actor.session_id,
        "action": work.origin.action,
        "resource_type": resource_type,
        "resource_id": resource_id,
        "decision_id": work.origin.decision_id,
        "request_id": work.origin.request_id,
    }
