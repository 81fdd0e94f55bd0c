"""Contracts: members hear what begins, is late, changes and ends; reminders follow payments."""

from datetime import timedelta
from uuid import UUID

from thenga.domains.contract import public as contract
from thenga.domains.notification.public import Target
from thenga.domains.notification.reactions.declared import reactions
from thenga.domains.notification.reactions.notifying import notify
from thenga.domains.notification.services import escalations, reminders
from thenga.kernel.db.work import Work
from thenga.kernel.declare.event import Envelope
from thenga.kernel.values.calendar import HOME_ZONE, local_midnight
from thenga.kernel.values.money import Money
from thenga.kernel.values.references import Reference

MANAGERS = Target(kind="permission", permission="contract:workspace:update")
MONEY = Target(kind="permission", permission="contract:invoice:update")
TREATERS = Target(kind="permission", permission="contract:risk:update")

_REASONS = {
    "forecast_late": "it is expected after its due date",
    "behind": "its progress is behind the plan",
    "risk": "a critical risk threatens it",
}
_AGES = {
    "days_1_30": "1 to 30 days",
    "days_31_60": "31 to 60 days",
    "days_61_90": "61 to 90 days",
    "days_91_up": "more than 90 days",
}
_STARTS = ("received", "reopened")  # what lets the clock of an invoice run


@reactions.on(contract.ContractWorkspaceOpened)
async def tell_of_contract(work: Work, event: contract.ContractWorkspaceOpened) -> None:
    """A contract was opened; those who manage contracts and their money are told."""
    await notify(
        work,
        "contract.opened",
        {
            "contract": event.label,
            "value": _amount(event.contract_value),
            "startsOn": event.starts_on.isoformat(),
            "endsOn": event.ends_on.isoformat(),
        },
        [MANAGERS, MONEY],
        _about("workspace", event.workspace_id),
        key=f"contract {event.workspace_id} opened",
    )


@reactions.on(contract.VariationExecuted)
async def tell_of_variation(work: Work, event: contract.VariationExecuted) -> None:
    """Both sides signed a variation, so that value or end changed."""
    await notify(
        work,
        "contract.variation_executed",
        {
            "variation": f"{event.number}: {event.label}",
            "value": _amount(event.current_value),
            "endsOn": event.current_ends_on.isoformat(),
        },
        [MANAGERS, MONEY],
        _about("variation", event.variation_id),
        key=f"variation {event.variation_id} executed",
    )


@reactions.on(contract.ContractRiskRaised)
async def tell_of_contract_risk(work: Work, event: contract.ContractRiskRaised) -> None:
    """A risk of a contract is high or critical, or has happened."""
    state = "It has happened" if event.materialised else f"It is {event.band}"
    await notify(
        work,
        "contract.risk_raised",
        {"risk": event.label, "state": state, "score": str(event.score)},
        [TREATERS],
        _about("risk", event.risk_id),
        key=f"risk {event.risk_id} {work.origin.causation_id}",
    )


@reactions.on(contract.ContractClosed)
async def tell_of_closed_contract(work: Work, event: contract.ContractClosed) -> None:
    """The final account is agreed."""
    await notify(
        work,
        "contract.closed",
        {
            "contract": event.title,
            "number": event.contract_number,
            "value": _amount(event.final_value),
        },
        [MANAGERS, MONEY],
        _about("workspace", event.workspace_id),
        key=f"contract {event.workspace_id} closed {event.completed_on}",
    )


@reactions.on(contract.MilestoneAtRisk)
async def escalate_milestone(work: Work, event: contract.MilestoneAtRisk) -> None:
    """A milestone that is late or will be is escalated until the buyer accepts it (NOT-41)."""
    reasons = [_REASONS[one] for one in event.reasons]
    if event.overdue:
        reasons = ["its due date has passed", *reasons]
    await escalations.open_escalation(
        work,
        key=f"milestone {event.milestone_id} {work.origin.causation_id}",
        policy_key="contract.milestone",
        about=_about("milestone", event.milestone_id),
        facts={
            "milestone": event.label,
            "dueOn": event.due_on.isoformat(),
            "reasons": " and ".join(reasons),
        },
    )


@reactions.on(contract.MilestoneReached)
async def resolve_milestone(work: Work, event: contract.MilestoneReached) -> None:
    """Nobody else is told of a milestone that is met."""
    if event.outcome == "met":
        await escalations.resolve_on_event(work, event.type, "contract", event.milestone_id)


@reactions.on(contract.InvoiceOverdue)
async def escalate_invoice(work: Work, event: contract.InvoiceOverdue) -> None:
    """An overdue invoice is escalated until it is settled (NOT-41)."""
    await escalations.open_escalation(
        work,
        key=f"overdue {event.invoice_id} {event.due_on} {event.bucket}",
        policy_key="contract.invoice",
        about=_about("invoice", event.invoice_id),
        facts={
            "number": event.number,
            "amount": _amount(event.outstanding),
            "dueOn": event.due_on.isoformat(),
            "age": _AGES[event.bucket],
        },
    )


@reactions.on(contract.PaymentRecorded)
async def resolve_invoice(work: Work, event: contract.PaymentRecorded) -> None:
    """Nobody else is told of an invoice that is settled."""
    if event.settled:
        await escalations.resolve_on_event(work, event.type, "contract", event.invoice_id)


@reactions.on_type(contract.InvoiceChanged.type)
async def follow_payment(work: Work, envelope: Envelope) -> None:
    """Reminders on a payment follow its due date; without a running clock they end (NOT-39)."""
    event = contract.InvoiceChanged.model_validate(envelope.data)
    due_at = None
    if event.due_on is not None and event.outstanding.minor:
        due_at = local_midnight(event.due_on + timedelta(days=1), HOME_ZONE)
    if due_at is not None and event.change not in _STARTS:
        return  # the clock runs as before
    await reminders.follow(
        work,
        _about("invoice", event.invoice_id),
        "payment",
        due_at=due_at,
        time_zone=HOME_ZONE,
        sequence=envelope.sequence or 0,
    )


def _about(kind: str, resource_id: UUID) -> Reference:
    return Reference(domain="contract", type=kind, id=resource_id)


def _amount(money: Money) -> str:
    return f"{money.currency} {money.amount}"
