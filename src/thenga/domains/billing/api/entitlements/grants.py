"""Grants: entitlements that operators give as goodwill."""

from datetime import datetime
from typing import Annotated, ClassVar
from uuid import UUID

from fastapi import Path, Query
from pydantic import Field

from thenga.domains.billing.api.catalogue.terms import Key
from thenga.domains.billing.api.common_fields import AllowedMoves, OrganizationRef
from thenga.domains.billing.lifecycles import GrantLifecycle
from thenga.domains.billing.permissions import Permission
from thenga.domains.billing.services import entitlements
from thenga.domains.billing.tables import Grant, GrantStatus
from thenga.kernel.db.acting import on_behalf_of
from thenga.kernel.db.paging import Paged
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.work import Work
from thenga.kernel.errors import InvalidTransition, RuleViolated
from thenga.kernel.http.bodies import Body, PageOf, Stored
from thenga.kernel.http.doors import router as make_router
from thenga.kernel.http.entrances import reads, writes
from thenga.kernel.http.lists import OfOrganization, paged
from thenga.kernel.http.reference import problems
from thenga.kernel.values.fields import Instant, text, whole

router = make_router("Billing / Grant")

GrantId = Annotated[UUID, Path(alias="grantId", description="The grant.")]


class IssueGrant(Body):
    """An entitlement to give for a limited time."""

    entitlement: Annotated[Key, Field(description="Entitlement key, for example `identity.seats`.")]
    value: Annotated[
        bool | Annotated[int, whole(1, 10**9)],
        Field(description="`true` for a boolean entitlement, otherwise the quantity to add."),
    ]
    expires_at: Annotated[Instant, Field(description="When the grant ends.")]
    reason: Annotated[str, text(10, 500), Field(description="Reason, kept in the audit trail.")]


class GrantView(Stored):
    """An entitlement given in addition to the plan."""

    organization_id: OrganizationRef
    entitlement: Annotated[str, Field(description="Entitlement key.")]
    value: Annotated[
        bool | int,
        Field(description="`true` for a boolean entitlement, otherwise the quantity added."),
    ]
    expires_at: Annotated[datetime, Field(description="When the grant ends.")]
    reason: Annotated[str, Field(description="Why it was given.")]
    status: Annotated[GrantStatus, Field(description="Status now.")]
    issued_by: Annotated[UUID | None, Field(description="Operator who gave it.")]
    revoked_at: Annotated[
        datetime | None, Field(description="When it was revoked. Null if it was not.")
    ]
    allowed_moves: AllowedMoves

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
    """Give an organization more than its plan includes, for a limited time. Name the
    organization in `X-Organization-Id`."""
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
    page: Annotated[Paged, paged("createdAt", default="-createdAt")],
    entitlement: Annotated[Key | None, Query(description="Filter by entitlement key.")] = None,
    status: Annotated[GrantStatus | None, Query(description="Filter by status.")] = None,
    organization_id: OfOrganization = None,
) -> PageOf[GrantView]:
    """List an organization's grants, including ended ones."""
    await on_behalf_of(read, organization_id)
    found = await entitlements.list_grants(read, page, entitlement=entitlement, status=status)
    return PageOf[GrantView].of(found, lambda grant: GrantView.of(grant, read.now))


@router.post("/billing/grants/{grantId}/revoke", responses=problems(InvalidTransition))
async def revoke_grant(
    grant_id: GrantId, work: Annotated[Work, writes(Permission.GRANT_MANAGE)]
) -> GrantView:
    """Revoke a grant before it ends. Usage already recorded is not affected."""
    return GrantView.of(await entitlements.revoke_grant(work, grant_id), work.now)
