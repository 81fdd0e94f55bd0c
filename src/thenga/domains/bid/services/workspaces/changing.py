"""Changes of a workspace's own fields: title, manager, access, team, bidders (BID-4)."""

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from sqlalchemy import func, literal, or_, select

from thenga.domains.bid.permissions import Permission
from thenga.domains.bid.services.workspaces.access import demand, is_in_team
from thenga.domains.bid.services.workspaces.people import check_members
from thenga.domains.bid.tables import Workspace
from thenga.kernel.db.rows import merge_patch
from thenga.kernel.db.work import Work
from thenga.kernel.errors import RuleViolated

MOST_IN_TEAM = 50
MOST_BIDDERS = 8
GOVERNED = frozenset(("team", "bid_manager_user_id", "access"))
_LEAD = "lead"


def team_of(given: Mapping[str, Any], manager: UUID | None) -> dict[str, Any]:
    """The team with its manager, who always leads and sees prices."""
    team = {key: entry for key, entry in given.items() if entry is not None}
    if manager is not None:
        known = team.get(str(manager), {})
        roles = sorted({*known.get("roles", ()), _LEAD})
        team[str(manager)] = {"roles": roles, "price": True}
    if len(team) > MOST_IN_TEAM:
        raise RuleViolated(
            f"A team can have at most {MOST_IN_TEAM} people.", rule="BID-4", limit=MOST_IN_TEAM
        )
    return team


def bidders_of(given: Mapping[str, Any] | None, organization_id: UUID) -> dict[str, Any]:
    """Who bids together; the organization alone, unless others are named."""
    named = {key: entry for key, entry in (given or {}).items() if entry is not None}
    if not named:
        ref = {"domain": "organization", "type": "organization", "id": str(organization_id)}
        return {"own": {"lead": True, "ref": ref, "name": None, "sharePercent": "100.00"}}
    if len(named) > MOST_BIDDERS:
        raise RuleViolated(
            f"At most {MOST_BIDDERS} bidders can bid together.", rule="BID-6", limit=MOST_BIDDERS
        )
    if sum(bool(entry["lead"]) for entry in named.values()) != 1:
        raise RuleViolated("Exactly one bidder must be the lead.", rule="BID-6", field="bidders")
    return named


async def change(work: Work, workspace: Workspace, fields: dict[str, Any]) -> None:
    """Change the fields that were sent; whoever is not in the team may only govern it."""
    outside = not is_in_team(work, workspace)
    if outside and fields.keys() - GOVERNED:
        raise RuleViolated(
            "You are not in the team, so you can change only team, manager and access.",
            rule="BID-4",
            keys=sorted(fields.keys() - GOVERNED),
        )
    if outside:
        await demand(work, Permission.WORKSPACE_GOVERN)
    if GOVERNED & fields.keys():
        await _check_people(work, workspace, fields)
        manager = fields.get("bid_manager_user_id", workspace.bid_manager_user_id)
        fields["team"] = team_of(workspace.team | fields.get("team", {}), manager)
    if "bidders" in fields:
        merged = workspace.bidders | (fields["bidders"] or {})
        fields["bidders"] = bidders_of(merged, work.organization_id)
    merge_patch(workspace, fields)
    await work.save(workspace)


async def _check_people(work: Work, workspace: Workspace, fields: dict[str, Any]) -> None:
    named = [UUID(key) for key, entry in fields.get("team", {}).items() if entry is not None]
    new = [one for one in named if str(one) not in workspace.team]
    await check_members(work, [*new, fields.get("bid_manager_user_id")])


async def release_person(work: Work, user_id: UUID) -> None:
    """Take somebody who is no member any more out of every team."""
    statement = select(Workspace).where(
        or_(
            Workspace.bid_manager_user_id == user_id,
            func.jsonb_exists(Workspace.team, literal(str(user_id))),
        )
    )
    for found in await work.all(statement, limit=10_000):
        workspace = await work.hold(found)
        workspace.team = {key: one for key, one in workspace.team.items() if key != str(user_id)}
        if workspace.bid_manager_user_id == user_id:
            workspace.bid_manager_user_id = None
        await work.save(workspace)
