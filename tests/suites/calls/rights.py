"""Calls of members, invitations, roles and assignments."""

from collections.abc import Awaitable, Callable
from datetime import timedelta
from typing import Any
from uuid import UUID, uuid4

from sqlalchemy import select

from tests.factories import identity
from tests.factories.identity import Member, Person
from tests.suites.calls.sending import Ids, Maker, Sent, filled, of_organization, of_person
from thenga.domains.identity.services.accounts import member_cards
from thenga.domains.identity.services.roles import role_assignments
from thenga.domains.identity.tables import (
    AssignmentStatus,
    CustomRole,
    Invitation,
    InvitationStatus,
    Membership,
    MembershipStatus,
    OneTimeLink,
    PermissionAssignment,
    Role,
    RoleStatus,
)
from thenga.kernel.crypto import tokens
from thenga.kernel.db.rows import Row
from thenga.kernel.process.host import Host
from thenga.kernel.values.ids import new_id

M, R = MembershipStatus, RoleStatus
READ = "organization:equipment:read"
WHY = {"reason": "Asked for in case */2026"}

Made = Callable[[Host, Person, UUID], Awaitable[Row]]


def _said(given: dict[str, Any]) -> Callable[[Ids], dict[str, Any]]:
    body = filled(given)
    return lambda _: body


def _on(name: str, make: Made, given: dict[str, Any] | None = None) -> Maker:
    """An operation on one thing that is made for it."""

    async def sent(host: Host, who: Person, organization_id: UUID) -> Sent:
        ids = {name: (await make(host, who, organization_id)).id}
        return Sent(ids) if given is None else Sent(ids, _said(given))

    return sent


async def _add(host: Host, row: Any) -> Any:
    work = identity.working(host, row.organization_id)
    await work.add(row)
    await work.finish()
    return row


def _member(status: M) -> Made:
    """Somebody else who belongs to the organization."""

    async def make(host: Host, who: Person, organization_id: UUID) -> Row:
        return await _joined(host, organization_id, new_id(), status)

    return make


def _own(status: M) -> Made:
    """The caller's own membership of an organization that nobody else here knows."""

    async def make(host: Host, who: Person, organization_id: UUID) -> Row:
        elsewhere = new_id()
        await identity.mirror(host, elsewhere)
        return await _joined(host, elsewhere, who.user_id, status)

    return make


async def _seen(host: Host, who: Person, organization_id: UUID) -> Row:
    """A membership that the caller may see: in the organization, or one of their own."""
    if isinstance(who, Member) and who.organization_id == organization_id:
        return await _joined(host, organization_id, new_id(), M.ACTIVE)
    return await _own(M.ACTIVE)(host, who, organization_id)


async def _joined(host: Host, organization_id: UUID, user_id: UUID, status: M) -> Membership:
    work = identity.working(host, organization_id)
    made = await work.add(
        Membership(
            id=new_id(),
            organization_id=organization_id,
            user_id=user_id,
            status=status,
            origin="direct",
        )
    )
    await role_assignments.give_role(work, made, role_code="viewer", at=work.now)
    await work.finish()
    return made


async def _asking(host: Host, who: Person, organization_id: UUID) -> Sent:
    somebody = await identity.person(host)
    rest = filled({"userId": str(somebody.user_id), "roleCodes": ["viewer"], **WHY})
    return Sent(
        {"organization": organization_id},
        lambda ids: {"organizationId": str(ids["organization"]), **rest},
    )


async def _inviting(host: Host, who: Person, organization_id: UUID) -> Sent:
    rest = filled({"email": "*@example.test", "roleCodes": ["viewer"]})
    return Sent(
        {"organization": organization_id},
        lambda ids: {"organizationId": str(ids["organization"]), **rest},
    )


async def _invitation(
    host: Host,
    organization_id: UUID,
    *,
    by: UUID,
    email: str,
    key: bytes,
    token: str | None = None,
) -> Invitation:
    """An open invitation, sent a while ago, and the link of its letter where one is wanted."""
    work = identity.working(host, organization_id)
    digest = None if token is None else tokens.digest(token)
    made = await work.add(
        Invitation(
            id=new_id(),
            organization_id=organization_id,
            email=email,
            email_key=key,
            role_codes=["viewer"],
            status=InvitationStatus.PENDING,
            invited_by_user_id=by,
            sent_count=1,
            last_sent_at=work.now - timedelta(hours=1),
            link_hash=digest,
            expires_at=work.now + timedelta(days=6),
        )
    )
    if digest is not None:
        await work.present(digest)
        await work.add(
            OneTimeLink(
                hash=digest,
                purpose="invitation",
                account_key=key,
                user_id=by,
                organization_id=organization_id,
                invitation_id=made.id,
                expires_at=made.expires_at,
            )
        )
    await work.finish()
    return made


async def _invited(host: Host, who: Person, organization_id: UUID) -> Row:
    return await _invitation(host, organization_id, by=who.user_id, email="text", key=uuid4().bytes)


async def _with_letter(host: Host, who: Person) -> tuple[Invitation, str]:
    """A letter to the caller's own address, from an organization that nobody else here knows."""
    owner = await identity.member(host, new_id(), role="owner")
    work = identity.working(host, user_id=who.user_id)
    one = await member_cards.account_standing(work, who.user_id)
    await work.close()
    assert one is not None
    token = tokens.mint(tokens.Prefix.LINK)
    made = await _invitation(
        host,
        owner.organization_id,
        by=owner.user_id,
        email=one.account.email,
        key=one.email_key,
        token=token,
    )
    return made, token


async def _of_letter(host: Host, who: Person, organization_id: UUID) -> Sent:
    made, token = await _with_letter(host, who)
    return Sent({"invitationId": made.id}, lambda _: {"token": token})


async def _inspecting(host: Host, who: Person, organization_id: UUID) -> Sent:
    _, token = await _with_letter(host, who)
    return Sent(body=lambda _: {"token": token})


def _role(status: R) -> Made:
    async def make(host: Host, who: Person, organization_id: UUID) -> Row:
        made: Row = await _add(
            host,
            CustomRole(
                id=new_id(),
                organization_id=organization_id,
                code=f"foreman_{uuid4().hex[:12]}",
                name="text",
                permissions=[READ],
                status=status,
            ),
        )
        return made

    return make


async def _seen_role(host: Host, who: Person, organization_id: UUID) -> Row:
    """A role of the organization, or for who belongs to none a built-in one."""
    if isinstance(who, Member) and who.organization_id == organization_id:
        return await _role(R.ACTIVE)(host, who, organization_id)
    work = identity.working(host, organization_id)
    found = await work.all(select(Role).where(Role.code == "viewer"))
    await work.close()
    return found[0]


async def _making_role(host: Host, who: Person, organization_id: UUID) -> Sent:
    work = identity.working(host, organization_id)
    # There may be fifty at most, and these suites make more.
    await work.run(
        "UPDATE identity.custom_role SET status = 'retired' WHERE organization_id = $1",
        organization_id,
    )
    await work.finish()
    return Sent(body=_said({"code": "foreman_*", "name": "Foreman", "permissions": [READ], **WHY}))


async def _changing_role(host: Host, who: Person, organization_id: UUID) -> Sent:
    made = await _role(R.ACTIVE)(host, who, organization_id)
    return Sent({"roleId": made.id}, _said({"name": "Foreman *", **WHY}), {"If-Match": '"1"'})


async def _giving_role(host: Host, who: Person, organization_id: UUID) -> Sent:
    made = await _member(M.ACTIVE)(host, who, organization_id)
    rest = filled({"roleCode": "contributor", **WHY})
    return Sent(
        {"membership": made.id}, lambda ids: {"membershipId": str(ids["membership"]), **rest}
    )


async def _given_role(host: Host, who: Person, organization_id: UUID) -> Row:
    made = await _joined(host, organization_id, new_id(), M.ACTIVE)
    work = identity.working(host, organization_id)
    given = await role_assignments.give_role(work, made, role_code="approver", at=work.now)
    await work.finish()
    return given


async def _giving_permission(host: Host, who: Person, organization_id: UUID) -> Sent:
    made = await _member(M.ACTIVE)(host, who, organization_id)
    rest = filled({"permission": READ, "effect": "allow", **WHY})
    return Sent(
        {"target": made.id},
        lambda ids: {"target": {"type": "membership", "id": str(ids["target"])}, **rest},
    )


async def _given_permission(host: Host, who: Person, organization_id: UUID) -> Row:
    made: Row = await _add(
        host,
        PermissionAssignment(
            id=new_id(),
            organization_id=organization_id,
            target_type="membership",
            target_id=new_id(),
            permission=READ,
            effect="allow",
            status=AssignmentStatus.ACTIVE,
            valid_from=host.now(),
        ),
    )
    return made


MAKERS: dict[str, Maker] = {
    "list_members": of_organization,
    "ask_to_join": _asking,
    "list_memberships": of_person,
    "get_membership": _on("membershipId", _seen),
    "get_effective_permissions": _on("membershipId", _seen),
    "accept_membership": _on("membershipId", _own(M.PENDING)),
    "decline_membership": _on("membershipId", _own(M.PENDING)),
    "leave_organization": _on("membershipId", _own(M.ACTIVE)),
    "deactivate_membership": _on("membershipId", _member(M.ACTIVE), WHY),
    "reactivate_membership": _on("membershipId", _member(M.INACTIVE), WHY),
    "remove_membership": _on("membershipId", _member(M.ACTIVE), WHY),
    "invite": _inviting,
    "list_invitations": of_person,
    "inspect_invitation": _inspecting,
    "get_invitation": _on("invitationId", _invited),
    "accept_invitation": _of_letter,
    "decline_invitation": _of_letter,
    "resend_invitation": _on("invitationId", _invited),
    "revoke_invitation": _on("invitationId", _invited),
    "list_roles": of_person,
    "get_role": _on("roleId", _seen_role),
    "create_role": _making_role,
    "change_role": _changing_role,
    "activate_role": _on("roleId", _role(R.DRAFT), WHY),
    "deprecate_role": _on("roleId", _role(R.ACTIVE), WHY),
    "retire_role": _on("roleId", _role(R.DEPRECATED), WHY),
    "assign_role": _giving_role,
    "list_role_assignments": of_person,
    "revoke_role_assignment": _on("roleAssignmentId", _given_role, WHY),
    "list_permissions": of_person,
    "assign_permission": _giving_permission,
    "list_permission_assignments": of_person,
    "revoke_permission_assignment": _on("permissionAssignmentId", _given_permission, WHY),
}
