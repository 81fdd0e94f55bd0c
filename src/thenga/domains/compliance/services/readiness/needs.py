"""From what is stored to the needs of one day, by catalogue and tender (CMP-3, CMP-5)."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import date
from typing import Any
from uuid import UUID

from thenga.domains.compliance.services.evidence import Fit as LinkFit
from thenga.domains.compliance.services.evidence import Need as Asked
from thenga.domains.compliance.services.evidence import fit_of
from thenga.domains.compliance.services.readiness.reading import (
    Company,
    LinkedProof,
    assurance_of,
)
from thenga.domains.compliance.services.readiness.values import (
    EVERY_POINT,
    Fit,
    Gate,
    Need,
    Point,
    Proof,
    Standing,
    Subject,
)
from thenga.domains.compliance.services.tenders import TenderFacts, TermFacts
from thenga.domains.compliance.tables import (
    Applicability,
    Origin,
    Requirement,
    RequirementDefinition,
)
from thenga.domains.compliance.values import conditions
from thenga.domains.compliance.values.conditions import Known
from thenga.domains.compliance.values.validity import AgeLimit, ValidityRule, valid_until

_APPLIES = {
    Applicability.APPLICABLE: True,
    Applicability.NOT_APPLICABLE: False,
    Applicability.UNDETERMINED: None,
}
_OF_COMPANY = ("organization", None)
_TOO_OLD = "too_old"  # a matter of days, so it counts as expired and not as a wrong paper
_TENDER = "tender"
_DEFAULT_WEIGHT = 5
_NO_RULE = ValidityRule.of_row({"kind": "no_expiry"})


def needs_on(company: Company, on: date, tender: TenderFacts | None = None) -> list[Need]:
    """What is asked of the company on a day; a tender's rows stand over those of the catalogue."""
    rows = [row for row in company.requirements if row.ends_on is None or on <= row.ends_on]
    catalogue = [row for row in rows if row.origin is Origin.CATALOGUE]
    needs = [need for row in catalogue if (need := _of_row(company, row, on, tender)) is not None]
    needs += [_of_free_row(company, row, on) for row in rows if row.origin is Origin.OWN]
    if tender is None:
        return needs
    of_tender = [
        row
        for row in rows
        if row.origin is Origin.TENDER and row.tender_opportunity_id == tender.tender_opportunity_id
    ]
    return _overlaid(company, needs, catalogue, of_tender, tender, on)


def _overlaid(
    company: Company,
    needs: list[Need],
    catalogue: Sequence[Requirement],
    of_tender: Sequence[Requirement],
    tender: TenderFacts,
    on: date,
) -> list[Need]:
    """A tender's rows and terms replace the catalogue's row of the same code."""
    by_code = {row.definition_code: row for row in catalogue}
    written = [
        _of_tender_row(company, row, by_code.get(row.definition_code), tender, on)
        for row in of_tender
    ]
    known = {row.tender_requirement_ref for row in of_tender if row.tender_requirement_ref}
    terms = [
        _of_term(company, term, by_code.get(term.code), tender, on)
        for term in tender.terms
        if term.ref not in known
    ]
    over = [*written, *terms]
    replaced = {need.code for need in over}
    return [*(need for need in needs if need.code not in replaced), *over]


def _of_row(
    company: Company, row: Requirement, on: date, tender: TenderFacts | None
) -> Need | None:
    definition = company.definition(row.definition_code, on)
    if definition is None:
        return None
    applies = _APPLIES[row.applicability]
    if tender is not None and tender.sphere is not None and definition.spheres:
        applies = applies if tender.sphere in definition.spheres else False
    return _of_definition(
        company,
        definition,
        row,
        on,
        applies=applies,
        gate=_gate(definition, tender),
        params=row.params,
    )


def _of_tender_row(
    company: Company, row: Requirement, base: Requirement | None, tender: TenderFacts, on: date
) -> Need:
    definition = company.definition(row.definition_code, on)
    if definition is None:
        return replace(_of_free_row(company, row, on), ref=row.tender_requirement_ref)
    need = _of_definition(
        company,
        definition,
        base or row,
        on,
        applies=True,
        gate=_asked_gate(definition, row.gate, tender),
        params=row.params,
        further=company.proofs.get(row.id, ()),
    )
    return replace(need, requirement_id=row.id, ref=row.tender_requirement_ref)


def _of_term(
    company: Company, term: TermFacts, base: Requirement | None, tender: TenderFacts, on: date
) -> Need:
    """A term by reference; one whose code the catalogue does not know is unknown."""
    definition = company.definition(term.code, on)
    if definition is None or base is None:
        return Need(
            None,
            term.code or term.ref,
            _TENDER,
            _DEFAULT_WEIGHT,
            Gate(term.gate or Gate.SOFT),
            ref=term.ref,
            applies=None,
        )
    need = _of_definition(
        company,
        definition,
        base,
        on,
        applies=True,
        gate=_asked_gate(definition, term.gate, tender),
        params=term.params,
    )
    return replace(need, ref=term.ref)


def _gate(
    definition: RequirementDefinition, tender: TenderFacts | None, *, is_asked: bool = False
) -> Gate:
    """Hard for the tenders that the definition names, else its usual gate."""
    if definition.hard_when is None or tender is None:
        return Gate(definition.gate)
    told = {"category": tender.category, "sphere": tender.sphere}
    told["asks"] = definition.code if is_asked else None
    holds = conditions.evaluate(definition.hard_when, Known(tender=told))
    return Gate.HARD if holds else Gate(definition.gate)


def _asked_gate(definition: RequirementDefinition, asked: str | None, tender: TenderFacts) -> Gate:
    """A buyer may loosen a gate, but not a locked one (CMP-5)."""
    if definition.locked or asked is None:
        return _gate(definition, tender, is_asked=True)
    return Gate(asked)


def _of_definition(
    company: Company,
    definition: RequirementDefinition,
    row: Requirement,
    on: date,
    *,
    applies: bool | None,
    gate: Gate,
    params: Mapping[str, Any],
    further: tuple[LinkedProof, ...] = (),
) -> Need:
    rule = ValidityRule.of_row(definition.validity)
    linked = _distinct((*company.proofs.get(row.id, ()), *further))
    codes = proof_codes(definition.proof)
    least = max(assurance_of(definition.min_assurance), company.min_assurance)
    return Need(
        requirement_id=row.id,
        code=definition.code,
        component=definition.component,
        weight=definition.weight,
        gate=gate,
        subjects=tuple(_subjects(row, linked, codes, params, rule, on)),
        applies=applies,
        needed_at=frozenset(Point(point) for point in definition.needed_at) or EVERY_POINT,
        min_assurance=least,
        recheck_days=definition.recheck_days,
        is_live=rule.live,
    )


def _of_free_row(company: Company, row: Requirement, on: date) -> Need:
    rule = ValidityRule.of_row(row.validity) if row.validity else _NO_RULE
    linked = company.proofs.get(row.id, ())
    codes = proof_codes(row.proof or {})
    return Need(
        requirement_id=row.id,
        code=row.definition_code or str(row.id),
        component=row.component or _TENDER,
        weight=row.weight or _DEFAULT_WEIGHT,
        gate=Gate(row.gate or Gate.SOFT),
        subjects=tuple(_subjects(row, linked, codes, row.params, rule, on)),
        applies=_APPLIES[row.applicability],
        min_assurance=company.min_assurance,
        is_live=rule.live,
    )


def _subjects(
    row: Requirement,
    linked: Sequence[LinkedProof],
    codes: frozenset[str],
    params: Mapping[str, Any],
    rule: ValidityRule,
    on: date,
) -> Iterator[Subject]:
    """Each subject of a requirement with the proofs that are about it."""
    named = [(str(one["kind"]), one.get("ref")) for one in row.subjects] or [_OF_COMPANY]
    for kind, ref in named:
        of_subject = (kind, None if ref is None else UUID(str(ref)))
        asked = Asked(codes=codes, subjects=(of_subject,), params=params)
        proofs = [_proof(one, asked, rule, on) for one in linked if _is_about(one, of_subject)]
        yield Subject(f"{kind}:{ref or ''}", tuple(proofs))


def _is_about(linked: LinkedProof, subject: tuple[str, UUID | None]) -> bool:
    kind, ref = subject
    return linked.facts.subject_kind == kind and ref in (None, linked.facts.subject_ref)


def _proof(linked: LinkedProof, asked: Asked, rule: ValidityRule, on: date) -> Proof:
    found = fit_of(linked.facts, asked, on)
    against = [reason for reason in found.reasons if reason != _TOO_OLD]
    fit = Fit.DOES_NOT_FIT if found.fit is LinkFit.DOES_NOT_FIT and against else Fit.FITS
    if found.fit is LinkFit.NEEDS_PERSON:
        fit = Fit.NEEDS_PERSON
    last_day, is_undated = _last_day(linked, rule, asked.params)
    return Proof(
        evidence_id=linked.evidence_id,
        version=linked.version,
        fit=fit,
        standing=linked.standing,
        first_day=linked.facts.issued_on,
        last_day=last_day,
        is_undated=is_undated,
        assurance=linked.assurance,
        checked_on=linked.checked_on if linked.standing is Standing.VERIFIED else None,
        checked_until=linked.checked_until,
        doubt=linked.doubt,
    )


def _last_day(
    linked: LinkedProof, rule: ValidityRule, params: Mapping[str, Any]
) -> tuple[date | None, bool]:
    """By the rule of the requirement; a reference ends when its issuer says."""
    if linked.is_reference:
        return linked.own_end, False
    end = valid_until(
        rule,
        issued_on=linked.facts.issued_on,
        expires_on=linked.expires_on,
        period_end=linked.period_end,
        age_limit=AgeLimit.of_params(dict(params)),
    )
    return end.on, end.is_undated


def _distinct(linked: Sequence[LinkedProof]) -> tuple[LinkedProof, ...]:
    return tuple({one.evidence_id: one for one in linked}.values())


def proof_codes(proof: Mapping[str, Any]) -> frozenset[str]:
    """Document types, statements and kinds of references that can prove a requirement."""
    found: set[str] = set()
    for stated in proof.values():
        if isinstance(stated, str):
            found.add(stated)
        elif isinstance(stated, list):
            found.update(stated)
    return frozenset(found)
