"""Whether a proof fits a requirement on a day, and why not (CMP-15). Values in, value out."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date
from decimal import Decimal, InvalidOperation
from enum import StrEnum
from typing import Any
from uuid import UUID

from thenga.domains.compliance.values.validity import AgeLimit

_AFFIDAVIT = "bbbee_affidavit"


class Fit(StrEnum):
    """Whether a proof can support a requirement."""

    FITS = "fits"
    DOES_NOT_FIT = "does_not_fit"
    NEEDS_PERSON = "needs_person"


@dataclass(frozen=True, slots=True)
class ProofFacts:
    """What a proof says of itself; `code` is a document type, statement or kind of reference."""

    code: str
    subject_kind: str = "organization"
    subject_ref: UUID | None = None
    period: str | None = None
    issued_on: date | None = None
    valid_until: date | None = None
    attributes: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Need:
    """What a requirement asks of its proof; without `codes` only a person can assess it."""

    codes: frozenset[str]
    subjects: tuple[tuple[str, UUID | None], ...] = (("organization", None),)
    period: str | None = None
    params: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class LinkFit:
    """The fit of one link, with reasons, and the last day on which the proof serves it."""

    fit: Fit
    reasons: tuple[str, ...]
    valid_until: date | None


def fit_of(proof: ProofFacts, need: Need, on: date) -> LinkFit:
    """Compare a proof with a requirement for a day."""
    limit = _age_limit(proof, need.params)
    last_day = min((day for day in (proof.valid_until, limit) if day is not None), default=None)
    against = [*_about(proof, need), *_age(limit, on), *_values(proof, need.params)]
    if against:
        return LinkFit(Fit.DOES_NOT_FIT, tuple(against), last_day)
    doubts = _doubts(proof, need)
    fit = Fit.NEEDS_PERSON if doubts else Fit.FITS
    return LinkFit(fit, tuple(doubts), last_day)


def _age_limit(proof: ProofFacts, params: Mapping[str, Any]) -> date | None:
    """The last day on which a paper is young enough for a tender (CMP-24)."""
    limit = AgeLimit.of_params(dict(params))
    if limit is None or proof.issued_on is None:
        return None
    return limit.last_day(proof.issued_on)


def _about(proof: ProofFacts, need: Need) -> list[str]:
    found = []
    if need.codes and proof.code not in need.codes:
        found.append("wrong_type")
    if not _is_subject(proof, need):
        found.append("wrong_subject")
    if need.period not in (None, proof.period):
        found.append("wrong_period")
    return found


def _is_subject(proof: ProofFacts, need: Need) -> bool:
    """The company, or one of the directors who each have to prove it."""
    named = [ref for kind, ref in need.subjects if kind == proof.subject_kind]
    if proof.subject_kind == "organization":
        return bool(named)
    return any(ref in (None, proof.subject_ref) for ref in named)


def _age(limit: date | None, on: date) -> list[str]:
    return ["too_old"] if limit is not None and on > limit else []


def _values(proof: ProofFacts, params: Mapping[str, Any]) -> list[str]:
    """What the paper states and the requirement does not accept; what it leaves out is a doubt."""
    stated, found = proof.attributes, []
    turnover = _number(stated.get("annualTurnover"))
    limit = _number(params.get("affidavitMaxTurnover"))
    if proof.code == _AFFIDAVIT and turnover is not None and limit is not None:
        found += ["turnover_above_limit"] if turnover > limit else []
    if stated.get("active") is False:
        found.append("not_active")
    if stated.get("listed") is True:
        found.append("listed")
    level = _number(stated.get("level"))
    most = _number(params.get("maxBbbeeLevel"))
    if level is not None and most is not None and level > most:
        found.append("level_too_low")
    if _is_graded_too_low(stated, params):
        found.append("grade_too_low")
    arrears, allowed = _number(stated.get("arrearsMonths")), _number(params.get("arrearsMonths"))
    if arrears is not None and allowed is not None and arrears > allowed:
        found.append("in_arrears")
    if params.get("certified") is True and stated.get("certified") is False:
        found.append("not_certified")
    amount, least = _number(stated.get("coverAmount")), _number(params.get("minAmount"))
    if amount is not None and least is not None and amount < least:
        found.append("amount_too_low")
    return found


# Parameter of a requirement, and the attribute of a paper that answers it.
_ANSWERED_BY = {
    "maxBbbeeLevel": "level",
    "cidb": "designations",
    "arrearsMonths": "arrearsMonths",
    "certified": "certified",
    "minAmount": "coverAmount",
}


def _doubts(proof: ProofFacts, need: Need) -> list[str]:
    if not need.codes:
        return ["person_assesses"]
    asked = need.params
    dated = "maxAgeDays" in asked or "maxAgeMonths" in asked
    found = ["undated"] if dated and proof.issued_on is None else []
    unstated = [
        name
        for name, attribute in _ANSWERED_BY.items()
        if asked.get(name) not in (None, False) and proof.attributes.get(attribute) is None
    ]
    return found + (["not_stated"] if unstated else [])


def _is_graded_too_low(stated: Mapping[str, Any], params: Mapping[str, Any]) -> bool:
    """CIDB: the grade in the class of works that the tender names, as in 6CE."""
    asked, held = params.get("cidb"), stated.get("designations")
    if not asked or held is None:
        return False
    grades = [
        grade
        for one in held
        if str(one).endswith(asked["class"])
        and (grade := _number(str(one).removesuffix(asked["class"]))) is not None
    ]
    return max(grades, default=Decimal(0)) < Decimal(asked["minGrade"])


def _number(value: Any) -> Decimal | None:
    if value is None or isinstance(value, bool):
        return None
    try:
        return Decimal(str(value))
    except InvalidOperation:
        return None
