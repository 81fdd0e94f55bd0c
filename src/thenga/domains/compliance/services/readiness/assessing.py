"""The assessment of one requirement on one day: the best proof counts (CMP-27)."""

from datetime import date, timedelta
from fractions import Fraction

from thenga.domains.compliance.services.readiness.values import (
    PROVISIONAL_VALUE,
    Assessed,
    Assurance,
    Doubt,
    Fit,
    Need,
    Point,
    Proof,
    Standing,
    State,
    Subject,
)

# Best first; of states that count nothing the one that says most comes first.
_ORDER = (
    State.MET,
    State.PROVISIONAL,
    State.UNKNOWN,
    State.FAILED,
    State.EXPIRED,
    State.MISSING,
)
_RANK = {state: place for place, state in enumerate(_ORDER)}
_NOTHING = frozenset({State.MISSING, State.EXPIRED, State.FAILED})
_VALUES = {State.MET: Fraction(1), State.PROVISIONAL: PROVISIONAL_VALUE}
_ENDLESS = date.max

RECHECK_DUE = "recheck_due"  # a live state that nobody checked again in time (CMP-20)
COUNTED_AS_LAST_CHECKED = "live_state"


class _Found:
    """The state of one proof, with what is to be told of it."""

    __slots__ = ("assumes", "proof", "reason", "state")

    def __init__(
        self, proof: Proof | None, state: State, reason: str, *, assumes: bool = False
    ) -> None:
        self.proof, self.state, self.reason, self.assumes = proof, state, reason, assumes


_NONE_FOUND = _Found(None, State.MISSING, "no_proof")


def assess(need: Need, *, on: date, today: date, point: Point | None = None) -> Assessed:
    """How a requirement stands on a day, seen from today.

    With a `point` of a tender only what is needed then counts.
    """
    if need.applies is False or (point is not None and point not in need.needed_at):
        return Assessed(need, State.NOT_APPLICABLE)
    if need.applies is None:
        return Assessed(need, State.UNKNOWN, reasons=("undetermined",))
    if not need.subjects:
        return Assessed(need, State.MISSING, Fraction(0), reasons=("no_proof",))
    found = [_best(need, subject, on=on, today=today) for subject in need.subjects]
    state, value = _combine([one.state for one in found])
    proofs = [one.proof for one in found if one.proof is not None]
    ends = [proof.last_day for proof in proofs if proof.last_day is not None]
    return Assessed(
        need,
        state,
        value,
        valid_until=min(ends, default=None),
        assurance=min((proof.assurance for proof in proofs), default=Assurance.NONE),
        checked_on=min(
            (proof.checked_on for proof in proofs if proof.checked_on is not None), default=None
        ),
        evidence_ids=tuple(dict.fromkeys(proof.evidence_id for proof in proofs)),
        proof_version=proofs[0].version if proofs else None,
        reasons=tuple(dict.fromkeys(one.reason for one in found if one.reason)),
        assumptions=(COUNTED_AS_LAST_CHECKED,) if any(one.assumes for one in found) else (),
    )


def _combine(states: list[State]) -> tuple[State, Fraction | None]:
    """One state for all subjects. A subject that is certainly not covered decides; an unknown one
    is left out of the mean."""
    known = [state for state in states if state is not State.UNKNOWN]
    uncovered = [state for state in known if state in _NOTHING]
    if not uncovered and len(known) < len(states):
        return State.UNKNOWN, None
    value = sum((_VALUES.get(state, Fraction(0)) for state in known), Fraction(0)) / len(known)
    if len(uncovered) == len(known):
        return min(uncovered, key=_RANK.__getitem__), value
    if uncovered:
        return State.PARTIALLY_MET, value
    return max(known, key=_RANK.__getitem__), value


def _best(need: Need, subject: Subject, *, on: date, today: date) -> _Found:
    is_only = len(subject.proofs) == 1
    found = [_look(need, proof, on=on, today=today, is_only=is_only) for proof in subject.proofs]
    return min(found, key=_place, default=_NONE_FOUND)


def _place(found: _Found) -> tuple[int, int, int]:
    """Of equal proofs the one that ends last counts, then the one verified more strongly."""
    proof = found.proof
    if proof is None:
        return _RANK[found.state], 0, 0
    last = proof.last_day or (date.min if proof.is_undated else _ENDLESS)
    return _RANK[found.state], -last.toordinal(), -proof.assurance


def _look(need: Need, proof: Proof, *, on: date, today: date, is_only: bool) -> _Found:
    if proof.standing is Standing.REJECTED:
        return _Found(proof, State.FAILED, "rejected")
    if proof.standing is Standing.RETURNED:
        return _Found(None, State.MISSING, "returned")
    if proof.fit is Fit.DOES_NOT_FIT:
        return _Found(None, State.MISSING, "does_not_fit")
    if proof.is_undated:
        return _Found(proof, State.UNKNOWN, "undated")
    if proof.first_day is not None and proof.first_day > on:
        return _Found(None, State.MISSING, "not_yet_valid")
    looked_at = min(on, today) if need.is_live else on
    if proof.last_day is not None and proof.last_day < looked_at:
        state = State.UNKNOWN if need.is_live else State.EXPIRED
        return _Found(proof, state, "outdated" if need.is_live else "expired")
    return _judge(need, proof, on=on, today=today, is_only=is_only)


def _judge(need: Need, proof: Proof, *, on: date, today: date, is_only: bool) -> _Found:
    """A proof that is good on the day: what do its checks say?"""
    is_verified = proof.standing is Standing.VERIFIED
    if proof.doubt is Doubt.DOUBT:
        return _Found(proof, State.UNKNOWN, "check_inconclusive")
    if proof.doubt is Doubt.NO_ANSWER and is_only and not is_verified:
        return _Found(proof, State.UNKNOWN, "check_inconclusive")
    if proof.fit is Fit.NEEDS_PERSON and not is_verified:
        return _Found(proof, State.UNKNOWN, "needs_person")
    if not is_verified:
        return _Found(proof, State.PROVISIONAL, "not_verified")
    if proof.assurance < need.min_assurance:
        return _Found(proof, State.PROVISIONAL, "weakly_verified")
    is_kept_elsewhere = need.is_live or need.recheck_days is not None
    checked_for = min(on, today) if is_kept_elsewhere else on
    until = _checked_until(need, proof)
    if until is not None and until < checked_for:
        return _Found(proof, State.PROVISIONAL, RECHECK_DUE)
    return _Found(proof, State.MET, "", assumes=is_kept_elsewhere and on > today)


def _checked_until(need: Need, proof: Proof) -> date | None:
    ends = [] if proof.checked_until is None else [proof.checked_until]
    if need.recheck_days is not None and proof.checked_on is not None:
        ends.append(proof.checked_on + timedelta(days=need.recheck_days))
    return min(ends, default=None)
