"""Changing what a contract says: freely while it is pending, by variation from then on (CON-6)."""

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from thenga.domains.contract.services.workspaces.access import checked
from thenga.domains.contract.services.workspaces.opening import (
    check_dates,
    check_difference,
    hash_content,
)
from thenga.domains.contract.services.workspaces.rules import folded, regime_of, standstill_of
from thenga.domains.contract.services.workspaces.signatures import void_signatures
from thenga.domains.contract.tables import Award, BuyerKind, Workspace, WorkspaceStatus
from thenga.domains.contract.values.terms import Terms
from thenga.kernel.db import configuration
from thenga.kernel.db.rows import merge_patch
from thenga.kernel.db.work import Work
from thenga.kernel.declare.law import APPEAL_DAYS
from thenga.kernel.errors import Duplicate, Problem, extensions
from thenga.kernel.values.money import Money

# What stays editable while a contract is in force; of the buyer, all but name and kind.
_ALWAYS = {"title", "order_number", "document_refs", "counterparty"}
_AGREED_OF_BUYER = ("name", "kind")


class NeedsVariation(Problem):
    """Only an executed variation can change the value, dates and terms of an active contract.

    Draft one with `POST /contracts/workspaces/{workspaceId}/variations`. `fields` lists what
    cannot be changed here.
    """

    code, status, title = "contract-needs-variation", 409, "This needs a variation"
    members = extensions(fields=(list[str], "Fields that only a variation can change."))


async def lock_to_change(work: Work, workspace_id: UUID) -> Workspace:
    """The contract, locked as what the caller speaks of: `If-Match` is its version."""
    return checked(work, await work.lock(Workspace, workspace_id))


async def apply_fields(work: Work, workspace: Workspace, fields: Mapping[str, Any]) -> None:
    """Set what a caller sent; what was signed before a change of the content is void."""
    if not fields:
        return
    if workspace.status is not WorkspaceStatus.PENDING:
        _refuse_agreed(workspace, fields)
        merge_patch(workspace, fields)
        return
    values = dict(fields)
    value: Money | None = values.pop("value", None)
    terms: Terms | None = values.pop("terms", None)
    if value is not None:
        values |= {
            "contract_value_minor": value.minor,
            "current_value_minor": value.minor,
            "currency": value.currency,
        }
    if terms is not None:
        values["terms"] = terms.to_row()
    merge_patch(workspace, values)
    workspace.current_ends_on = workspace.ends_on
    check_dates(workspace.starts_on, workspace.ends_on)
    await _follow_counterparty(work, workspace)
    award = await work.get(Award, workspace.award_id)
    agreed = Money(workspace.contract_value_minor, workspace.currency)
    check_difference(award, agreed, workspace.value_difference_reason)
    told_on = workspace.notified_on or award.awarded_on
    appeal_days = await configuration.value(work, APPEAL_DAYS)
    workspace.standstill_until = standstill_of(workspace.regime, told_on, appeal_days)
    content = hash_content(workspace)
    if content != workspace.content_hash:
        workspace.content_hash = content
        await void_signatures(work, workspace.id)


async def _follow_counterparty(work: Work, workspace: Workspace) -> None:
    """What follows from the buyer's name and kind; its contract number is used once."""
    workspace.counterparty_kind = BuyerKind(workspace.counterparty["kind"])
    workspace.counterparty_key = folded(workspace.counterparty["name"])
    workspace.regime = regime_of(workspace.counterparty_kind)
    same = await work.find(
        Workspace,
        counterparty_key=workspace.counterparty_key,
        contract_number=workspace.contract_number,
    )
    if same is not None and same.id != workspace.id:
        raise Duplicate(existing={"id": str(same.id)}, field="contractNumber")


def _refuse_agreed(workspace: Workspace, fields: Mapping[str, Any]) -> None:
    refused = sorted(set(fields) - _ALWAYS)
    buyer = fields.get("counterparty")
    if buyer is not None:
        refused += [
            f"counterparty.{name}"
            for name in _AGREED_OF_BUYER
            if buyer[name] != workspace.counterparty[name]
        ]
    if refused:
        raise NeedsVariation(fields=[_WIRE.get(name, name) for name in refused])


_WIRE = {
    "contract_number": "contractNumber",
    "category": "category",
    "value": "contractValue",
    "value_difference_reason": "valueDifferenceReason",
    "starts_on": "startsOn",
    "ends_on": "endsOn",
    "notified_on": "notifiedOn",
    "terms": "terms",
}
