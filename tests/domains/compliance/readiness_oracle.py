"""Readiness a second time, slowly, from the sentences of CMP-27 to CMP-30 alone.

It shares the values that go in and no function with the product.
"""

from collections.abc import Sequence
from datetime import date
from fractions import Fraction
from math import floor

from thenga.domains.compliance.services.readiness.values import Need, Point, Proof, Rules, Subject

NOTHING = ("missing", "expired", "failed")
WORTH = {"met": 100, "provisional": 60, "missing": 0, "expired": 0, "failed": 0}


def is_dated_good(need: Need, proof: Proof, on: date, today: date) -> bool:
    """Fits as far as a machine can say, was not sent back, and its days include the day."""
    if proof.standing in ("rejected", "returned") or proof.fit == "does_not_fit":
        return False
    if proof.is_undated or (proof.first_day and on < proof.first_day):
        return False
    seen_on = today if need.is_live and on > today else on
    return proof.last_day is None or seen_on <= proof.last_day


def is_doubted(proof: Proof, others: int) -> bool:
    """By doubt always; without an answer only the one proof that nobody has verified."""
    if proof.doubt == "doubt":
        return True
    return proof.doubt == "no_answer" and others == 0 and proof.standing != "verified"


def is_checked_in_time(need: Need, proof: Proof, on: date, today: date) -> bool:
    """A state that somebody else keeps counts on a future day as it was last checked."""
    day = today if (need.is_live or need.recheck_days is not None) and on > today else on
    if proof.checked_until is not None and day > proof.checked_until:
        return False
    if need.recheck_days is None or proof.checked_on is None:
        return True
    return (day - proof.checked_on).days <= need.recheck_days


def state_of_proof(need: Need, proof: Proof, on: date, today: date, others: int) -> str:
    if proof.standing == "rejected":
        return "failed"
    if proof.standing == "returned" or proof.fit == "does_not_fit":
        return "missing"
    if proof.is_undated:
        return "unknown"
    if proof.first_day and on < proof.first_day:
        return "missing"
    if not is_dated_good(need, proof, on, today):
        return "unknown" if need.is_live else "expired"
    if is_doubted(proof, others):
        return "unknown"
    if proof.standing != "verified":
        return "unknown" if proof.fit == "needs_person" else "provisional"
    strong = int(proof.assurance) >= int(need.min_assurance)
    return "met" if strong and is_checked_in_time(need, proof, on, today) else "provisional"


def state_of_subject(need: Need, subject: Subject, on: date, today: date) -> str:
    others = len(subject.proofs) - 1
    found = {state_of_proof(need, proof, on, today, others) for proof in subject.proofs}
    for state in ("met", "provisional", "unknown", "failed", "expired"):
        if state in found:
            return state
    return "missing"


def state_of(
    need: Need, on: date, today: date, point: Point | None = None
) -> tuple[str, Fraction | None]:
    if need.applies is False or (point and point not in need.needed_at):
        return "not_applicable", None
    if need.applies is None:
        return "unknown", None
    states = [state_of_subject(need, subject, on, today) for subject in need.subjects]
    states = states or ["missing"]
    known = [state for state in states if state != "unknown"]
    bad = [state for state in known if state in NOTHING]
    if "unknown" in states and not bad:
        return "unknown", None
    mean = Fraction(sum(WORTH[state] for state in known), 100 * len(known))
    if len(bad) == len(known):
        return next(state for state in ("failed", "expired", "missing") if state in bad), mean
    if bad:
        return "partially_met", mean
    return ("met" if set(known) == {"met"} else "provisional"), mean


def shown(value: Fraction | None) -> str | None:
    """Half up to one place."""
    if value is None:
        return None
    tenths = floor(value * 10 + Fraction(1, 2))
    return f"{tenths // 10}.{tenths % 10}"


def total(rows: list[tuple[Need, Fraction | None]], rules: Rules) -> Fraction | None:
    of_parts: list[tuple[int, Fraction]] = []
    for code, weight in rules.component_weights:
        mine = [(need.weight, v) for need, v in rows if need.component == code and v is not None]
        if mine:
            part = sum((100 * w * v for w, v in mine), Fraction(0)) / sum(w for w, _ in mine)
            of_parts.append((weight, part))
    if not of_parts:
        return None
    return sum((w * part for w, part in of_parts), Fraction(0)) / sum(w for w, _ in of_parts)


def answer(
    needs: Sequence[Need], rules: Rules, on: date, today: date, point: Point | None = None
) -> dict[str, object]:
    found = [(need, *state_of(need, on, today, point)) for need in needs]
    counted = [row for row in found if row[1] != "not_applicable"]
    hard = [(need.code, state) for need, state, _ in counted if need.gate == "hard"]
    blockers = [code for code, state in hard if state in (*NOTHING, "partially_met")]
    raw = total([(need, value) for need, _, value in counted], rules)
    if blockers:
        verdict = "not_ready"
    elif not counted or any(state == "unknown" for _, state in hard):
        verdict = "unknown"
    else:
        whole = all(state == "met" for _, state, _ in counted)
        verdict = "ready" if whole else "ready_with_warnings"
    cap = Fraction(rules.blocked_cap)
    score = min(raw, cap) if blockers and raw is not None else raw
    low: list[tuple[Need, Fraction | None]] = [
        (need, Fraction(0) if value is None else value) for need, _, value in counted
    ]
    high: list[tuple[Need, Fraction | None]] = [
        (need, Fraction(1) if value is None else value) for need, _, value in counted
    ]
    return {
        "verdict": verdict,
        "score": shown(score),
        "raw": shown(raw),
        "range": (shown(total(low, rules)), shown(total(high, rules))),
        "blockers": sorted(set(blockers)),
        "states": [state for _, state, _ in found],
    }
