"""People whom a workspace names: active members, asked of Identity (BID-9)."""

from collections.abc import Iterable
from uuid import UUID

from thenga.domains.bid.services.workspaces.access import may_see_price
from thenga.domains.bid.tables import Workspace
from thenga.domains.identity.public import People
from thenga.kernel.db.reader import Reader
from thenga.kernel.errors import DependencyUnavailable, Problem, extensions
from thenga.kernel.ports.binding import Unbound, within

_USERS = (list[str], "Refused user IDs.")


class BidPersonUnknown(Problem):
    """Only active members of the organization can work on a bid. Invite these people first."""

    code, status, title = "bid-person-unknown", 422, "This person is not an active member"
    members = extensions(userIds=_USERS)


class BidPersonNotInTeam(Problem):
    """You named people who cannot see this. Add them to the team, with `price` for prices."""

    code, status, title = "bid-person-not-in-team", 422, "This person is not in the team"
    members = extensions(userIds=_USERS)


async def check_members(read: Reader, user_ids: Iterable[UUID | None]) -> None:
    """Refuse who is no active member; asked before the first write, in one question."""
    asked = {one for one in user_ids if one is not None and one != read.actor.id}
    if not asked:
        return
    port = _people(read)
    cards = await within(port.port_timeout, port.port_name, port.describe(user_ids=sorted(asked)))
    known = {
        card.user_id
        for card in cards
        if card.status == "active" and read.organization_id in card.organization_ids
    }
    if asked - known:
        raise BidPersonUnknown(userIds=sorted(map(str, asked - known)))


def check_team(
    workspace: Workspace, user_ids: Iterable[UUID | None], *, price: bool = False
) -> None:
    """Refuse who does not see the workspace, or its price where that is the subject."""
    outside = [
        one
        for one in user_ids
        if one is not None
        and not (_sees(workspace, one) and (not price or may_see_price(workspace, one)))
    ]
    if outside:
        raise BidPersonNotInTeam(userIds=sorted(map(str, outside)))


async def check_assignees(
    read: Reader, workspace: Workspace, user_ids: Iterable[UUID | None]
) -> None:
    """Owners and reviewers are active members, and in the team where only that has access."""
    wanted = list(user_ids)
    check_team(workspace, wanted)
    await check_members(read, wanted)


def _sees(workspace: Workspace, user_id: UUID) -> bool:
    if workspace.access == "organization" or user_id == workspace.bid_manager_user_id:
        return True
    return str(user_id) in workspace.team


def _people(read: Reader) -> People:
    try:
        return read.port(People)
    except Unbound:
        raise DependencyUnavailable(dependency=People.port_name) from None
