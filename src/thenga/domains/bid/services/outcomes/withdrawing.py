"""Withdrawing a bid that was submitted (BID-53)."""

from uuid import UUID

from thenga.domains.bid import public
from thenga.domains.bid.lifecycles import WorkspaceLifecycle
from thenga.domains.bid.services import workspaces
from thenga.domains.bid.tables import BidFile, Workspace, WorkspaceStatus
from thenga.kernel.db.work import Work
from thenga.kernel.errors import RuleViolated
from thenga.kernel.files import contents

_RULE = "BID-53"


async def withdraw(
    work: Work,
    workspace: Workspace,
    *,
    reason: str | None,
    file_id: UUID | None,
    accept_consequences: bool,
) -> None:
    """Take a bid back, with a reason and the letter; after the closing at the bidder's risk."""
    if workspace.status is WorkspaceStatus.SUBMITTED:
        letter = _letter(reason, file_id)
        is_closed = workspace.gate_at is not None and work.now >= workspace.gate_at
        if is_closed and not accept_consequences:
            raise RuleViolated(
                "After the closing the offer is binding and withdrawal can lead to restriction. "
                "Send `acceptConsequences: true` to withdraw anyway.",
                rule=_RULE,
                field="acceptConsequences",
            )
        file = await work.get(BidFile, letter)
        if file.workspace_id != workspace.id:
            raise RuleViolated("The file does not belong to this bid.", rule=_RULE, field="fileId")
        contents.clean(file)
    made = await workspaces.move(
        work, workspace, WorkspaceLifecycle.withdraw, code="withdrawn", text=reason
    )
    if made:
        work.publish(
            public.BidWithdrawn(
                **workspaces.told_of(workspace),
                reason_code="withdrawn",
            )
        )


def _letter(reason: str | None, file_id: UUID | None) -> UUID:
    if reason is None or file_id is None:
        raise RuleViolated(
            "Send the reason for the withdrawal and the file of the letter.",
            rule=_RULE,
            missing=["reason"] * (reason is None) + ["fileId"] * (file_id is None),
        )
    return file_id
