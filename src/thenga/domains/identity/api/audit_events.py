"""The trail: who did what in your organization, or to your account."""

from datetime import datetime
from typing import Annotated, Any, Literal
from uuid import UUID

from fastapi import Query
from pydantic import Field

from thenga.domains.identity.permissions import Permission
from thenga.domains.identity.services import audit_events
from thenga.domains.identity.services.audit_events import Seen, Span
from thenga.kernel.db.paging import Paged
from thenga.kernel.db.reader import Reader
from thenga.kernel.errors import RuleViolated
from thenga.kernel.http.bodies import PageOf, View
from thenga.kernel.http.doors import router as make_router
from thenga.kernel.http.entrances import reads
from thenga.kernel.http.lists import paged
from thenga.kernel.http.reference import problems
from thenga.kernel.values.fields import Instant

router = make_router("Identity / Audit event")

OrganizationFilter = Annotated[
    UUID | None, Query(alias="organizationId", description="Whose trail; staff may name any.")
]
UserFilter = Annotated[
    UUID | None,
    Query(alias="userId", description="Yourself: the trail of your own account."),
]


class AuditEventView(View):
    """One thing that happened; values that are secret are only named."""

    id: UUID
    at: datetime
    chain: Annotated[UUID, Field(description="The organization or person whose trail it is in.")]
    seq: Annotated[int | None, Field(description="Its place; null until it is sealed, seconds.")]
    actor: dict[str, Any]
    on_behalf_of: UUID | None
    action: str
    target: dict[str, Any]
    outcome: str
    reason_code: str | None
    decision_id: UUID | None
    session_id: UUID | None
    api_key_id: UUID | None
    network: Annotated[str | None, Field(description="The /24 or /48 it came from.")]
    request_id: str
    detail: Annotated[dict[str, Any], Field(description="The fields before and after.")]

    @classmethod
    def of(cls, seen: Seen) -> "AuditEventView":
        parts = seen.parts
        actor = parts["actor"]
        by_key = actor["kind"] == "api_key"
        return cls.model_validate(
            parts
            | {
                "seq": seen.seq,
                "actor": {"kind": actor["kind"], "id": actor["id"]},
                "on_behalf_of": parts.get("onBehalfOf"),
                "session_id": actor["sessionId"],
                "api_key_id": actor["id"] if by_key else None,
            }
        )


class VerificationView(View):
    chain: UUID
    first_seq: int | None
    last_seq: int
    head: Annotated[str, Field(description="The hash that covers all rows, in hex.")]
    anchored_at: Annotated[
        datetime | None, Field(description="When we last signed the end of the chain.")
    ]
    anchored_seq: int | None
    intact: bool
    broken_at: Annotated[int | None, Field(description="The first place that does not hold.")]


@router.get("/identity/audit-events", responses=problems(RuleViolated))
async def list_audit_events(
    read: Annotated[Reader, reads(Permission.AUDIT_EVENT_READ)],
    page: Annotated[Paged, paged("createdAt", default="-createdAt")],
    organization_id: OrganizationFilter = None,
    user_id: UserFilter = None,
    actor_id: Annotated[UUID | None, Query(alias="actorId")] = None,
    action: Annotated[str | None, Query(pattern="^[a-z_:. ]+$", max_length=122)] = None,
    outcome: Annotated[Literal["succeeded", "refused"] | None, Query()] = None,
    decision_id: Annotated[UUID | None, Query(alias="decisionId")] = None,
    since: Annotated[Instant | None, Query(alias="from")] = None,
    until: Annotated[Instant | None, Query(alias="to")] = None,
) -> PageOf[AuditEventView]:
    """Who did what with accounts, members, rights and keys, at most 31 days at once.

    Owners and administrators read the trail of the organization, everybody the one of their own
    account, staff any. That it was read is written into it too.
    """
    chain = audit_events.chain_of(read, organization_id, user_id)
    filters = {
        "actor_id": actor_id,
        "action": action,
        "outcome": outcome,
        "decision_id": decision_id,
    }
    found = await audit_events.list_events(
        read, page, chain, Span.of(since, until, read.now), filters=filters
    )
    items = [AuditEventView.of(one) for one in found.items]
    return PageOf[AuditEventView].model_construct(items=items, next_cursor=found.next_cursor)


@router.get("/identity/audit-events/verification")
async def verify_audit_events(
    read: Annotated[Reader, reads(Permission.AUDIT_EVENT_READ)],
    organization_id: OrganizationFilter = None,
    user_id: UserFilter = None,
) -> VerificationView:
    """Check that nobody changed, removed, added or moved anything in the trail.

    Every row is linked to the one before it, and the end is signed every minute.
    """
    chain = audit_events.chain_of(read, organization_id, user_id)
    return VerificationView.model_validate(await audit_events.verify(read, chain))
