"""Grants: goodwill of the platform's operators."""

from datetime import datetime
from typing import Annotated, ClassVar
from uuid import UUID

from fastapi import Path, Query
from pydantic import Field

from thenga.domains.billing.api.terms import Key
from thenga.domains.billing.api.trials import OfOrganization
from thenga.domains.billing.lifecycles import GrantLifecycle
from thenga.domains.billing.permissions import Permission
from thenga.domains.billing.services import entitlements
from thenga.domains.billing.services.acting import act_for
from thenga.domains.billing.tables import Grant, GrantStatus
from thenga.kernel.db.paging import Paged
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.work import Work
from thenga.kernel.declare.lifecycle import AllowedMove
from thenga.kernel.errors import InvalidTransition, RuleViolated
from thenga.kernel.http.bodies import Body, PageOf, Stored
from thenga.kernel.http.doors import router as make_router
from thenga.kernel.http.entrances import reads, writes
from thenga.kernel.http.lists import paged
from thenga.kernel.http.reference import problems
from thenga.kernel.values.fields import Instant, text, whole

router = make_router("Billing / Grant")

GrantId = Annotated[UUID, Path(alias="grantId")]


class IssueGrant(Body):
    entitlement: Key
    value: Annotated[
        bool | Annotated[int, whole(1, 10**9)],
        Field(description="`true` for a boolean one, else how much is added."),
    ]
    expires_at: Annotated[Instant, Field(description="It ends by itself at this moment.")]
    reason: Annotated[str, text(10, 500)]


class GrantView(Stored):
    """Something given beside the plan; `status` is as time has made it by now."""

    organization_id: UUID
    entitlement: str
    value: bool | int
    expires_at: datetime
    reason: str
    status: GrantStatus
    issued_by: UUID | None
    revoked_at: datetime | None
    allowed_moves: list[AllowedMove]

    own_path: ClassVar[None] = None  # read in the list alone

    @classmethod
    def of(cls, grant: Grant, now: datetime) -> "GrantView":
        status = entitlements.grant_status(grant, now)
        over = status is not grant.status
        moves = [] if over else GrantLifecycle.allowed(grant, now)
        return cls.shown(grant.__dict__ | {"status": status, "allowed_moves": moves})


@router.post("/billing/grants", status_code=201, responses=problems(RuleViolated))
async def issue_grant(
    body: IssueGrant, work: Annotated[Work, writes(Permission.GRANT_MANAGE)]
) -> GrantView:
    """Give an organization more than it has bought, for a while. Name it in the header."""
    made = await entitlements.issue_grant(
        work,
        entitlement=body.entitlement,
        value=body.value,
        expires_at=body.expires_at,
        reason=body.reason,
    )
    return GrantView.of(made, work.now)


@router.get("/billing/grants")
async def list_grants(
    read: Annotated[Reader, reads(Permission.GRANT_MANAGE)],
    page: Annotated[Paged, paged("createdAt")],
    entitlement: Annotated[Key | None, Query()] = None,
    status: Annotated[GrantStatus | None, Query()] = None,
    organization_id: OfOrganization = None,
) -> PageOf[GrantView]:
    """What an organization was given, running and over."""
    await act_for(read, organization_id)
    found = await entitlements.list_grants(read, page, entitlement=entitlement, status=status)
    return PageOf[GrantView].of(found, lambda grant: GrantView.of(grant, read.now))


@router.post("/billing/grants/{grantId}/revoke", responses=problems(InvalidTransition))
async def revoke_grant(
    grant_id: GrantId, work: Annotated[Work, writes(Permission.GRANT_MANAGE)]
) -> GrantView:
    """Take a grant back before its time. What was used of it stays used."""
    return GrantView.of(await entitlements.revoke_grant(work, grant_id), work.now)
