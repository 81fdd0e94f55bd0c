"""Roles: the built-in ones, the same everywhere, and those an organization makes (IDN-24)."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy import select

from thenga.domains.identity import public
from thenga.domains.identity.lifecycles import RoleLifecycle
from thenga.domains.identity.services import organizations
from thenga.domains.identity.services.organizations import Tenant
from thenga.domains.identity.services.roles import rights
from thenga.domains.identity.services.roles.permission_assignments import RoleBuiltIn
from thenga.domains.identity.tables import (
    CustomRole,
    PermissionEntry,
    Role,
    RoleAssignment,
    RoleStatus,
)
from thenga.kernel.access.gate import HeldAs
from thenga.kernel.db.paging import Paged
from thenga.kernel.db.positions import cut
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.rows import merge_patch
from thenga.kernel.db.work import Work
from thenga.kernel.declare.lifecycle import explain
from thenga.kernel.errors import (
    Duplicate,
    InvalidTransition,
    NotFound,
    Problem,
    RuleViolated,
    extensions,
)
from thenga.kernel.values.ids import new_id

MOST = 50
_CATALOGUE_MOST = 5000


class RoleInUse(Problem):
    """Members still have this role. `references` lists the assignments; revoke them first."""

    code, status, title = "identity-role-in-use", 409, "This role is still assigned"
    members = extensions(references=(list[dict[str, Any]], "Assignments of the role."))


@dataclass(frozen=True)
class RoleSummary:
    """A role of either kind, as one sees it."""

    row: Role | CustomRole
    permissions: list[str]
    assigned_count: int | None  # none for who sees no organization

    @property
    def custom(self) -> CustomRole | None:
        return self.row if isinstance(self.row, CustomRole) else None

    @property
    def title(self) -> str:
        return self.row.title if isinstance(self.row, Role) else self.row.name

    @property
    def kind(self) -> str:
        return "built_in" if self.custom is None else "custom"

    @property
    def audience(self) -> str:
        return self.row.audience if isinstance(self.row, Role) else "tenant"

    @property
    def status(self) -> RoleStatus:
        return RoleStatus.ACTIVE if self.custom is None else self.custom.status


async def get_role(read: Reader, role_id: UUID) -> RoleSummary:
    """One role; another organization's is not there."""
    built_in = await read.find(Role, id=role_id)
    if built_in is None and not _in_organization(read):
        raise NotFound()
    if built_in is None:
        return await shown(read, await read.get(CustomRole, role_id))
    return (await _shown_all(read, [built_in]))[0]


async def shown(read: Reader, role: CustomRole) -> RoleSummary:
    return (await _shown_all(read, [role]))[0]


async def list_roles(
    read: Reader,
    paged: Paged,
    *,
    kind: str | None,
    audience: str | None,
    status: RoleStatus | None,
) -> tuple[Sequence[RoleSummary], str | None]:
    """Built-in roles first, then the organization's own, each in the order of their codes.

    Both are few, so the page is cut here: two tables have no common key to page by.
    """
    rows: list[Role | CustomRole] = [*await read.all(select(Role))]
    if _in_organization(read):
        rows += await read.all(select(CustomRole))
    made = [
        one
        for one in await _shown_all(read, rows)
        if kind in (None, one.kind)
        and audience in (None, one.audience)
        and status in (None, one.status)
    ]
    made.sort(key=_place, reverse=paged.descending)
    return cut(read, paged, made, _place)


async def create_role(
    work: Work,
    *,
    code: str,
    name: str,
    description: str | None,
    permissions: Sequence[str],
    reason: str,
) -> RoleSummary:
    """A draft of a role; it holds nothing that its maker does not hold (IDN-20)."""
    tenant = await organizations.lock_organization(work)
    await _must_be_new(work, code)
    await _check(work, tenant.now, permissions)
    role = await work.add(
        CustomRole(
            id=new_id(),
            organization_id=tenant.id,
            code=code,
            name=name,
            description=description,
            permissions=sorted(set(permissions)),
            status=RoleStatus.DRAFT,
            status_code="created",
            status_text=reason,
            status_changed_at=tenant.now,
            status_changed_by=work.actor.id,
        )
    )
    work.publish(_changed(role, added=role.permissions, removed=[]))
    return await shown(work, role)


async def change_role(
    work: Work, role_id: UUID, *, fields: dict[str, Any], reason: str
) -> RoleSummary:
    """Change what is named; whoever has the role holds the new set from the next check on."""
    tenant = await organizations.lock_organization(work)
    role = await _locked(work, role_id)
    if role.status is RoleStatus.RETIRED:
        told: dict[str, Any] = {"from": role.status, "operation": "change", "allowed": []}
        raise InvalidTransition("A retired role cannot be changed.", **told)
    before = set(role.permissions)
    after = set(fields.get("permissions", before))
    await _check(work, tenant.now, after - before)
    asked = fields | {"permissions": sorted(after)}
    if merge_patch(role, asked):
        await work.save(role)
        work.note("identity.role.changed", ("custom_role", role.id), {"reason": reason})
        work.publish(_changed(role, added=sorted(after - before), removed=sorted(before - after)))
    return await shown(work, role)


async def activate_role(work: Work, role_id: UUID, *, reason: str) -> RoleSummary:
    """Make a draft a role that can be given; what it holds is asked of the caller again."""
    tenant = await organizations.lock_organization(work)
    role = await _locked(work, role_id)
    if RoleLifecycle.activate(role, at=tenant.now):
        await _check(work, tenant.now, role.permissions)
        await _moved(work, tenant, role, code="activated", reason=reason)
        await _check_given(work, tenant.now, role)
    return await shown(work, role)


async def deprecate_role(work: Work, role_id: UUID, *, reason: str) -> RoleSummary:
    """Give it to nobody any more; who has it keeps it."""
    tenant = await organizations.lock_organization(work)
    role = await _locked(work, role_id)
    if RoleLifecycle.deprecate(role, at=tenant.now):
        await _moved(work, tenant, role, code="deprecated", reason=reason)
    return await shown(work, role)


async def retire_role(work: Work, role_id: UUID, *, reason: str) -> RoleSummary:
    """End a role that nobody has any more."""
    tenant = await organizations.lock_organization(work)
    role = await _locked(work, role_id)
    if RoleLifecycle.retire(role, at=tenant.now):
        await _must_be_unused(work, role)
        await _moved(work, tenant, role, code="retired", reason=reason)
    return await shown(work, role)


async def _moved(work: Work, tenant: Tenant, role: CustomRole, *, code: str, reason: str) -> None:
    explain(role, at=tenant.now, by=work.actor.id, code=code, text=reason)
    await work.save(role)
    work.publish(_changed(role, added=[], removed=[]))


async def _locked(work: Work, role_id: UUID) -> CustomRole:
    if await work.find(Role, id=role_id) is not None:
        raise RoleBuiltIn()
    return await work.lock(CustomRole, role_id)


async def _check(work: Work, now: datetime, permissions: Iterable[str]) -> None:
    await rights.must_be_grantable(work, permissions)
    giver = await rights.giver_of(work, work.user_id, now)
    giver.must_hold(permissions)


async def _check_given(work: Work, now: datetime, role: CustomRole) -> None:
    """What was assigned to the draft is given with it (SEC-58)."""
    granted = await rights.permissions_given_by(work, [role.code], now)
    giver = await rights.giver_of(work, work.user_id, now)
    giver.must_hold(granted.permissions)


async def _must_be_new(work: Work, code: str) -> None:
    known = await work.all(select(CustomRole))
    same = next((one for one in known if one.code == code), None)
    built_in = await work.find(Role, code=code)
    if same is not None or built_in is not None:
        existing = str((same or built_in).id)  # type: ignore[union-attr]  # one of them is there
        reference = {"domain": "identity", "type": "role", "id": existing}
        raise Duplicate(f"There is already a role with the code {code}.", existing=reference)
    if sum(one.status is not RoleStatus.RETIRED for one in known) >= MOST:
        raise RuleViolated(
            f"An organization can have at most {MOST} custom roles. Retire one first.",
            rule="IDN-24",
            limit=MOST,
        )


async def _must_be_unused(work: Work, role: CustomRole) -> None:
    found = await work.values(
        select(RoleAssignment.id)
        .where(
            RoleAssignment.organization_id == role.organization_id,
            RoleAssignment.role_code == role.code,
            rights.in_force(RoleAssignment, work.now),
        )
        .order_by(RoleAssignment.id),
        limit=50,
    )
    if found:
        kind = {"domain": "identity", "type": "roleAssignment"}
        raise RoleInUse(references=[kind | {"id": str(one)} for one in found])


def _in_organization(read: Reader) -> bool:
    return read.held_as != HeldAs.PERSON and read.has_organization


async def _shown_all(read: Reader, rows: Sequence[Role | CustomRole]) -> list[RoleSummary]:
    entries = await read.all(
        select(PermissionEntry).where(PermissionEntry.status == "active"), limit=_CATALOGUE_MOST
    )
    counts = await _counts(read) if _in_organization(read) else None
    made = []
    for row in rows:
        if isinstance(row, CustomRole):
            permissions = list(row.permissions)
        else:
            permissions = sorted(entry.code for entry in entries if row.code in entry.roles)
        count = None if counts is None else counts.get(row.code, 0)
        made.append(RoleSummary(row, permissions, count))
    return made


async def _counts(read: Reader) -> dict[str, int]:
    found = await read.records(
        select(RoleAssignment.role_code, sa.func.count().label("members"))
        .where(
            RoleAssignment.organization_id == read.organization_id,
            rights.in_force(RoleAssignment, read.now),
        )
        .group_by(RoleAssignment.role_code)
    )
    return {record["role_code"]: record["members"] for record in found}


def _place(one: RoleSummary) -> tuple[str, str]:
    return one.kind, one.row.code


def _changed(role: CustomRole, *, added: list[str], removed: list[str]) -> public.RoleChanged:
    return public.RoleChanged(
        organization_id=role.organization_id,
        role_id=role.id,
        status=role.status,
        added=added,
        removed=removed,
    )
