"""The requirement matrix: one row for each requirement of the tender, and its coverage."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any
from uuid import UUID

from sqlalchemy import select

from thenga.domains.bid import public
from thenga.domains.bid.services import workspaces
from thenga.domains.bid.services.proposals import evidence
from thenga.domains.bid.services.proposals.coverage import (
    LEAST_JUSTIFICATION,
    Answer,
    AtClosing,
    Coverage,
    RowState,
    at_closing,
    coverage,
    state_of,
)
from thenga.domains.bid.services.workspaces import Need
from thenga.domains.bid.settings import MATRIX_WEIGHTS
from thenga.domains.bid.tables import EvidenceRef, MatrixRow, SbdForm, Section, Workspace
from thenga.domains.opportunity.public import Tender, TenderRequirement
from thenga.kernel.db import configuration
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.rows import merge_patch
from thenga.kernel.db.statements import among
from thenga.kernel.db.work import Work
from thenga.kernel.errors import Problem, RuleViolated, StaleVersion, extensions
from thenga.kernel.values.calendar import local_day

MOST_ROWS = 500
_RULE = "BID-16"


class BidJustificationRequired(Problem):
    """To answer `not_applicable`, send a `justification` of at least 20 characters."""

    code, status, title = "bid-justification-required", 422, "A justification is required"
    members = extensions(keys=(list[str], "IDs of the requirements."))


@dataclass(frozen=True, slots=True)
class CitedEvidence:
    """Evidence of a row and its validity on the closing date."""

    evidence_id: UUID
    at_closing: AtClosing
    valid_until: date | None
    sha256: str | None


@dataclass(frozen=True, slots=True)
class MatrixState:
    """A row with its evidence and its state."""

    row: MatrixRow
    evidence: tuple[CitedEvidence, ...]
    state: RowState


async def add_rows(work: Work, workspace: Workspace, tender: Tender) -> None:
    """A row for each requirement of the tender, when a workspace is opened."""
    for requirement in tender.requirements[:MOST_ROWS]:
        await add_row(work, workspace, requirement)


async def add_row(work: Work, workspace: Workspace, requirement: TenderRequirement) -> MatrixRow:
    """A row without an answer."""
    row = MatrixRow(
        organization_id=work.organization_id,
        workspace_id=workspace.id,
        requirement_id=requirement.id,
        section_ids=[],
        form_ids=[],
        evidence_ids=[],
        **requirement_fields(requirement),
        requirement_as_of=work.now,
    )
    return await work.add(row)


def requirement_fields(requirement: TenderRequirement) -> dict[str, Any]:
    """What is kept of a requirement (BID-3)."""
    return {
        "requirement_version": requirement.version,
        "requirement_class": requirement.requirement_class,
        "requirement_kind": requirement.kind,
        "requirement_code": requirement.code,
        "requirement_weight": requirement.weight,
        "requirement_label": requirement.label,
        "needs_evidence": bool(requirement.evidence_kinds),
    }


async def rows_of(read: Reader, workspace_id: UUID) -> list[MatrixRow]:
    """Every row of a workspace, in the order of its requirements."""
    statement = select(MatrixRow).where(MatrixRow.workspace_id == workspace_id)
    return await read.all(statement.order_by(MatrixRow.id), limit=2 * MOST_ROWS)


async def matrix_of(read: Reader, workspace_id: UUID) -> list[MatrixState]:
    """The rows with their states, by what is stored of their evidence."""
    workspace = await read.get(Workspace, workspace_id)
    rows = await rows_of(read, workspace_id)
    return lay_out(rows, await evidence.cited(read, workspace_id), closing_on(workspace))


async def live_matrix(read: Reader, workspace: Workspace) -> tuple[list[MatrixState], Coverage]:
    """The rows and coverage by what Compliance says now; silence makes evidence unknown."""
    rows = await rows_of(read, workspace.id)
    cited = await evidence.cited(read, workspace.id)
    resolved = await evidence.resolve_evidence(read, [one.evidence_id for one in cited])
    for one in cited:
        said = None if resolved is None else resolved.get(one.evidence_id)
        one.state = "unknown" if said is None else said.state
        one.valid_until = None if said is None else said.valid_until
    states = lay_out(rows, cited, closing_on(workspace))
    return states, await coverage_of(read, states)


def lay_out(
    rows: Iterable[MatrixRow], cited: Iterable[EvidenceRef], closing: date | None
) -> list[MatrixState]:
    """Rows with their evidence and state; pure."""
    by_id = {one.evidence_id: one for one in cited}
    return [_state(row, by_id, closing) for row in rows]


def _state(row: MatrixRow, by_id: dict[UUID, EvidenceRef], closing: date | None) -> MatrixState:
    shown = tuple(_cited(UUID(one), by_id, closing) for one in row.evidence_ids)
    justified = len(row.justification or "") >= LEAST_JUSTIFICATION
    answer = Answer(
        response=row.response,
        is_current=row.answered_version == row.requirement_version,
        is_removed=row.removed_at is not None,
        has_place=bool(row.section_ids or row.form_ids),
        has_justification=justified,
        needs_evidence=row.needs_evidence,
        evidence=tuple(one.at_closing for one in shown),
    )
    return MatrixState(row, shown, state_of(answer))


def _cited(
    evidence_id: UUID, by_id: dict[UUID, EvidenceRef], closing: date | None
) -> CitedEvidence:
    known = by_id.get(evidence_id)
    if known is None:
        return CitedEvidence(evidence_id, "unknown", None, None)
    worth = at_closing(known.state, known.valid_until, closing)
    return CitedEvidence(evidence_id, worth, known.valid_until, known.sha256)


def closing_on(workspace: Workspace) -> date | None:
    """The local day of the closing."""
    return None if workspace.closing_at is None else local_day(workspace.closing_at)


async def coverage_of(read: Reader, states: Iterable[MatrixState]) -> Coverage:
    """Coverage by the weights in force."""
    weights = (await configuration.value(read, MATRIX_WEIGHTS)).model_dump()
    return coverage([(one.row.requirement_class, one.state) for one in states], weights)


async def change_matrix(
    work: Work, workspace_id: UUID, changes: dict[UUID, dict[str, Any]]
) -> tuple[Workspace, list[MatrixState]]:
    """Answer requirements; `If-Match` is the version of the whole matrix."""
    workspace = await workspaces.workspace_for(work, workspace_id, Need.EDIT)
    if work.if_match is not None and work.if_match != workspace.matrix_version:
        raise StaleVersion(currentVersion=workspace.matrix_version)
    owners = [one["owner_user_id"] for one in changes.values() if "owner_user_id" in one]
    await workspaces.check_assignees(work, workspace, owners)
    rows = {one.requirement_id: one for one in await rows_of(work, workspace_id)}
    await _check(work, workspace, rows, changes)
    named = [UUID(e) for one in changes.values() for e in one.get("evidence_ids", ())]
    resolved = await evidence.resolve_evidence(work, named)
    changed = False
    for requirement_id, fields in changes.items():
        row = await work.hold(rows[requirement_id])
        _answer(row, fields)
        if work.changes(row):
            await work.save(row)
            changed = True
    await evidence.store(work, workspace_id, named, resolved)
    if changed:
        workspace.matrix_version += 1
    states = await refresh_coverage(work, workspace)
    return workspace, states


def _answer(row: MatrixRow, fields: dict[str, Any]) -> None:
    if merge_patch(row, fields) or "response" in fields:
        row.answered_version = None if row.response == "none" else row.requirement_version
    if row.response == "not_applicable" and len(row.justification or "") < LEAST_JUSTIFICATION:
        raise BidJustificationRequired(keys=[str(row.requirement_id)])


async def _check(
    work: Work,
    workspace: Workspace,
    rows: dict[UUID, MatrixRow],
    changes: dict[UUID, dict[str, Any]],
) -> None:
    """Every row, section and form that is named belongs to this workspace."""
    unknown = [str(one) for one in changes if one not in rows or rows[one].removed_at is not None]
    for name, row in (("section_ids", Section), ("form_ids", SbdForm)):
        named = {UUID(e) for one in changes.values() for e in one.get(name, ())}
        unknown += await _strangers(work, workspace, row, named)
    if unknown:
        raise RuleViolated(
            "The IDs in `unknown` do not belong to this bid.", rule=_RULE, unknown=unknown
        )
    cited = {e for key, one in rows.items() for e in _evidence_after(one, changes.get(key))}
    if len(cited) > evidence.MOST_CITED:
        raise RuleViolated(
            "A bid can cite at most 200 pieces of evidence.", rule=_RULE, limit=evidence.MOST_CITED
        )


def _evidence_after(row: MatrixRow, fields: dict[str, Any] | None) -> Sequence[str]:
    return row.evidence_ids if fields is None else fields.get("evidence_ids", row.evidence_ids)


async def _strangers(
    work: Work, workspace: Workspace, row: type[Section | SbdForm], named: set[UUID]
) -> list[str]:
    if not named:
        return []
    statement = select(row.id).where(
        row.organization_id == work.organization_id,
        row.workspace_id == workspace.id,
        among(row.id, sorted(named)),
    )
    known = set(await work.values(statement, limit=len(named)))
    return sorted(str(one) for one in named - known)


async def refresh_coverage(work: Work, workspace: Workspace) -> list[MatrixState]:
    """Compute coverage of a locked workspace from what is stored, and publish what changed."""
    states = await matrix_of(work, workspace.id)
    made = await coverage_of(work, states)
    workspace.coverage_overall, workspace.coverage_mandatory = made.overall, made.mandatory
    if work.changes(workspace):
        await work.save(workspace)
        work.publish(
            public.MatrixChanged(
                **workspaces.told_of(workspace),
                matrix_version=workspace.matrix_version,
                coverage_overall=made.overall,
                coverage_mandatory=made.mandatory,
            )
        )
    return states


async def refresh_evidence(work: Work, workspace_id: UUID) -> None:
    """Ask again for the evidence of a workspace after Compliance told of a change; a job."""
    ids = [one.evidence_id for one in await evidence.cited(work, workspace_id)]
    resolved = await evidence.resolve_evidence(work, ids)
    workspace = await work.lock(Workspace, workspace_id)
    await evidence.store(work, workspace_id, ids, resolved)
    await refresh_coverage(work, workspace)
