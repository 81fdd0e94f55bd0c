"""Gates beside the score: what excludes a company, and what it does not want (OPP-31).

Pure functions. A hard gate that fails makes the company ineligible; what rests on a suggestion or
a doubt is at most `unknown`.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Literal
from uuid import UUID

from thenga.domains.opportunity.services.matching.features import (
    CidbAsked,
    ProfileFeatures,
    TenderFeatures,
)
from thenga.domains.opportunity.services.matching.scoring import (
    days_left,
    found_keywords,
    holds,
    in_band,
)
from thenga.kernel.values.calendar import local_day

Result = Literal["pass", "fail", "unknown"]
Attendances = Mapping[UUID, str]  # by briefing: registered, attended or missed


@dataclass(frozen=True, slots=True)
class Gate:
    """One gate and what it says of a company."""

    code: str
    kind: Literal["hard", "preference"]
    result: Result
    basis: str
    why: str

    def to_row(self) -> dict[str, str]:
        return {
            "code": self.code,
            "kind": self.kind,
            "result": self.result,
            "basis": self.basis,
            "why": self.why,
        }


def gates(
    tender: TenderFeatures, profile: ProfileFeatures, attended: Attendances, *, now: datetime
) -> tuple[Gate, ...]:
    """The gates that apply to this tender and this company, hard ones first."""
    found = [
        _closed(tender, now),
        _cidb(tender, profile),
        _briefing(tender, attended, now),
        _blocker(tender, profile),
        _excluded(tender, profile),
        _notice(tender, profile, now),
        _value(tender, profile),
        _buyer(tender, profile),
        _method(tender, profile),
        _briefing_wish(tender, profile),
    ]
    return tuple(gate for gate in found if gate is not None)


def is_eligible(found: tuple[Gate, ...]) -> bool:
    return not any(gate.kind == "hard" and gate.result == "fail" for gate in found)


def failed_codes(found: tuple[Gate, ...]) -> list[str]:
    return [gate.code for gate in found if gate.result == "fail"]


def _closed(tender: TenderFeatures, now: datetime) -> Gate:
    if not tender.is_open or (tender.closes_at is not None and tender.closes_at <= now):
        return Gate("closed", "hard", "fail", "status", "The tender no longer accepts bids.")
    return Gate("closed", "hard", "pass", "status", "The tender accepts bids.")


def grade_result(profile: ProfileFeatures, asked: CidbAsked, tender: TenderFeatures) -> Result:
    """Whether the company holds the grading on the closing day."""
    fits = [held for held in profile.cidb if holds(held, asked)]
    if not asked.sure:
        return "unknown"
    if tender.closes_at is None:
        return "unknown" if fits else "fail"
    closing_day = local_day(tender.closes_at)
    dated = [held for held in fits if held.valid_until is not None]
    if any(held.valid_until >= closing_day for held in dated if held.valid_until):
        return "pass"
    undated = [held for held in fits if held.valid_until is None]
    if any(held.proof == "verified" for held in undated):
        return "pass"
    return "unknown" if undated else "fail"


def _cidb(tender: TenderFeatures, profile: ProfileFeatures) -> Gate | None:
    if not tender.cidb:
        return None
    results = [grade_result(profile, asked, tender) for asked in tender.cidb]
    result = _worst(results)
    asked = ", ".join(f"{one.grade}{one.works}" for one in tender.cidb)
    held = ", ".join(f"{one.grade}{one.works}" for one in profile.cidb) or "no grading"
    basis = "requirement" if all(one.sure for one in tender.cidb) else "suggestion"
    return Gate("cidb_grade", "hard", result, basis, f"Required: {asked}. You hold: {held}.")


def _worst(results: list[Result]) -> Result:
    return "fail" if "fail" in results else "unknown" if "unknown" in results else "pass"


def attendance_result(state: str | None, starts_at: datetime, now: datetime) -> Result:
    """Attendance is what a person recorded. Silence after the briefing is no absence (OPP-27)."""
    if state == "missed":
        return "fail"
    if state == "attended" or starts_at > now:
        return "pass"
    return "unknown"


def _briefing(tender: TenderFeatures, attended: Attendances, now: datetime) -> Gate | None:
    if not tender.briefings:
        return None
    result = _worst(
        [
            attendance_result(attended.get(one.briefing_id), one.starts_at, now)
            for one in tender.briefings
        ]
    )
    why = {
        "pass": "Every compulsory briefing was attended or is still ahead.",
        "fail": "A compulsory briefing was missed.",
        "unknown": "A compulsory briefing is over. Record whether you attended it.",
    }[result]
    return Gate("compulsory_briefing", "hard", result, "attendance", why)


def _blocker(tender: TenderFeatures, profile: ProfileFeatures) -> Gate | None:
    if not tender.mandatory_codes:
        return None
    if profile.blockers is None:
        why = "Compliance has not assessed your documents yet."
        return Gate("compliance_blocker", "hard", "unknown", "readiness", why)
    missing = sorted(tender.mandatory_codes & profile.blockers)
    if missing:
        why = f"Valid proof is missing: {', '.join(missing)}."
        return Gate("compliance_blocker", "hard", "fail", "readiness", why)
    return Gate(
        "compliance_blocker", "hard", "pass", "readiness", "No mandatory document is missing."
    )


def _excluded(tender: TenderFeatures, profile: ProfileFeatures) -> Gate | None:
    if not profile.excluded:
        return None
    found = found_keywords(profile.excluded, tender.words)
    why = (
        "The text contains a keyword that you exclude."
        if found
        else "The text contains no excluded keyword."
    )
    return _wish("excluded_keyword", not found, why)


def _notice(tender: TenderFeatures, profile: ProfileFeatures, now: datetime) -> Gate:
    left = days_left(tender, local_day(now))
    if left is None:
        why = "The closing time is not known."
        return Gate("notice_period", "preference", "unknown", "preferences", why)
    why = f"{left} days are left; you want at least {profile.notice_days}."
    return _wish("notice_period", left >= profile.notice_days, why)


def _value(tender: TenderFeatures, profile: ProfileFeatures) -> Gate | None:
    low, high = profile.value_min_minor, profile.value_max_minor
    if low is None and high is None:
        return None
    if tender.value_minor is None:
        why = "The value of the tender is not known."
        return Gate("value_band", "preference", "unknown", "preferences", why)
    fits = in_band(tender.value_minor, low, high)
    return _wish(
        "value_band",
        fits,
        "The value is in your range." if fits else "The value is outside your range.",
    )


def _buyer(tender: TenderFeatures, profile: ProfileFeatures) -> Gate | None:
    if not profile.buyer_types or tender.buyer_type is None:
        return None
    fits = tender.buyer_type in profile.buyer_types
    return _wish("buyer_type", fits, f"The type of the buyer is {tender.buyer_type}.")


def _method(tender: TenderFeatures, profile: ProfileFeatures) -> Gate | None:
    if not profile.methods or tender.method is None:
        return None
    return _wish("method", tender.method in profile.methods, f"The method is {tender.method}.")


def _briefing_wish(tender: TenderFeatures, profile: ProfileFeatures) -> Gate | None:
    if not tender.briefings or profile.briefings == "any":
        return None
    near = tender.municipality in profile.municipalities or bool(
        tender.provinces & profile.provinces
    )
    fits = profile.briefings == "nearby_only" and near
    why = "There is a compulsory briefing near you." if fits else "There is a compulsory briefing."
    return _wish("briefing_wish", fits, why)


def _wish(code: str, fits: bool, why: str) -> Gate:
    return Gate(code, "preference", "pass" if fits else "fail", "preferences", why)
