"""What callers see of a contract."""

from dataclasses import dataclass, field
from datetime import date, datetime
from decimal import Decimal
from typing import Annotated, Any, Literal
from uuid import UUID

from pydantic import Field

from thenga.domains.contract.api.proofs import ContractReferenceView
from thenga.domains.contract.lifecycles import WorkspaceLifecycle
from thenga.domains.contract.services import awards
from thenga.domains.contract.services.health import Health
from thenga.domains.contract.services.ledger import Balances
from thenga.domains.contract.tables import (
    Award,
    BuyerKind,
    ContractCategory,
    Party,
    Regime,
    Signature,
    Workspace,
    WorkspaceStatus,
)
from thenga.domains.contract.values.terms import Terms
from thenga.kernel.declare.lifecycle import AllowedMove
from thenga.kernel.http.bodies import Stored, View
from thenga.kernel.values.calendar import local_day
from thenga.kernel.values.money import Money


class CounterpartyView(View):
    """The buyer, as named in the contract."""

    name: Annotated[str, Field(description="Name of the buyer.")]
    kind: Annotated[BuyerKind, Field(description="Kind of buyer.")]
    address: Annotated[str | None, Field(description="Address for invoices.")] = None
    vat_number: Annotated[str | None, Field(description="VAT number.")] = None
    email_domain: Annotated[
        str | None, Field(description="Domain of the buyer's email addresses.")
    ] = None


class InterestTermsView(View):
    """Interest on late payment."""

    basis: Annotated[
        Literal["prescribed", "contract"], Field(description="Prescribed or contract rate.")
    ]
    rate_percent: Annotated[Decimal | None, Field(description="Contract rate in per cent.")]
    runs_from: Annotated[
        Literal["due", "demand"], Field(description="Start of interest: due date or demand.")
    ]


class AdvanceTermsView(View):
    """Advance payment."""

    percent: Annotated[Decimal, Field(description="Share of the contract value.")]
    recovery_percent: Annotated[
        Decimal, Field(description="Share of each invoice that recovers it.")
    ]


class RetentionTermsView(View):
    """Terms of retention."""

    percent: Annotated[Decimal, Field(description="Share of each invoice to retain.")]
    cap_percent: Annotated[Decimal, Field(description="Maximum share of the contract value.")]
    first_release_percent: Annotated[
        Decimal, Field(description="Share released at practical completion.")
    ]
    defects_days: Annotated[int, Field(description="Days until the rest is released.")]
    vat_timing: Annotated[
        Literal["when_due", "on_invoice"], Field(description="When VAT on retention is due.")
    ]


class PenaltyTermsView(View):
    """Penalty for late delivery."""

    percent_per_day: Annotated[Decimal | None, Field(description="Share per day of delay.")]
    amount_per_day: Annotated[Money | None, Field(description="Amount per day of delay.")]
    cap_percent: Annotated[Decimal | None, Field(description="Maximum share.")]


class SecurityTermsView(View):
    """Performance security."""

    percent: Annotated[Decimal, Field(description="Share of the contract value.")]
    due_days: Annotated[int, Field(description="Days after the award to provide it.")]


class ContractTermsView(View):
    """Terms of the contract."""

    payment_days: Annotated[int, Field(description="Payment period in days.")]
    interest: Annotated[InterestTermsView, Field(description="Interest.")]
    vat_treatment: Annotated[
        Literal["standard", "zero_rated", "non_vendor"], Field(description="How VAT is charged.")
    ]
    advance: Annotated[AdvanceTermsView, Field(description="Advance.")]
    retention: Annotated[RetentionTermsView, Field(description="Retention.")]
    penalty: Annotated[PenaltyTermsView | None, Field(description="Penalty.")]
    security: Annotated[SecurityTermsView | None, Field(description="Security.")]
    subcontract_limit_percent: Annotated[
        Decimal | None, Field(description="Maximum share that can be subcontracted.")
    ]
    claim_basis: Annotated[
        Literal["on_met", "progress"], Field(description="When a milestone can be invoiced.")
    ]
    cession: Annotated[
        Literal["unknown", "allowed", "needs_consent", "forbidden"],
        Field(description="Whether claims can be ceded to a funder."),
    ]


class ContractSignatureView(View):
    """The signature of one party."""

    party: Annotated[Party, Field(description="Party that signed.")]
    content_hash: Annotated[str, Field(description="Hash of the signed content.")]
    signed_on: Annotated[date, Field(description="Date of the signature.")]
    signed_by: Annotated[UUID | None, Field(description="Person who signed for you.")]
    confirmation_id: Annotated[
        UUID | None, Field(description="Confirmation of the buyer's signature.")
    ]
    strength: Annotated[
        str | None, Field(description="Strength of proof of the buyer's signature.")
    ]


class ContractChallengeView(View):
    """A challenge to the award or the contract."""

    since: Annotated[date, Field(description="First day of the challenge.")]
    note: Annotated[str, Field(description="Subject of the challenge.")]


class ContractMoneyView(View):
    """Amounts of the contract so far, VAT included."""

    value: Annotated[Money, Field(description="Current value.")]
    billed: Annotated[Money, Field(description="Work billed.")]
    remaining: Annotated[Money, Field(description="Work that can still be billed.")]
    advance_billed: Annotated[Money, Field(description="Advance billed.")]
    recovered: Annotated[Money, Field(description="Advance recovered.")]
    retained: Annotated[Money, Field(description="Retention so far.")]
    released: Annotated[Money, Field(description="Retention released.")]
    retention_cap: Annotated[Money, Field(description="Maximum retention.")]


class ContractHealthView(View):
    """Counts of current problems."""

    overdue_milestones: Annotated[int, Field(description="Overdue milestones.")]
    at_risk_milestones: Annotated[int, Field(description="Milestones at risk.")]
    overdue_invoices: Annotated[int, Field(description="Overdue invoices.")]
    critical_risks: Annotated[int, Field(description="Critical risks.")]


class ContractWorkspaceView(Stored):
    """A contract, as the supplier sees it."""

    organization_id: UUID
    award_id: Annotated[UUID, Field(description="Award it is based on.")]
    award_event_id: Annotated[UUID, Field(description="Event that announced the award.")]
    awarded_value: Annotated[Money | None, Field(description="Awarded value, VAT included.")]
    awarded_on: Annotated[date | None, Field(description="Date of the award.")]
    contract_number: Annotated[str, Field(description="Number of the contract.")]
    order_number: Annotated[str | None, Field(description="Buyer's order number.")]
    title: Annotated[str, Field(description="Title of the contract.")]
    category: Annotated[ContractCategory, Field(description="Category of the contract.")]
    counterparty: Annotated[CounterpartyView, Field(description="The buyer.")]
    regime: Annotated[Regime, Field(description="Law that applies to the buyer.")]
    contract_value: Annotated[Money, Field(description="Value as signed, VAT included.")]
    value_difference_reason: Annotated[
        str | None, Field(description="Reason why the value differs from the award.")
    ]
    current_value: Annotated[Money, Field(description="Value including executed variations.")]
    starts_on: Annotated[date, Field(description="First day of the contract.")]
    ends_on: Annotated[date, Field(description="Last day as signed.")]
    current_ends_on: Annotated[date, Field(description="Last day including executed variations.")]
    past_end: Annotated[bool, Field(description="Whether the last day has passed.")]
    notified_on: Annotated[date | None, Field(description="Date of the award letter.")]
    standstill_until: Annotated[
        date | None, Field(description="Last day of the stand-still period, if any.")
    ]
    document_refs: Annotated[list[ContractReferenceView], Field(description="Documents.")]
    stale_refs: Annotated[
        list[ContractReferenceView],
        Field(description="Documents that are expired or no longer valid."),
    ]
    terms: Annotated[ContractTermsView, Field(description="Terms.")]
    content_hash: Annotated[str, Field(description="Hash of the content to sign.")]
    signatures: Annotated[
        list[ContractSignatureView] | None,
        Field(description="Signatures. Null in lists."),
    ]
    challenge: Annotated[
        ContractChallengeView | None, Field(description="Current challenge, if any.")
    ]
    outcome: Annotated[
        Literal["completed", "terminated"] | None, Field(description="How the contract ended.")
    ]
    status: WorkspaceStatus
    status_reason: Annotated[str | None, Field(description="Reason for the last move.")]
    status_changed_at: Annotated[datetime | None, Field(description="Time of the last move.")]
    status_changed_by: Annotated[UUID | None, Field(description="Person who made the last move.")]
    activated_on: Annotated[date | None, Field(description="Date of activation.")]
    terminated_on: Annotated[date | None, Field(description="Date of the termination.")]
    practical_completion_on: Annotated[
        date | None, Field(description="Date of practical completion.")
    ]
    closed_on: Annotated[date | None, Field(description="Date on which it was closed.")]
    plan_number: Annotated[int, Field(description="Number of the baseline. 0 if none.")]
    money: Annotated[
        ContractMoneyView | None, Field(description="Amounts. Null in lists and before activation.")
    ]
    health: Annotated[ContractHealthView | None, Field(description="Health. Null in lists.")]
    warnings: Annotated[list[str], Field(description="Warning codes.")]
    correlation_id: Annotated[str, Field(description="Correlation ID of its events.")]
    allowed_moves: list[AllowedMove]


@dataclass(frozen=True, slots=True)
class Around:
    """What is shown beside the row of a contract."""

    award: Award
    obstacle: str | None = None  # why the contract cannot be activated yet
    signatures: list[Signature] | None = None
    money: Balances | None = None
    health: Health | None = None
    stale: list[dict[str, Any]] = field(default_factory=list)


def view_of(workspace: Workspace, around: Around, now: datetime) -> ContractWorkspaceView:
    """The contract with what belongs to it."""
    award = around.award
    more = {
        "awarded_value": awards.awarded_value(award),
        "awarded_on": award.awarded_on,
        "contract_value": Money(workspace.contract_value_minor, workspace.currency),
        "current_value": Money(workspace.current_value_minor, workspace.currency),
        "past_end": local_day(now) > workspace.current_ends_on,
        "terms": Terms.of_row(workspace.terms),
        "signatures": around.signatures,
        "money": around.money,
        "health": around.health,
        "stale_refs": around.stale,
        "allowed_moves": _allowed(workspace, around.obstacle, now),
    }
    return ContractWorkspaceView.model_validate(workspace.__dict__ | more)


def _allowed(workspace: Workspace, obstacle: str | None, now: datetime) -> list[AllowedMove]:
    """Moves of the contract. Activation also depends on its award and signatures."""
    moves = WorkspaceLifecycle.allowed(workspace, now)
    if obstacle is None:
        return moves
    blocked = AllowedMove(move="activate", possible=False, reason=obstacle)
    return [blocked if one["move"] == blocked["move"] else one for one in moves]
