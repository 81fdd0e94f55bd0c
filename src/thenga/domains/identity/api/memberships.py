"""Memberships: who belongs to an organization, joining and leaving it."""

from datetime import datetime
from typing import Annotated
from uuid import UUID

from fastapi import Path, Query
from pydantic import Field

from thenga.domains.identity.api.scopes import (
    Because,
    PermissionCode,
    Reason,
    RoleCode,
    RoleCodes,
    ScopeView,
    StatusReason,
    must_agree,
)
from thenga.domains.identity.lifecycles import MembershipLifecycle
from thenga.domains.identity.permissions import Permission
from thenga.domains.identity.services import memberships
from thenga.domains.identity.services.roles import GrantAboveOwn, LastOwner, Right
from thenga.domains.identity.tables import MembershipStatus
from thenga.kernel.db.paging import Paged
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.work import Work
from thenga.kernel.declare.lifecycle import AllowedMove
from thenga.kernel.errors import Duplicate, InvalidTransition, PlanLimitReached, RuleViolated
from thenga.kernel.http.bodies import Body, PageOf, Stored, View
from thenga.kernel.http.doors import router as make_router
from thenga.kernel.http.entrances import reads, writes
from thenga.kernel.http.lists import paged
from thenga.kernel.http.reference import problems
from thenga.kernel.values.fields import text

router = make_router("Identity / Membership")

MembershipId = Annotated[UUID, Path(alias="membershipId")]


class AskToJoin(Body):
    """Request to a person to join the organization."""

    organization_id: Annotated[UUID, Field(description="Organization that the request acts for.")]
    user_id: Annotated[UUID, Field(description="User who is asked to join.")]
    role_codes: RoleCodes
    title: Annotated[str, text(1, 80)] | None = None
    reason: Reason


class MembershipView(Stored):
    """A person's membership of an organization, with the card that other members see."""

    organization_id: UUID
    organization_name: Annotated[
        str | None,
        Field(
            description=(
                "Display name of the organization. Null if it is closed, in the list of its "
                "members, and after a change."
            )
        ),
    ]
    user_id: UUID
    status: MembershipStatus
    status_reason: StatusReason | None
    status_changed_at: datetime | None
    status_changed_by: UUID | None
    origin: Annotated[
        str, Field(description="How the membership began: `founder`, `invitation` or `direct`.")
    ]
    title: str | None
    display_name: Annotated[str | None, Field(description="Null until the person has joined.")]
    email: Annotated[str | None, Field(description="Null until the person has joined.")]
    aal2_ready: Annotated[bool, Field(description="Whether the member has set up a second factor.")]
    role_codes: Annotated[
        list[str], Field(description="Codes of the roles in force now, in any scope.")
    ]
    last_active_at: Annotated[
        datetime | None,
        Field(
            description=(
                "Time of the last activity in the organization. Only in the list of members."
            )
        ),
    ]
    joined_at: datetime | None
    ended_at: datetime | None
    allowed_moves: list[AllowedMove]

    @classmethod
    def of(cls, shown: memberships.Shown, now: datetime) -> "MembershipView":
        row = shown.membership
        return cls.shown(
            row.__dict__
            | {
                "organization_name": shown.organization_name,
                "display_name": row.display_name or None,
                "email": row.email or None,
                "role_codes": shown.role_codes,
                "last_active_at": shown.last_active_at,
                "status_reason": StatusReason.of(row.status_code, row.status_text),
                "allowed_moves": MembershipLifecycle.allowed(row, now),
            }
        )


class EffectivePermissionView(View):
    """A permission that a member holds now."""

    permission: str
    via: Annotated[
        list[str], Field(description="Sources of the permission: `role:viewer`, `direct`.")
    ]
    scope: ScopeView
    valid_to: Annotated[datetime | None, Field(description="Time at which the last source ends.")]


class EffectivePermissionsView(View):
    """All permissions that a member holds now."""

    membership_id: UUID
    items: list[EffectivePermissionView]

    @classmethod
    def of(cls, membership_id: UUID, rights: list[Right]) -> "EffectivePermissionsView":
        grouped: dict[tuple[str, str], list[Right]] = {}
        for right in rights:
            grouped.setdefault((right.permission, str(right.scope)), []).append(right)
        return cls(
            membership_id=membership_id,
            items=[
                EffectivePermissionView(
                    permission=ways[0].permission,
                    via=sorted({way.via for way in ways}),
                    scope=ScopeView.of(ways[0].scope),
                    valid_to=_last(ways),
                )
                for ways in grouped.values()
            ],
        )


def _last(ways: list[Right]) -> datetime | None:
    ends = [way.valid_to for way in ways if way.valid_to is not None]
    return max(ends) if len(ends) == len(ways) else None


@router.get("/identity/organizations/{organizationId}/members")
async def list_members(
    read: Annotated[Reader, reads(Permission.MEMBERSHIP_READ)],
    page: Annotated[Paged, paged("createdAt", "displayName", "joinedAt")],
    status: Annotated[MembershipStatus | None, Query()] = None,
    role_code: Annotated[RoleCode | None, Query(alias="roleCode")] = None,
    q: Annotated[
        Annotated[str, text(2, 80)] | None, Query(description="Filter by the start of the name.")
    ] = None,
    holding: Annotated[
        PermissionCode | None,
        Query(
            description=(
                "Filter by a permission that the member holds in the whole organization now."
            )
        ),
    ] = None,
    aal2_ready: Annotated[bool | None, Query(alias="aal2Ready")] = None,
) -> PageOf[MembershipView]:
    """List the members of an organization. Without `status`, removed members are left out."""
    items, after = await memberships.list_members(
        read,
        page,
        status=status,
        role_code=role_code,
        q=q,
        holding=holding,
        aal2_ready=aal2_ready,
    )
    now = read.now
    return PageOf[MembershipView](
        items=[MembershipView.of(one, now) for one in items], next_cursor=after
    )


@router.post(
    "/identity/memberships",
    status_code=201,
    responses=problems(Duplicate, PlanLimitReached, GrantAboveOwn, RuleViolated),
)
async def ask_to_join(
    body: AskToJoin, work: Annotated[Work, writes(Permission.MEMBERSHIP_CREATE)]
) -> MembershipView:
    """Ask a person with an account to join. They are `pending` until they accept.

    Their name and address stay hidden until then. The request takes a seat of the plan.
    """
    must_agree(body.organization_id, work.organization_id)
    membership = await memberships.ask(
        work,
        user_id=body.user_id,
        role_codes=body.role_codes,
        title=body.title,
        reason=body.reason,
    )
    return MembershipView.of(await memberships.shown(work, membership), work.now)


@router.get("/identity/memberships")
async def list_memberships(
    read: Annotated[Reader, reads(Permission.MEMBERSHIP_READ)],
    page: Annotated[Paged, paged("createdAt")],
    status: Annotated[MembershipStatus | None, Query()] = None,
) -> PageOf[MembershipView]:
    """List your memberships: current, requested and past."""
    items, after = await memberships.list_own(read, page, status=status)
    now = read.now
    return PageOf[MembershipView](
        items=[MembershipView.of(one, now) for one in items], next_cursor=after
    )


@router.get("/identity/memberships/{membershipId}")
async def get_membership(
    membership_id: MembershipId, read: Annotated[Reader, reads(Permission.MEMBERSHIP_READ)]
) -> MembershipView:
    """Retrieve a membership of the organization you act for, or your own."""
    return MembershipView.of(await memberships.get(read, membership_id), read.now)


@router.get("/identity/memberships/{membershipId}/effective-permissions")
async def get_effective_permissions(
    membership_id: MembershipId, read: Annotated[Reader, reads(Permission.MEMBERSHIP_READ)]
) -> EffectivePermissionsView:
    """List what a member can do now and where each permission comes from.

    Inactive members hold none.
    """
    rights = await memberships.effective(read, membership_id)
    return EffectivePermissionsView.of(membership_id, rights)


@router.post(
    "/identity/memberships/{membershipId}/accept",
    responses=problems(InvalidTransition, RuleViolated, memberships.MembershipVoid),
)
async def accept_membership(
    membership_id: MembershipId, work: Annotated[Work, writes(Permission.MEMBERSHIP_ANSWER)]
) -> MembershipView:
    """Accept a request to join. The other members then see your name and address."""
    membership = await memberships.accept(work, membership_id)
    return MembershipView.of(await memberships.shown(work, membership), work.now)


@router.post("/identity/memberships/{membershipId}/decline", responses=problems(InvalidTransition))
async def decline_membership(
    membership_id: MembershipId, work: Annotated[Work, writes(Permission.MEMBERSHIP_ANSWER)]
) -> MembershipView:
    """Decline a request to join. Its seat becomes free."""
    membership = await memberships.decline(work, membership_id)
    return MembershipView.of(await memberships.shown(work, membership), work.now)


@router.post(
    "/identity/memberships/{membershipId}/leave",
    responses=problems(InvalidTransition, LastOwner),
)
async def leave_organization(
    membership_id: MembershipId, work: Annotated[Work, writes(Permission.MEMBERSHIP_ANSWER)]
) -> MembershipView:
    """Leave the organization. Your roles in it end. The last owner cannot leave."""
    membership = await memberships.leave(work, membership_id)
    return MembershipView.of(await memberships.shown(work, membership), work.now)


@router.post(
    "/identity/memberships/{membershipId}/deactivate",
    responses=problems(InvalidTransition, LastOwner, GrantAboveOwn),
)
async def deactivate_membership(
    membership_id: MembershipId,
    body: Because,
    work: Annotated[Work, writes(Permission.MEMBERSHIP_MANAGE)],
) -> MembershipView:
    """Suspend a member's access. Their roles are kept and apply again after reactivation."""
    membership = await memberships.deactivate(work, membership_id, reason=body.reason)
    return MembershipView.of(await memberships.shown(work, membership), work.now)


@router.post(
    "/identity/memberships/{membershipId}/reactivate",
    responses=problems(InvalidTransition, PlanLimitReached, GrantAboveOwn),
)
async def reactivate_membership(
    membership_id: MembershipId,
    body: Because,
    work: Annotated[Work, writes(Permission.MEMBERSHIP_MANAGE)],
) -> MembershipView:
    """Restore a member's access, if the plan has a free seat."""
    membership = await memberships.reactivate(work, membership_id, reason=body.reason)
    return MembershipView.of(await memberships.shown(work, membership), work.now)


@router.post(
    "/identity/memberships/{membershipId}/remove",
    responses=problems(InvalidTransition, LastOwner, GrantAboveOwn),
)
async def remove_membership(
    membership_id: MembershipId,
    body: Because,
    work: Annotated[Work, writes(Permission.MEMBERSHIP_MANAGE)],
) -> MembershipView:
    """End a membership permanently. To return, the person must be invited again."""
    membership = await memberships.remove(work, membership_id, reason=body.reason)
    return MembershipView.of(await memberships.shown(work, membership), work.now)
