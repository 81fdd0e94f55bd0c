"""Contracts: opening, signatures, activation, and who may write to one (CON-2 to 6, 44)."""

from thenga.domains.contract.services.workspaces.access import (
    ContractOver,
    active_workspace_for,
    carry_correlation,
    check_currency,
    seen_workspace,
    workspace_for,
)
from thenga.domains.contract.services.workspaces.changes import (
    NeedsVariation,
)
from thenga.domains.contract.services.workspaces.confirmations import (
    ConfirmationMissing,
    Proof,
    Subject,
    confirm,
    record_reference_state,
    stale_references,
)
from thenga.domains.contract.services.workspaces.moving import (
    Challenged,
    NotReady,
    SignatureMissing,
    Standstill,
    WorkspaceMove,
    activation_obstacles,
    challenge_by_award,
    change_workspace,
    save_moved,
)
from thenga.domains.contract.services.workspaces.opening import (
    AwardWithdrawn,
    ContractFields,
    apply_revision,
    meter,
    meter_workspace,
    open_workspace,
    usage_of,
)
from thenga.domains.contract.services.workspaces.queries import (
    WorkspaceFilters,
    awards_of,
    list_workspaces,
)
from thenga.domains.contract.services.workspaces.rights import demand, sole_holder
from thenga.domains.contract.services.workspaces.rules import (
    folded,
    standstill_ends_at,
    standstill_of,
)
from thenga.domains.contract.services.workspaces.signatures import (
    live_signatures,
    sign,
    void_signatures,
)

__all__ = [
    "AwardWithdrawn",
    "Challenged",
    "ConfirmationMissing",
    "ContractFields",
    "ContractOver",
    "NeedsVariation",
    "NotReady",
    "Proof",
    "SignatureMissing",
    "Standstill",
    "Subject",
    "WorkspaceFilters",
    "WorkspaceMove",
    "activation_obstacles",
    "active_workspace_for",
    "apply_revision",
    "awards_of",
    "carry_correlation",
    "challenge_by_award",
    "change_workspace",
    "check_currency",
    "confirm",
    "demand",
    "folded",
    "list_workspaces",
    "live_signatures",
    "meter",
    "meter_workspace",
    "open_workspace",
    "record_reference_state",
    "save_moved",
    "seen_workspace",
    "sign",
    "sole_holder",
    "stale_references",
    "standstill_ends_at",
    "standstill_of",
    "usage_of",
    "void_signatures",
    "workspace_for",
]
