"""What a member may do, by which way, and the rule that nobody gives what they do not hold.

A right counts while its assignment is in force; one active deny, for the member or for a role that
the member has, beats every allow (IDN-25), except what a member holds as owner (SEC-57).
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any, TypeVar
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy import ColumnElement, select
from sqlalchemy.dialects.postgresql import ARRAY

from thenga.domains.identity.permissions import TENANT_ROLES
from thenga.domains.identity.public import ScopeRef
from thenga.domains.identity.services import decisions
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
from thenga.kernel.declare.permission import Audience, Sensitivity
from thenga.kernel.errors import Problem, RuleViolated, extensions

OWNER = "owner"
G = TypeVar("G", bound=Assigned)
_GRAVE = (Sensitivity.SENSITIVE.value, Sensitivity.ADMINISTRATION.value)


class GrantAboveOwn(Problem):
    """You can grant only permissions that you hold yourself.

    `missing` lists the permissions you lack. Ask someone who holds them, or leave them out. Only an
    owner can grant or change the role `owner`.
    """

    code, status, title = "identity-grant-above-own", 403, "You cannot grant more than you hold"
    members = extensions(missing=(list[str], "Permissions you lack."))


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
            raise GrantAboveOwn("Only an owner can grant, change or revoke the role owner.")

    def must_be_another(self, membership_id: UUID) -> None:
        """Nobody changes their own rights, except to give one up (IDN-20)."""
        if membership_id == self.membership_id:
            raise RuleViolated(
                "You cannot change your own rights. Ask another owner or administrator.",
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
        among(row.status, _OPEN),
        row.valid_from <= at,
        sa.or_(row.valid_to.is_(None), row.valid_to > at),
    )


_OPEN = (AssignmentStatus.SCHEDULED, AssignmentStatus.ACTIVE)
_COUNTING = (RoleStatus.ACTIVE, RoleStatus.DEPRECATED)


async def rights_of_member(read: Reader, membership_id: UUID, at: datetime) -> list[Right]:
    """Everything a member may do here and now, once for each way and scope."""
    values = {"organization_id": read.organization_id, "membership_id": membership_id, "at": at}
    found = await read.records(_records(_OF_MEMBER, values))
    owned = {one["code"] for one in found if one["how"] == "owner" and one["scope"] is None}
    denied = {one["code"] for one in found if one["effect"] == "deny"} - owned
    made = {
        Right(one["code"], _way(one["role_code"]), _parsed(one["scope"]), one["valid_to"])
        for one in found
        if one["effect"] == "allow" and one["code"] not in denied
    }
    return sorted(made, key=lambda right: (right.permission, right.via, str(right.scope)))


_AROUND = """
    SELECT p.code, given.how, given.effect, given.scope, given.role_code, given.valid_to
    FROM (SELECT CAST(:organization_id AS uuid) AS organization_id,
        CAST(:membership_id AS uuid) AS id) m
    JOIN identity.permission p ON p.status = 'active' AND 'tenant' = ANY (p.audiences)
    CROSS JOIN LATERAL ({rows}) AS given
    WHERE given.effect IS NOT NULL"""
_OF_MEMBER = _AROUND.format(rows=decisions.given_rows(at=":at"))
# A member who would have these roles and nothing else, as soon as all that is scheduled has begun.
_OF_ROLES = _AROUND.format(
    rows=decisions.given_rows(
        at=":at",
        by="'infinity'",
        assigned="""(
            SELECT CAST(:organization_id AS uuid) AS organization_id,
                CAST(:membership_id AS uuid) AS membership_id, code AS role_code,
                'active' AS status, timestamptz '-infinity' AS valid_from,
                NULL::timestamptz AS valid_to, NULL::text AS scope_domain,
                NULL::text AS scope_type, NULL::text AS scope_id
            FROM unnest(CAST(:role_codes AS text[])) AS code)""",
    )
)


def _records(text: str, values: dict[str, Any]) -> sa.Select[*tuple[Any, ...]]:
    return select(*_bound(text, values).columns(*_COLUMNS).subquery("found").c)


def _bound(text: str, values: dict[str, Any]) -> sa.TextClause:
    return sa.text(text).bindparams(
        *(sa.bindparam(name, value, _TYPES[name]) for name, value in values.items())
    )


_TYPES: dict[str, sa.types.TypeEngine[Any]] = {
    "organization_id": sa.Uuid(),
    "membership_id": sa.Uuid(),
    "at": sa.DateTime(timezone=True),
    "permission": sa.Text(),
    "role_codes": ARRAY(sa.Text()),
}
_COLUMNS: tuple[ColumnElement[Any], ...] = (
    *(sa.column(name, sa.Text) for name in ("code", "how", "effect", "scope", "role_code")),
    sa.column("valid_to", sa.DateTime(timezone=True)),
)


def _way(role_code: str | None) -> str:
    return "direct" if role_code is None else f"role:{role_code}"


def _parsed(scope: str | None) -> ScopeRef | None:
    if scope is None:
        return None
    kind, _, key = scope.partition("/")
    domain, _, name = kind.partition(".")
    return ScopeRef(domain=domain, type=name, id=key)


async def permissions_held(read: Reader, user_id: UUID, at: datetime) -> frozenset[str]:
    """The permissions that a person holds in this organization without any scope."""
    return (await giver_of(read, user_id, at)).held


async def giver_of(read: Reader, user_id: UUID, at: datetime) -> Giver:
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
    rights = await rights_of_member(read, found[0].id, at)
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


async def is_or_becomes_owner(read: Reader, membership_id: UUID, at: datetime) -> bool:
    """Whether a member is an owner now or will be when a scheduled assignment begins (SEC-57)."""
    found = await read.all(
        _not_over(RoleAssignment, at).where(
            RoleAssignment.membership_id == membership_id, RoleAssignment.role_code == OWNER
        )
    )
    return bool(found)


async def permissions_given_by(read: Reader, role_codes: Iterable[str], at: datetime) -> Granting:
    """What these roles give; a role that cannot be given now is refused (IDN-24)."""
    codes = set(role_codes)
    customs = await custom_roles(read, codes)
    for code in sorted(codes):
        custom = customs.get(code)
        if code not in TENANT_ROLES and (custom is None or custom.status is not RoleStatus.ACTIVE):
            raise RuleViolated(f"{code} is not a role that can be given here.", rule="IDN-24")
    permissions = await _all_given(read, codes, at)
    return Granting(permissions, await are_grave(read, permissions), OWNER in codes)


async def _all_given(read: Reader, codes: set[str], at: datetime) -> frozenset[str]:
    """All that a holder of these roles has or comes to have without anybody giving it (SEC-58).

    That includes what begins later. A deny subtracts nothing: it may end or name one resource.
    """
    values = {"organization_id": read.organization_id, "membership_id": UUID(int=0), "at": at}
    found = await read.records(_records(_OF_ROLES, values | {"role_codes": sorted(codes)}))
    return frozenset(one["code"] for one in found if one["effect"] == "allow")


async def awaiting(read: Reader, membership_id: UUID, at: datetime) -> dict[UUID | None, Granting]:
    """What a member who is let in holds or comes to hold, by whoever gave it (SEC-58)."""
    roles = await read.all(
        _not_over(RoleAssignment, at).where(RoleAssignment.membership_id == membership_id)
    )
    singles = await read.all(
        _not_over(PermissionAssignment, at).where(
            PermissionAssignment.target_id == membership_id, PermissionAssignment.effect == "allow"
        )
    )
    made = {}
    for by in {one.assigned_by for one in (*roles, *singles)}:
        codes = {one.role_code for one in roles if one.assigned_by == by}
        single = {one.permission for one in singles if one.assigned_by == by}
        permissions = await _all_given(read, codes, at) | single
        made[by] = Granting(permissions, await are_grave(read, permissions), OWNER in codes)
    return made


def _not_over(row: type[G], at: datetime) -> sa.Select[G]:
    """Assignments that count now or will without anybody's doing."""
    ends = row.valid_to
    return select(row).where(among(row.status, _OPEN), sa.or_(ends.is_(None), ends > at))


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
    unknown = sorted(asked - await tenant_permissions(read, asked))
    if unknown:
        raise RuleViolated(
            f"{unknown[0]} is not a permission that an organization gives.",
            rule="IDN-24",
            unknown=unknown[:50],
        )


async def custom_roles(read: Reader, codes: Iterable[str]) -> dict[str, CustomRole]:
    """The organization's own roles of these codes that still count."""
    found = await read.all(
        select(CustomRole).where(among(CustomRole.code, codes), among(CustomRole.status, _COUNTING))
    )
    return {one.code: one for one in found}


def holders(read: Reader, permission: str, at: datetime) -> ColumnElement[bool]:
    """The condition on `Membership` that a permission is held without any scope."""
    values = {"organization_id": read.organization_id, "permission": permission, "at": at}
    return Membership.id.in_(_bound(_HOLDERS, values).columns(sa.column("id", sa.Uuid())))


_HOLDERS = f"""
    SELECT m.id FROM identity.membership m
    JOIN identity.permission p ON p.code = :permission AND p.status = 'active'
        AND 'tenant' = ANY (p.audiences)
    CROSS JOIN LATERAL ({decisions.given_rows(at=":at")}) AS given
    WHERE m.organization_id = :organization_id
    GROUP BY m.id
    HAVING bool_or(given.how = 'owner' AND given.effect = 'allow' AND given.scope IS NULL)
        OR bool_or(given.effect = 'allow' AND given.scope IS NULL)
            AND NOT coalesce(bool_or(given.effect = 'deny'), false)"""  # noqa: S608  # constants


def has_role_clause(role_code: str, at: datetime) -> ColumnElement[bool]:
    """The condition on `Membership` that a role is held, in whatever scope."""
    found = select(RoleAssignment.id).where(
        RoleAssignment.organization_id == Membership.organization_id,
        RoleAssignment.membership_id == Membership.id,
        RoleAssignment.role_code == role_code,
        in_force(RoleAssignment, at),
    )
    return sa.exists(found)


async def tenant_permissions(read: Reader, codes: Iterable[str]) -> set[str]:
    """Those of some codes that an organization gives."""
    asked = set(codes)
    found = await read.all(
        select(PermissionEntry).where(
            among(PermissionEntry.code, asked), PermissionEntry.status == "active"
        ),
        limit=5000,
    )
    return {entry.code for entry in found if Audience.TENANT.value in entry.audiences}
