"""Opening a contract from an award, once for each outcome (CON-2, CON-4)."""

from dataclasses import dataclass, replace
from datetime import date
from typing import Any
from uuid import UUID

from sqlalchemy import func, select

from thenga.domains.billing.public import UsageEntry, check_room
from thenga.domains.contract import public
from thenga.domains.contract.lifecycles import WorkspaceLifecycle
from thenga.domains.contract.services import awards
from thenga.domains.contract.services.workspaces.access import carry_correlation
from thenga.domains.contract.services.workspaces.rules import (
    folded,
    regime_of,
    signed_content,
    standstill_of,
)
from thenga.domains.contract.tables import (
    Award,
    BuyerKind,
    ContractCategory,
    Workspace,
    WorkspaceStatus,
)
from thenga.domains.contract.values.refusals import invalid, missing
from thenga.domains.contract.values.terms import Terms
from thenga.kernel.db import configuration
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.statements import among
from thenga.kernel.db.work import Work
from thenga.kernel.declare.job import Form, job_stub
from thenga.kernel.declare.law import APPEAL_DAYS, PAY_DAYS
from thenga.kernel.errors import Duplicate, Problem
from thenga.kernel.values.money import Money

FEATURE = "contract.workspaces"
AWARD_REVISED = "award_revised"
_OPEN = tuple(one for one in WorkspaceStatus if one not in WorkspaceLifecycle.OVER)

meter_workspace = job_stub(
    "contract.meter_workspace", form=Form.OUTSIDE, key="{workspace_id}:{occasion}"
)


class AwardWithdrawn(Problem):
    """This award was set aside in Bid, so it cannot lead to a contract.

    If the buyer has made a new award, record the new outcome in Bid.
    """

    code, status, title = "contract-award-withdrawn", 409, "This award was set aside"


@dataclass(frozen=True, slots=True)
class ContractFields:
    """What a person says of a contract; everything else follows from the award."""

    contract_number: str
    title: str
    category: str
    counterparty: dict[str, Any]
    value: Money
    starts_on: date
    ends_on: date
    terms: Terms | None
    order_number: str | None = None
    value_difference_reason: str | None = None
    notified_on: date | None = None
    document_refs: tuple[dict[str, Any], ...] = ()


async def open_workspace(work: Work, award_event_id: UUID, given: ContractFields) -> Workspace:
    """Open a contract. The award says where it comes from, a person says what was agreed."""
    award = await awards.lock_award(work, award_event_id)
    if awards.is_withdrawn(award):
        raise AwardWithdrawn()
    await _refuse_second(work, award)
    await _refuse_number(work, folded(given.counterparty["name"]), given.contract_number)
    check_dates(given.starts_on, given.ends_on)
    check_difference(award, given.value, given.value_difference_reason)
    days = await configuration.value(work, PAY_DAYS)
    appeal_days = await configuration.value(work, APPEAL_DAYS)
    await check_room(work, FEATURE, await _count_open(work))
    given = replace(given, terms=given.terms or Terms(payment_days=days))
    workspace = await work.add(_row(award, given, appeal_days))
    await awards.mark_opened(work, award, workspace)
    carry_correlation(work, workspace)
    meter(work, workspace, "hold")
    work.publish(
        public.ContractWorkspaceOpened(
            organization_id=workspace.organization_id,
            workspace_id=workspace.id,
            label=workspace.title,
            award_event_id=award.event_id,
            bid_workspace_id=award.bid_workspace_id,
            tender_opportunity_id=award.tender_opportunity_id,
            contract_value=given.value,
            category=workspace.category.value,
            regime=workspace.regime.value,
            starts_on=workspace.starts_on,
            ends_on=workspace.ends_on,
        )
    )
    return workspace


async def apply_revision(work: Work, award: Award) -> None:
    """A later revision of an outcome never opens a second contract (CON-2).

    A pending contract rests on the newest award from now on; one that is in force is marked.
    """
    found = await workspace_of_outcome(work, award.source_domain, award.outcome_id)
    if found is None:
        return
    workspace = await work.hold(found)
    if workspace.status is WorkspaceStatus.PENDING:
        appeal_days = await configuration.value(work, APPEAL_DAYS)
        workspace.award_id, workspace.award_event_id = award.id, award.event_id
        told_on = workspace.notified_on or award.awarded_on
        workspace.standstill_until = standstill_of(workspace.regime, told_on, appeal_days)
    elif AWARD_REVISED not in workspace.warnings:
        workspace.warnings = [*workspace.warnings, AWARD_REVISED]
    await work.save(workspace)
    await awards.mark_opened(work, await work.hold(award), workspace)


async def workspace_of_outcome(
    read: Reader, source_domain: str, outcome_id: UUID
) -> Workspace | None:
    """The contract of an outcome that was not cancelled."""
    statement = (
        select(Workspace)
        .where(Workspace.source_domain == source_domain)
        .where(Workspace.outcome_id == outcome_id)
        .where(Workspace.status != WorkspaceStatus.CANCELLED)
    )
    return next(iter(await read.all(statement, limit=1)), None)


async def usage_of(read: Reader, workspace_id: UUID, occasion: str) -> UsageEntry:
    """What Billing is told: an open contract holds one place of the plan (CON-48)."""
    workspace = await read.get(Workspace, workspace_id)
    operation, _, later = occasion.partition(":")
    return UsageEntry(
        meter=FEATURE,
        key=f"{workspace_id}:{occasion}",
        quantity=1,
        occurred_at=workspace.updated_at if later else workspace.created_at,
        subject={"domain": "contract", "type": "workspace", "id": str(workspace_id)},
        operation="hold" if operation == "hold" else "release",
    )


def meter(work: Work, workspace: Workspace, operation: str) -> None:
    """Have Billing told that a place of the plan is held or released; once for each change."""
    occasion = operation if workspace.version == 1 else f"{operation}:{workspace.version}"
    work.enqueue(meter_workspace, workspace_id=workspace.id, occasion=occasion)


def hash_content(workspace: Workspace) -> str:
    """The hash that both sides sign."""
    return awards.hash_of(
        signed_content(
            contract_number=workspace.contract_number,
            title=workspace.title,
            category=workspace.category,
            counterparty=workspace.counterparty,
            value=Money(workspace.contract_value_minor, workspace.currency),
            days=(workspace.starts_on, workspace.ends_on),
            terms=workspace.terms,
        )
    )


def check_difference(award: Award, value: Money, reason: str | None) -> None:
    """A value other than the awarded one needs a reason (CON-4)."""
    awarded = awards.awarded_value(award)
    if awarded is not None and awarded != value and not reason:
        detail = f"The award is for {awarded}. Say why the contract value differs."
        raise missing("/valueDifferenceReason", detail)


def check_dates(starts_on: date, ends_on: date) -> None:
    if ends_on < starts_on:
        raise invalid(
            "/endsOn", "The contract ends before it starts. Choose a later end date.", "order"
        )


async def _refuse_second(work: Work, award: Award) -> None:
    """One contract for each award, and one for each outcome."""
    found = await workspace_of_outcome(work, award.source_domain, award.outcome_id)
    existing = found.id if found is not None else award.workspace_id
    if existing is not None:
        raise Duplicate(
            "A contract has already been opened from this award.", existing={"id": str(existing)}
        )


async def _refuse_number(work: Work, buyer: str, number: str) -> None:
    same = await work.find(Workspace, counterparty_key=buyer, contract_number=number)
    if same is not None:
        raise Duplicate(existing={"id": str(same.id)}, field="contractNumber")


async def _count_open(work: Work) -> int:
    statement = (
        select(func.count())
        .select_from(Workspace)
        .where(Workspace.organization_id == work.organization_id)
        .where(among(Workspace.status, _OPEN))
    )
    return await work.value(statement) or 0


def _row(award: Award, given: ContractFields, appeal_days: int) -> Workspace:
    assert given.terms is not None  # noqa: S101  # set by the caller
    regime = regime_of(given.counterparty["kind"])
    told_on = given.notified_on or award.awarded_on
    workspace = Workspace(
        organization_id=award.organization_id,
        award_id=award.id,
        award_event_id=award.event_id,
        source_domain=award.source_domain,
        outcome_id=award.outcome_id,
        contract_number=given.contract_number,
        order_number=given.order_number,
        title=given.title,
        category=ContractCategory(given.category),
        counterparty=given.counterparty,
        counterparty_key=folded(given.counterparty["name"]),
        counterparty_kind=BuyerKind(given.counterparty["kind"]),
        regime=regime,
        currency=given.value.currency,
        contract_value_minor=given.value.minor,
        value_difference_reason=given.value_difference_reason,
        starts_on=given.starts_on,
        ends_on=given.ends_on,
        notified_on=given.notified_on,
        standstill_until=standstill_of(regime, told_on, appeal_days),
        document_refs=list(given.document_refs),
        terms=given.terms.to_row(),
        content_hash="",
        current_value_minor=given.value.minor,
        current_ends_on=given.ends_on,
        warnings=[],
        correlation_id=award.correlation_id,
    )
    workspace.content_hash = hash_content(workspace)
    return workspace
