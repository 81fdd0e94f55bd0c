"""Raises the risks that the rules see and closes those whose cause is gone (CMP-34)."""

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from sqlalchemy import select

from thenga.domains.compliance import public
from thenga.domains.compliance.lifecycles import RiskLifecycle
from thenga.domains.compliance.services.readiness import Assessed, Computed, Gate
from thenga.domains.compliance.services.risks.risks import (
    event_fields,
    mark_status,
    publish_change,
)
from thenga.domains.compliance.services.risks.rules import (
    GateFact,
    LapseFact,
    RenewalFact,
    RiskFound,
    find_risks,
    level_of,
    score_of,
)
from thenga.domains.compliance.tables import Document, DocumentStatus, Risk, RiskStatus
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.statements import among
from thenga.kernel.db.work import Work

_OPEN = (RiskStatus.OPEN, RiskStatus.MITIGATING, RiskStatus.ACCEPTED)
_BY_RULE = "rule"
_CATEGORIES = {
    "lapses_before_award": "tender",
    "verification_failed": "evidence",
    "renewal_late": "expiry",
    "gate_expired": "expiry",
    "gate_expiring": "expiry",
}


async def refresh(work: Work, computed: Computed) -> None:
    """Bring the risks of the rules in line with what was computed; each is told once."""
    company = computed.company
    found = find_risks(
        now=work.now,
        today=company.today,
        gates=[_gate_of(computed, item) for item in computed.outcome.items],
        lapses=[
            LapseFact(tender_id, lapse.need.requirement_id, lapse.need.code)
            for tender_id, lapse in computed.lapses
        ],
        renewals=await _renewals(work),
    )
    known = await _open_risks(work)
    for key, risk in known.items():
        if key not in found:
            await _close(work, risk)
    for key, wanted in found.items():
        if key not in known:
            await _raise(work, wanted)


def _gate_of(computed: Computed, item: Assessed) -> GateFact:
    company, need = computed.company, item.need
    left = None if item.valid_until is None else (item.valid_until - company.today).days
    linked = company.proofs.get(need.requirement_id, ()) if need.requirement_id else ()
    is_renewed = any(
        one.renewal_expected_on is not None
        for one in linked
        if one.evidence_id in item.evidence_ids
    )
    return GateFact(
        requirement_id=need.requirement_id,
        code=need.code,
        is_hard=need.gate is Gate.HARD,
        state=item.state.value,
        days_left=None if need.is_live else left,
        is_renewal_expected=is_renewed,
        unknown_since=computed.unknown_since.get(need.code),
    )


async def _renewals(read: Reader) -> list[RenewalFact]:
    statement = select(
        Document.id, Document.document_type_code, Document.renewal_expected_on
    ).where(
        Document.organization_id == read.organization_id,
        Document.renewal_expected_on.is_not(None),
        Document.status == DocumentStatus.ACTIVE,
    )
    return [RenewalFact(row[0], row[1], row[2]) for row in await read.records(statement)]


async def _open_risks(work: Work) -> dict[tuple[str, str], Risk]:
    statement = select(Risk).where(among(Risk.status, _OPEN), Risk.raised_by == _BY_RULE)
    return {(risk.rule_code, risk.subject): risk for risk in await work.all(statement)}


async def _close(work: Work, known: Risk) -> None:
    risk = await work.hold(known)
    if risk.status not in _OPEN:
        return
    RiskLifecycle.close(risk, at=work.now)
    mark_status(work, risk, code="cause_gone", text=None)
    risk.accepted_until = risk.accepted_by = risk.next_check_at = None
    await work.save(risk)
    publish_change(work, risk)


async def _raise(work: Work, wanted: RiskFound) -> None:
    score = score_of(wanted.likelihood, wanted.impact)
    risk = await work.add(
        Risk(
            organization_id=work.organization_id,
            rule_code=wanted.rule.value,
            subject=wanted.subject,
            raised_by=_BY_RULE,
            title=wanted.title,
            category=_CATEGORIES.get(wanted.rule.value, "readiness"),
            likelihood=wanted.likelihood,
            impact=wanted.impact,
            score=score,
            level=level_of(score).value,
            actions=[],
            requirement_id=wanted.requirement_id,
            document_id=wanted.document_id,
            tender_opportunity_id=wanted.tender_opportunity_id,
        )
    )
    work.publish(public.ComplianceRiskRaised(**event_fields(risk)))


async def add_suggested(work: Work, *, suggestion_id: UUID, fields: Mapping[str, Any]) -> Risk:
    """Write down a risk that a machine suggested and a person accepted."""
    score = score_of(fields["likelihood"], fields["impact"])
    risk = await work.add(
        Risk(
            organization_id=work.organization_id,
            rule_code="suggested",
            subject=f"suggestion:{suggestion_id}",
            raised_by="suggestion",
            title=fields["title"],
            category=fields.get("category", "suggested"),
            likelihood=fields["likelihood"],
            impact=fields["impact"],
            score=score,
            level=level_of(score).value,
            actions=[],
        )
    )
    work.publish(public.ComplianceRiskRaised(**event_fields(risk)))
    return risk
