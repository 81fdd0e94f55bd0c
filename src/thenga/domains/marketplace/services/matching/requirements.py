"""Requirements of a match: which of them a partner can cure, and how a candidate answers them.

Values in, answers out (MKT-22, MKT-23).
"""

from collections.abc import Container, Mapping, Sequence
from datetime import datetime
from uuid import UUID

from thenga.domains.marketplace.services.matching.scoring import Proof, State, capability_value
from thenga.domains.marketplace.services.places import place_of
from thenga.domains.marketplace.services.proofs import fits, grading_of
from thenga.domains.marketplace.tables.categories import Category
from thenga.domains.marketplace.values.matching import (
    AreaAsked,
    CidbGrade,
    Classified,
    ExclusionReason,
    MatchRequirement,
    NeededRequirement,
)
from thenga.domains.opportunity.public import TenderRequirement
from thenga.domains.supplier.public import CapabilityCard, Verification
from thenga.kernel.errors import RuleViolated

# What a partner can bring; nobody brings the turnover, forms or tax papers of somebody else.
PARTNER_KINDS = ("cidb_grade", "document", "experience", "people", "equipment", "place")
PARTNER_CODES = ("cidb_registration", "sector_licence")
_OWN = "Only your own company can meet it."
_CURES = {
    "none": _OWN,
    "renew": "Renew it yourself.",
    "register": "Register yourself.",
    "clarify": "Ask the buyer to clarify it.",
    "partner": _OWN,
}
_KINDS = {
    "local_content": "It depends on where the goods are made. Ask your suppliers.",
    "briefing": "Somebody of your bid has to attend.",
    "preference": "It depends on who owns your company, or the joint venture that bids.",
    "functionality": "Functionality scores your bid as a whole.",
    "validity": "State it in your bid.",
    "submission": "Submit your bid as the buyer asks.",
}
_PARTNER = "A partner can cure it."
_JOINT_VENTURE = (
    "A partner can cure it as a member of your joint venture. The grade of a subcontractor does "
    "not count."
)
_EXCLUDING: dict[str, ExclusionReason] = {"cidb_grade": "cidb_grade", "place": "place"}
_PROOFS: dict[str, Proof] = {
    "verified": "verified",
    "evidence_attached": "evidence",
    "under_review": "evidence",
}


def of_need(number: int, needed: NeededRequirement) -> MatchRequirement:
    """A requirement that the company states itself."""
    given = [needed.cidb, needed.classification, needed.area]
    if sum(part is not None for part in given) != 1:
        raise RuleViolated(
            "Give exactly one of `cidb`, `classification` and `area`.",
            rule="MKT-23",
            field=f"/need/requirements/{number}",
        )
    kinds = ("cidb_grade", "classification", "place")
    kind = next(kind for kind, part in zip(kinds, given, strict=True) if part is not None)
    return MatchRequirement(
        ref=str(number),
        version=None,
        kind=kind,
        gate=needed.gate,
        label=needed.label,
        matchable=True,
        why="You asked for it.",
        cidb=needed.cidb,
        classifications=[needed.classification] if needed.classification else [],
        areas=[needed.area] if needed.area else [],
    )


def of_tender(asked: TenderRequirement) -> MatchRequirement:
    """A requirement of a tender, as far as candidates can be judged by it (MKT-22)."""
    matchable = asked.cure == "partner" and asked.kind in PARTNER_KINDS
    if asked.kind == "document":
        matchable = matchable and asked.code in PARTNER_CODES
    params = asked.params
    return MatchRequirement(
        ref=str(asked.id),
        version=asked.version,
        kind=asked.kind,
        gate=asked.gate,
        label=asked.label,
        matchable=matchable,
        why=_why(asked, matchable=matchable),
        cidb=_cidb(asked) if asked.kind == "cidb_grade" else None,
        classifications=[
            Classified(scheme="unspsc", code=code)
            for code in _texts(params.get("classifications"))
            if asked.kind == "experience"
        ],
        areas=_areas(asked) if asked.kind == "place" else [],
    )


def _why(asked: TenderRequirement, *, matchable: bool) -> str:
    """Why candidates are judged by a requirement, or what cures it instead."""
    if matchable:
        return _JOINT_VENTURE if asked.kind == "cidb_grade" else _PARTNER
    only_own = _CURES[asked.cure]
    return _KINDS.get(asked.kind, only_own) if only_own == _OWN else only_own


def _cidb(asked: TenderRequirement) -> CidbGrade:
    return CidbGrade.model_validate(
        {
            "works_class": asked.params.get("class"),
            "min_grade": asked.params.get("minGrade"),
            "pe_allowed": bool(asked.params.get("peAllowed")),
        }
    )


def _areas(asked: TenderRequirement) -> list[AreaAsked]:
    provinces = _texts(asked.params.get("provinces"))
    municipalities = _texts(asked.params.get("municipalities"))
    given = [{"province": code} for code in provinces]
    given += [{"municipality": code} for code in municipalities]
    return [AreaAsked.model_validate(area) for area in given]


def _texts(value: object) -> list[str]:
    return [part for part in value if isinstance(part, str)] if isinstance(value, list) else []


def capabilities_on(
    closing_at: datetime, capabilities: Sequence[CapabilityCard]
) -> list[CapabilityCard]:
    """Capabilities with their verification as it will be then, if nobody renews it."""
    return [
        capability.model_copy(update={"verification": capability.verification.on(closing_at)})
        if capability.verification is not None
        else capability
        for capability in capabilities
    ]


def answer(
    requirement: MatchRequirement, capabilities: Sequence[CapabilityCard], tokens: Container[str]
) -> State:
    """Whether a candidate meets a requirement; without a proof either way it is unknown."""
    proven = [each.verification for each in capabilities if _is_verified(each.verification)]
    if requirement.cidb is not None:
        return _answer_cidb(requirement.cidb, [found for found in proven if found])
    if requirement.areas:
        places = [place_of(area.province, area.municipality) for area in requirement.areas]
        met = any(place is not None and place.level_in(tokens) != "none" for place in places)
        return "met" if met else "not_met"
    verified = [code for found in proven if found for code in found.classifications]
    met = any(
        code.scheme.casefold() == asked.scheme and code.code.startswith(asked.code)
        for asked in requirement.classifications
        for code in verified
    )
    return "met" if met else "unknown"


def _answer_cidb(asked: CidbGrade, proven: Sequence[Verification]) -> State:
    """Not met only where a grade of the class is verified and every one is too low.

    A potentially emerging enterprise reaches one grade more where that is allowed.
    """
    gradings = [grading_of(found) for found in proven]
    grades = [
        found.grade + (found.emerging and asked.pe_allowed)
        for found in gradings
        if found is not None and found.works_class == asked.works_class
    ]
    if not grades:
        return "unknown"
    return "met" if max(grades) >= asked.min_grade else "not_met"


def exclusion(
    requirements: Sequence[MatchRequirement], states: Sequence[State]
) -> ExclusionReason | None:
    """Why a candidate is left out: the first hard requirement that it does not meet."""
    for requirement, state in zip(requirements, states, strict=True):
        if requirement.gate == "hard" and state == "not_met":
            return _EXCLUDING[requirement.kind]
    return None


def best_proof(
    capabilities: Sequence[CapabilityCard],
    *,
    inside: Mapping[UUID, Category] | None,
    above: Mapping[UUID, Category],
    in_category: bool,
) -> tuple[Proof, bool]:
    """The best capability in the categories asked, or in their parents; and whether in a parent.

    `inside` is None where no category was asked. A listing without a capability is a claim, and so
    is a capability in a category that its codes do not belong to.
    """
    found: list[tuple[Proof, bool]] = [("claimed", not in_category)]
    for capability in capabilities:
        verification = capability.verification
        if inside is None:
            found.append((_proof(verification, None), False))
            continue
        for category_id in capability.category_ids:
            if category_id in inside:
                found.append((_proof(verification, inside[category_id]), False))
            elif category_id in above:
                found.append((_proof(verification, above[category_id]), True))
    return max(found, key=lambda pair: capability_value(pair[0], in_parent=pair[1]))


def _proof(verification: Verification | None, category: Category | None) -> Proof:
    if verification is None or (category is not None and not fits(verification, category)):
        return "claimed"
    return _PROOFS.get(verification.verification_status, "claimed")


def _is_verified(verification: Verification | None) -> bool:
    return verification is not None and verification.verification_status == "verified"
