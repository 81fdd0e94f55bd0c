"""What Contract tells of awards and workspaces."""

from datetime import date
from uuid import UUID

from pydantic import Field

from thenga.kernel.declare.event import Event
from thenga.kernel.values.money import Money


class AwardRecorded(Event, type="contract.AwardRecorded.v1", subject="award_id"):
    """An award or the creation of a contract was stored; a workspace can be opened from it."""

    organization_id: UUID
    award_id: UUID
    workspace_id: UUID | None
    event_id: UUID
    kind: str
    outcome_id: UUID
    revision_of: UUID | None
    awarded_value: Money | None


class ContractWorkspaceOpened(
    Event, type="contract.ContractWorkspaceOpened.v1", subject="workspace_id"
):
    """A contract is kept from now on; it is not in force yet."""

    organization_id: UUID
    workspace_id: UUID
    label: str
    award_event_id: UUID
    bid_workspace_id: UUID
    tender_opportunity_id: UUID | None
    contract_value: Money
    category: str
    regime: str
    starts_on: date
    ends_on: date


class ContractStateChanged(Event, type="contract.ContractStateChanged.v1", subject="workspace_id"):
    """A contract was activated, suspended, resumed, cancelled, terminated or challenged."""

    organization_id: UUID
    workspace_id: UUID
    previous: str = Field(validation_alias="from", serialization_alias="from")
    to: str
    reason_code: str | None
    challenged: bool
    current_value: Money
    current_ends_on: date


class ContractClosed(Event, type="contract.ContractClosed.v1", subject="workspace_id"):
    """The final account is agreed and the contract is closed."""

    organization_id: UUID
    workspace_id: UUID
    contract_number: str
    title: str
    buyer_name: str
    final_value: Money
    started_on: date
    completed_on: date
    outcome: str
    tender_opportunity_id: UUID | None


EVENTS = (AwardRecorded, ContractWorkspaceOpened, ContractStateChanged, ContractClosed)
