"""Need to know: who may see a workspace, its price, and whether it can still be changed (BID-4)."""

from collections.abc import Iterable
from datetime import datetime
from enum import StrEnum
from typing import Any
from uuid import UUID

from thenga.domains.bid.lifecycles import WorkspaceLifecycle
from thenga.domains.bid.permissions import Permission
from thenga.domains.bid.tables import Workspace, WorkspaceStatus
from thenga.domains.identity import public as identity
from thenga.kernel.access import gate
from thenga.kernel.access.actors import Actor, ActorKind
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.work import Work
from thenga.kernel.errors import Conflict, Forbidden, Problem

_AFTER_SUBMISSION = frozenset(
    (
        WorkspaceStatus.SUBMITTED,
        WorkspaceStatus.AWARDED,
        WorkspaceStatus.UNSUCCESSFUL,
        WorkspaceStatus.DISQUALIFIED,
        WorkspaceStatus.WITHDRAWN,
    )
)


class Need(StrEnum):
    """What a caller needs of a workspace."""

    READ = "read"
    EDIT = "edit"
    PRICE = "price"


class BidSealed(Problem):
    """The pack of this bid is sealed. Unseal it before you change what it holds."""

    code, status, title = "bid-sealed", 409, "The pack is sealed"


class BidAlreadySubmitted(Problem):
    """This bid was submitted. What it holds cannot be changed."""

    code, status, title = "bid-submitted", 409, "The bid was submitted"


async def workspace_for(work: Work, workspace_id: UUID, *needs: Need) -> Workspace:
    """The workspace, locked beside the caller's own row, for somebody who needs to know."""
    found = await work.lock(Workspace, workspace_id, beside=True)
    check_needs(work, found, needs)
    return found


async def seen_workspace(read: Reader, workspace_id: UUID, *needs: Need) -> Workspace:
    """As `workspace_for`, without a lock."""
    found = await read.get(Workspace, workspace_id)
    check_needs(read, found, needs)
    return found


def check_needs(read: Reader, workspace: Workspace, needs: Iterable[Need]) -> None:
    """Refuse whoever need not know, and edits of what was sealed or handed in."""
    if not is_in_team(read, workspace):
        raise _refused(read, "not_in_team", "Ask the bid manager to add you to the team.")
    if Need.PRICE in needs and not has_price(read, workspace):
        raise _refused(read, "price_withheld", "Ask the bid manager to let you see prices.")
    if Need.EDIT in needs:
        check_open(workspace, read.now)


def is_in_team(read: Reader, workspace: Workspace) -> bool:
    """Whether the caller may see more than the card. Keys act for the organization itself."""
    if workspace.access == "organization" or read.actor.kind is not ActorKind.USER:
        return True
    return read.actor.id == workspace.bid_manager_user_id or str(read.actor.id) in workspace.team


def has_price(read: Reader, workspace: Workspace) -> bool:
    """Whether the caller may see prices; the permission is asked for beside it."""
    if read.actor.kind is not ActorKind.USER:
        return True
    return may_see_price(workspace, read.actor.id)


def may_see_price(workspace: Workspace, user_id: UUID | None) -> bool:
    """Whether a person may see prices of a workspace."""
    if user_id == workspace.bid_manager_user_id:
        return True
    return bool(workspace.team.get(str(user_id), {}).get("price"))


def is_manager(read: Reader, workspace: Workspace) -> bool:
    """Whether the caller leads the bid; a machine of ours may do what the manager may."""
    if read.actor.kind is not ActorKind.USER:
        return read.actor.kind is not ActorKind.API_KEY
    entry: dict[str, Any] = workspace.team.get(str(read.actor.id), {})
    return read.actor.id == workspace.bid_manager_user_id or "lead" in entry.get("roles", ())


def check_open(workspace: Workspace, now: datetime) -> None:
    """Refuse to change what is sealed, handed in or over."""
    status = status_at(workspace, now)
    if status is WorkspaceStatus.READY:
        raise BidSealed()
    if status in _AFTER_SUBMISSION:
        raise BidAlreadySubmitted()
    if status not in WorkspaceLifecycle.BEFORE_SUBMISSION:
        raise Conflict(f"This bid is {status.value.replace('_', ' ')}; nothing in it changes.")


def status_at(workspace: Workspace, now: datetime) -> WorkspaceStatus:
    """The status by the clock: after the closing an unsubmitted bid has lapsed."""
    closed = workspace.gate_at is not None and now >= workspace.gate_at
    if closed and workspace.status in WorkspaceLifecycle.BEFORE_SUBMISSION:
        return WorkspaceStatus.LAPSED
    return workspace.status


def person_of(read: Reader) -> UUID | None:
    """The person who acts, or nobody where a key or a machine does."""
    return read.actor.id if read.actor.kind is ActorKind.USER else None


async def holds(read: Reader, permission: Permission) -> bool:
    """Whether whoever acts holds a further permission."""
    return (await _ask(read, permission)).decision == "allow"


async def demand(read: Reader, permission: Permission) -> None:
    """Refuse whoever does not hold a further permission, as the entrance of a route would."""
    decided = await _ask(read, permission)
    if decided.decision != "allow":
        refusal = gate.Refusal(
            reason_code=decided.reason_code,
            remedy=decided.remedy,
            decision_id=decided.decision_id,
        )
        raise gate.problem_of(refusal, permission)


async def sees_price(read: Reader, workspace: Workspace) -> bool:
    """Whether the caller has the mark `price` in the team, and the permission."""
    return has_price(read, workspace) and await holds(read, Permission.PRICING_READ)


async def _ask(read: Reader, permission: Permission) -> identity.Decision:
    return await read.port(identity.Decisions).check(
        actor=_reference(read.actor),
        organization_id=read.organization_id,
        action=permission,
        resource=identity.ResourceRef(type="bid.workspace"),
        channel="http",
        request_id=read.origin.request_id,
    )


def _reference(actor: Actor) -> identity.ActorRef:
    if actor.id is None:
        raise LookupError("nobody acts in this unit of work")
    by_key = actor.kind is ActorKind.API_KEY
    return identity.ActorRef(
        type="api_key" if by_key else "user", id=actor.id, session_id=actor.session_id
    )


def _refused(read: Reader, reason: str, detail: str) -> Forbidden:
    return Forbidden(detail, action=read.origin.action, reasonCode=reason)
