"""Features of a company, from what Organization and Compliance answer (OPP-32). Pure functions."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date
from typing import Any

from thenga.domains.compliance.public import ReadinessView
from thenga.domains.opportunity.services.matching.features import (
    CidbHeld,
    HeldCode,
    ProfileFeatures,
    Project,
    Proof,
)
from thenga.domains.organization.public import CurrentPreferences, ProfileView, RecordView
from thenga.kernel.values.money import Money

RECORD_TYPES = ["capability", "past_project", "service", "product"]

_CODE = re.compile("[0-9]{2,8}")
_DESIGNATION = re.compile(r"([1-9])([A-Z]{2})( ?PE)?")
_PROOFS: dict[str, Proof] = {
    "verified": "verified",
    "evidence_attached": "evidence",
    "under_review": "evidence",
    "claimed": "claimed",
    "lapsed": "claimed",
}
_NOT_HELD = ("lapsed", "rejected")  # of gradings: the register decides, not the claim

Lexemes = Mapping[str, tuple[str, ...]]  # by keyword


@dataclass(frozen=True, slots=True)
class Answers:
    """What the ports said; each is none where nobody answered."""

    profile: ProfileView
    preferences: CurrentPreferences
    readiness: ReadinessView | None

    @property
    def keywords(self) -> list[str]:
        wished = self.preferences.document
        return [*wished.keywords, *wished.excluded_keywords]

    @property
    def refs(self) -> list[dict[str, Any]]:
        """The versions of records that the features rest on."""
        return [one.ref.model_dump(mode="json") for one in self.profile.records]


def features_of(answers: Answers, lexemes: Lexemes) -> ProfileFeatures:
    """What matching reads of a company."""
    wished = answers.preferences.document
    records = answers.profile.records
    areas = [one.summary.get("areas") or {} for one in records if one.type != "past_project"]
    readiness = answers.readiness
    known = readiness is not None and readiness.verdict != "unknown"
    return ProfileFeatures(
        codes=tuple(_codes(answers)),
        keywords=_words(wished.keywords, lexemes),
        excluded=_words(wished.excluded_keywords, lexemes),
        national=wished.national or any(_get(area, "national") for area in areas),
        provinces=frozenset([*wished.provinces, *_listed(areas, "provinces")]),
        municipalities=frozenset([*wished.municipalities, *_listed(areas, "municipalities")]),
        cidb=tuple(_gradings(records)),
        projects=tuple(_projects(records)),
        largest_project_minor=_largest(records),
        value_min_minor=_minor(wished.value_band.min),
        value_max_minor=_minor(wished.value_band.max),
        buyer_types=frozenset(wished.buyer_types),
        methods=frozenset(wished.methods),
        briefings=wished.compulsory_briefings,
        notice_days=wished.notice_period_days,
        max_concurrent_bids=wished.max_concurrent_bids,
        min_score=wished.min_match_score,
        blockers=frozenset(readiness.blockers) if known and readiness is not None else None,
    )


def _words(keywords: Iterable[str], lexemes: Lexemes) -> tuple[tuple[str, ...], ...]:
    return tuple(sorted({lexemes[word] for word in keywords if lexemes.get(word)}))


def _codes(answers: Answers) -> Iterable[HeldCode]:
    wished = answers.preferences
    for category in wished.document.categories:
        if category.scheme == "unspsc":
            yield HeldCode(category.code, None, "preferences")
    for record in answers.profile.records:
        if record.type == "past_project":
            continue
        proof = _PROOFS.get(record.verification_status or "")
        proven = proof if record.type == "capability" else None
        for code in _unspsc(record):
            yield HeldCode(code, proven, _ref(record))


def _unspsc(record: RecordView) -> list[str]:
    listed = record.summary.get("classifications") or []
    if not isinstance(listed, list):
        return []
    codes = [_get(one, "code") for one in listed if _get(one, "scheme") == "unspsc"]
    return [code for code in codes if isinstance(code, str) and _CODE.fullmatch(code)]


def _gradings(records: Iterable[RecordView]) -> Iterable[CidbHeld]:
    for record in records:
        cidb = record.summary.get("cidb")
        if record.type != "capability" or record.verification_status in _NOT_HELD:
            continue
        found = _DESIGNATION.fullmatch(str(_get(cidb, "designation") or ""))
        if found is None:
            continue
        until = _get(cidb, "valid_until") or _get(cidb, "validUntil")
        yield CidbHeld(
            works=found[2],
            grade=int(found[1]),
            emerging=found[3] is not None,
            proof=_PROOFS.get(record.verification_status or "", "claimed"),
            valid_until=date.fromisoformat(str(until)[:10]) if until else None,
            ref=_ref(record),
        )


def _projects(records: Iterable[RecordView]) -> Iterable[Project]:
    for record in records:
        families = sorted({code[:4] for code in _unspsc(record) if len(code) >= 4})
        if record.type == "past_project" and families:
            ended = record.summary.get("completedOn")
            yield Project(
                families=tuple(families),
                verified=record.verification_status == "verified",
                ended_on=date.fromisoformat(str(ended)) if ended else None,
                ref=_ref(record),
            )


def _largest(records: Iterable[RecordView]) -> int | None:
    values = [record.summary.get("value") for record in records if record.type == "past_project"]
    known = [
        Money.of(str(_get(value, "amount"))).minor
        for value in values
        if _get(value, "currency") == "ZAR"
    ]
    return max(known, default=None)


def _minor(money: Money | None) -> int | None:
    return money.minor if money is not None and money.currency == "ZAR" else None


def _listed(areas: Iterable[Any], name: str) -> list[str]:
    return [str(one) for area in areas for one in _get(area, name) or []]


def _get(value: Any, name: str) -> Any:
    return value.get(name) if isinstance(value, dict) else None


def _ref(record: RecordView) -> str:
    return f"{record.type}:{record.ref.id}"
