"""What a member may do, by which way, and the rule that nobody gives what they do not hold.

A right counts while its assignment is in force; one active deny, for the member or for a role that
the member has, beats every allow (IDN-25).
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy import ColumnElement, select

from thenga.domains.identity.permissions import TENANT_ROLES
from thenga.domains.identity.public import ScopeRef
from thenga.domains.identity.tables import (
    Assigned,
    AssignmentStatus,
    CustomRole,
    Membership,
    MembershipStatus,
    PermissionAssignment,
    PermissionEntry,
    RoleAssignment,
    RoleStatus,
)
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.statements import among
from thenga.kernel.errors import Problem, RuleViolated
from thenga.kernel.manifest import Audience, Sensitivity

OWNER = "owner"
_GRAVE = (Sensitivity.SENSITIVE.value, Sensitivity.ADMINISTRATION.value)


class GrantAboveOwn(Problem):
    """One can give only what one holds oneself. `missing` names the permissions you lack.

    Ask somebody who holds them, or leave them out. The role `owner` is given and changed by owners.
    """

    code, status, title = "identity-grant-above-own", 403, "This is more than you hold yourself"


@dataclass(frozen=True, slots=True)
class Right:
    """One permission of a member and the way it came; without a scope it counts everywhere."""

    permission: str
    via: str
    scope: ScopeRef | None
    valid_to: datetime | None


@dataclass(frozen=True)
class Giver:
    """Who gives, and what they hold at this moment without any scope."""

    user_id: UUID
    membership_id: UUID | None
    held: frozenset[str]
    is_owner: bool

    def must_hold(self, permissions: Iterable[str], *, owner: bool = False) -> None:
        """Nobody gives what they do not hold; `owner` is given by owners (IDN-20)."""
        missing = sorted(set(permissions) - self.held)
        if missing:
            shown = ", ".join(missing[:3])
            raise GrantAboveOwn(
                f"You do not hold {shown}{' and more' if len(missing) > 3 else ''} yourself.",
                missing=missing[:50],
            )
        if owner and not self.is_owner:
            raise GrantAboveOwn("Only an owner gives, changes or takes the role owner.")

    def must_be_another(self, membership_id: UUID) -> None:
        """Nobody changes their own rights, except to give one up (IDN-20)."""
        if membership_id == self.membership_id:
            raise RuleViolated(
                "Nobody changes their own rights. Ask another owner or administrator.",
                rule="IDN-20",
            )


@dataclass(frozen=True)
class Granting:
    """What some roles give together."""

    permissions: frozenset[str]
    grave: bool  # one of them asks for a fresh proof
    includes_owner: bool


def scope_of(row: Assigned) -> ScopeRef | None:
    """The resource that an assignment is limited to."""
    if row.scope_domain is None or row.scope_type is None or row.scope_id is None:
        return None
    return ScopeRef(domain=row.scope_domain, type=row.scope_type, id=row.scope_id)


def in_force(row: type[Assigned], at: datetime) -> ColumnElement[bool]:
    """Time decides, also before the sweep has written it down."""
    return sa.and_(
        among(row.__table__.c.status, _OPEN),
        row.valid_from <= at,
        sa.or_(row.valid_to.is_(None), row.valid_to > at),
    )


_OPEN = (AssignmentStatus.SCHEDULED.value, AssignmentStatus.ACTIVE.value)
_COUNTING = (RoleStatus.ACTIVE.value, RoleStatus.DEPRECATED.value)


async def of_member(read: Reader, membership_id: UUID, at: datetime) -> list[Right]:
    """Everything a member may do here and now, once for each way and scope."""
    roles = await read.all(
        select(RoleAssignment).where(
            RoleAssignment.membership_id == membership_id, in_force(RoleAssignment, at)
        )
    )
    customs = await custom_roles(read, {one.role_code for one in roles})
    direct = await _direct(read, membership_id, [one.id for one in customs.values()], at)
    by_role = await _permissions_by_role(read, {one.role_code for one in roles}, customs)
    denied = {one.permission for one in direct if one.effect == "deny"}
    made = [
        Right(permission, f"role:{one.role_code}", scope_of(one), one.valid_to)
        for one in roles
        for permission in by_role.get(one.role_code, ())
    ]
    known = await _tenant_permissions(read, {one.permission for one in direct})
    allows = [one for one in direct if one.effect == "allow" and one.permission in known]
    made += [
        Right(one.permission, "direct", scope_of(one), one.valid_to)
        for one in allows
        if one.target_type == "membership"
    ]
    for role in roles:
        custom = customs.get(role.role_code)
        made += [
            right
            for one in allows
            if custom is not None and one.target_id == custom.id
            for right in _through(role, one)
        ]
    return sorted(
        {right for right in made if right.permission not in denied},
        key=lambda right: (right.permission, right.via, str(right.scope)),
    )


async def held(read: Reader, user_id: UUID, at: datetime) -> frozenset[str]:
    """The permissions that a person holds in this organization without any scope."""
    return (await giver(read, user_id, at)).held


async def giver(read: Reader, user_id: UUID, at: datetime) -> Giver:
    """A person as a giver of rights; whoever is no active member holds nothing."""
    found = await read.all(
        select(Membership).where(
            Membership.organization_id == read.organization_id,
            Membership.user_id == user_id,
            Membership.status == MembershipStatus.ACTIVE.value,
        )
    )
    if not found:
        return Giver(user_id, None, frozenset(), False)
    rights = await of_member(read, found[0].id, at)
    unscoped = frozenset(right.permission for right in rights if right.scope is None)
    is_owner = await has_role(read, found[0].id, OWNER, at)
    return Giver(user_id, found[0].id, unscoped, is_owner)


async def has_role(read: Reader, membership_id: UUID, role_code: str, at: datetime) -> bool:
    """Whether a member has a role in the whole organization now."""
    found = await read.values(
        select(RoleAssignment.id).where(
            RoleAssignment.organization_id == read.organization_id,
            RoleAssignment.membership_id == membership_id,
            RoleAssignment.role_code == role_code,
            RoleAssignment.scope_type.is_(None),
            in_force(RoleAssignment, at),
        )
    )
    return bool(found)


async def granting(read: Reader, role_codes: Iterable[str]) -> Granting:
    """What these roles give; a role that cannot be given now is refused (IDN-24)."""
    codes = set(role_codes)
    customs = await custom_roles(read, codes)
    for code in sorted(codes):
        custom = customs.get(code)
        if code not in TENANT_ROLES and (custom is None or custom.status is not RoleStatus.ACTIVE):
            raise RuleViolated(f"{code} is not a role that can be given here.", rule="IDN-24")
    by_role = await _permissions_by_role(read, codes, customs)
    permissions = frozenset(code for found in by_role.values() for code in found)
    return Granting(permissions, await are_grave(read, permissions), OWNER in codes)


async def are_grave(read: Reader, permissions: Iterable[str]) -> bool:
    """Whether one of these asks for a fresh proof (IDN-15)."""
    found = await read.values(
        select(PermissionEntry.id).where(
            among(PermissionEntry.code, permissions), among(PermissionEntry.sensitivity, _GRAVE)
        )
    )
    return bool(found)


async def must_be_grantable(read: Reader, permissions: Iterable[str]) -> None:
    """Roles of an organization and direct grants hold tenant permissions only (IDN-24)."""
    asked = set(permissions)
    unknown = sorted(asked - await _tenant_permissions(read, asked))
    if unknown:
        raise RuleViolated(
            f"{unknown[0]} is not a permission that an organization gives.",
            rule="IDN-24",
            unknown=unknown[:50],
        )


async def custom_roles(read: Reader, codes: Iterable[str]) -> dict[str, CustomRole]:
    """The organization's own roles of these codes that still count."""
    found = await read.all(
        select(CustomRole).where(
            among(CustomRole.code, codes), among(CustomRole.__table__.c.status, _COUNTING)
        )
    )
    return {one.code: one for one in found}


async def holders(read: Reader, permission: str, at: datetime) -> ColumnElement[bool]:
    """The condition on `Membership` that a permission is held without any scope."""
    entry = await read.all(
        select(PermissionEntry).where(
            PermissionEntry.code == permission, PermissionEntry.status == "active"
        )
    )
    customs = await read.all(
        select(CustomRole).where(among(CustomRole.__table__.c.status, _COUNTING))
    )
    direct = await read.all(
        select(PermissionAssignment).where(
            PermissionAssignment.target_type == "role",
            PermissionAssignment.permission == permission,
            in_force(PermissionAssignment, at),
        )
    )
    gives = {one.target_id for one in direct if one.effect == "allow" and scope_of(one) is None}
    takes = {one.target_id for one in direct if one.effect == "deny"}
    codes = {one.code for one in customs if permission in one.permissions or one.id in gives}
    codes |= {code for one in entry for code in one.roles}
    denied = {one.code for one in customs if one.id in takes}
    return sa.and_(
        sa.literal(bool(entry)),
        sa.or_(
            _has_one_of(codes, at, unscoped=True),
            _has_direct(permission, "allow", at, unscoped=True),
        ),
        sa.not_(_has_one_of(denied, at, unscoped=False)),
        sa.not_(_has_direct(permission, "deny", at, unscoped=False)),
    )


def has_role_clause(role_code: str, at: datetime) -> ColumnElement[bool]:
    """The condition on `Membership` that a role is held, in whatever scope."""
    return _has_one_of({role_code}, at, unscoped=False)


def _has_one_of(codes: set[str], at: datetime, *, unscoped: bool) -> ColumnElement[bool]:
    found = select(RoleAssignment.id).where(
        RoleAssignment.organization_id == Membership.organization_id,
        RoleAssignment.membership_id == Membership.id,
        among(RoleAssignment.role_code, codes),
        in_force(RoleAssignment, at),
    )
    return sa.exists(found.where(RoleAssignment.scope_type.is_(None)) if unscoped else found)


def _has_direct(
    permission: str, effect: str, at: datetime, *, unscoped: bool
) -> ColumnElement[bool]:
    found = select(PermissionAssignment.id).where(
        PermissionAssignment.organization_id == Membership.organization_id,
        PermissionAssignment.target_type == "membership",
        PermissionAssignment.target_id == Membership.id,
        PermissionAssignment.permission == permission,
        PermissionAssignment.effect == effect,
        in_force(PermissionAssignment, at),
    )
    return sa.exists(found.where(PermissionAssignment.scope_type.is_(None)) if unscoped else found)


async def _direct(
    read: Reader, membership_id: UUID, role_ids: list[UUID], at: datetime
) -> list[PermissionAssignment]:
    return await read.all(
        select(PermissionAssignment).where(
            sa.or_(
                sa.and_(
                    PermissionAssignment.target_type == "membership",
                    PermissionAssignment.target_id == membership_id,
                ),
                sa.and_(
                    PermissionAssignment.target_type == "role",
                    among(PermissionAssignment.target_id, role_ids),
                ),
            ),
            in_force(PermissionAssignment, at),
        )
    )


def _through(role: RoleAssignment, one: PermissionAssignment) -> list[Right]:
    """What is given to a role counts where the role does; where both name one, on both only."""
    mine, given = scope_of(role), scope_of(one)
    if mine is not None and given is not None and mine != given:
        return []
    ends = [end for end in (role.valid_to, one.valid_to) if end is not None]
    way = f"role:{role.role_code}"
    return [Right(one.permission, way, given or mine, min(ends, default=None))]


async def _permissions_by_role(
    read: Reader, codes: set[str], customs: dict[str, CustomRole]
) -> dict[str, set[str]]:
    """Only what the catalogue still has: a vanished code decides nothing (IDN-23)."""
    built_in = codes - customs.keys()
    entries = await read.all(
        select(PermissionEntry).where(
            PermissionEntry.status == "active",
            sa.literal(Audience.TENANT.value) == sa.any_(PermissionEntry.audiences),
        ),
        limit=5000,
    )
    made: dict[str, set[str]] = {
        code: {entry.code for entry in entries if code in entry.roles} for code in built_in
    }
    active = {entry.code for entry in entries}
    return made | {code: active & set(one.permissions) for code, one in customs.items()}


async def _tenant_permissions(read: Reader, codes: Iterable[str]) -> set[str]:
    asked = set(codes)
    found = await read.all(
        select(PermissionEntry).where(
            among(PermissionEntry.code, asked), PermissionEntry.status == "active"
        ),
        limit=5000,
    )
    return {entry.code for entry in found if Audience.TENANT.value in entry.audiences}
