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
from thenga.kernel.access.actors import ActorKind
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
    """The bid cannot be changed while its pack is sealed. Unseal the pack first."""

    code, status, title = "bid-sealed", 409, "The pack is sealed"


class BidAlreadySubmitted(Problem):
    """The content of a bid cannot be changed after submission."""

    code, status, title = "bid-submitted", 409, "This bid was already submitted"


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
    """Refuse whoever need not know, and edits of what was sealed or submitted."""
    if not is_in_team(read, workspace):
        raise _refused(
            read,
            "not_in_team",
            "You are not in the team of this bid. Ask the bid manager to add you.",
        )
    if Need.PRICE in needs and not has_price(read, workspace):
        raise _refused(
            read,
            "price_withheld",
            "You cannot see prices of this bid. Ask the bid manager for access.",
        )
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
    """Refuse to change what is sealed, submitted or over."""
    status = status_at(workspace, now)
    if status is WorkspaceStatus.READY:
        raise BidSealed()
    if status in _AFTER_SUBMISSION:
        raise BidAlreadySubmitted()
    if status not in WorkspaceLifecycle.BEFORE_SUBMISSION:
        raise Conflict(
            f"The status of this bid is {status.value.replace('_', ' ')}, so it cannot be changed."
        )


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
    return await identity.holds(read, permission, on="bid.workspace")


async def demand(read: Reader, permission: Permission) -> None:
    """Refuse whoever does not hold a further permission."""
    await identity.demand(read, permission, on="bid.workspace")


async def sees_price(read: Reader, workspace: Workspace) -> bool:
    """Whether the caller has the mark `price` in the team, and the permission."""
    return has_price(read, workspace) and await holds(read, Permission.PRICING_READ)


def _refused(read: Reader, reason: str, detail: str) -> Forbidden:
    return Forbidden(detail, action=read.origin.action, reasonCode=reason)
