"""Score, range and verdict of a day, in exact fractions that are rounded once (CMP-28, CMP-29)."""

from collections.abc import Callable, Sequence
from datetime import date
from decimal import ROUND_HALF_UP, Decimal
from fractions import Fraction

from thenga.domains.compliance.services.readiness.assessing import assess
from thenga.domains.compliance.services.readiness.values import (
    Assessed,
    ComponentScore,
    Gate,
    Need,
    Outcome,
    Point,
    Remark,
    Rules,
    State,
    Verdict,
)

_BLOCKING = frozenset({State.MISSING, State.EXPIRED, State.FAILED, State.PARTIALLY_MET})
_UNCOUNTED = frozenset({State.MET, State.NOT_APPLICABLE})
_HUNDRED = 100
_PLACE = Decimal("0.1")

Valued = Callable[[Assessed], Fraction | None]


def evaluate(
    needs: Sequence[Need], rules: Rules, *, on: date, today: date, point: Point | None = None
) -> Outcome:
    """How ready a company is on a day, seen from today. Values in, value out."""
    items = tuple(assess(need, on=on, today=today, point=point) for need in needs)
    counted = [item for item in items if item.state is not State.NOT_APPLICABLE]
    raw = _total(counted, rules, lambda item: item.value)
    blockers = tuple(item.need.code for item in counted if _blocks(item))
    return Outcome(
        verdict=_verdict(counted, blockers),
        score=_capped(raw, rules) if blockers else _rounded(raw),
        raw_score=_rounded(raw),
        low=_rounded(_total(counted, rules, lambda item: item.value or Fraction(0))),
        high=_rounded(_total(counted, rules, _at_best)),
        coverage=_coverage(counted),
        components=_components(counted, rules),
        blockers=tuple(dict.fromkeys(blockers)),
        warnings=_warnings(counted),
        unknowns=tuple(
            Remark(item.need.code, reason)
            for item in counted
            if item.state is State.UNKNOWN
            for reason in item.reasons
        ),
        assumptions=tuple(
            Remark(item.need.code, reason) for item in counted for reason in item.assumptions
        ),
        items=items,
    )


def _blocks(item: Assessed) -> bool:
    return item.need.gate is Gate.HARD and item.state in _BLOCKING


def _verdict(counted: Sequence[Assessed], blockers: Sequence[str]) -> Verdict:
    if blockers:
        return Verdict.NOT_READY
    if not counted or any(
        item.need.gate is Gate.HARD and item.state is State.UNKNOWN for item in counted
    ):
        return Verdict.UNKNOWN
    if any(item.state not in _UNCOUNTED for item in counted):
        return Verdict.READY_WITH_WARNINGS
    return Verdict.READY


def _warnings(counted: Sequence[Assessed]) -> tuple[Remark, ...]:
    """What is below met and neither blocks nor is unknown."""
    return tuple(
        Remark(item.need.code, reason)
        for item in counted
        if item.state not in (*_UNCOUNTED, State.UNKNOWN) and not _blocks(item)
        for reason in item.reasons or (item.state.value,)
    )


def _at_best(item: Assessed) -> Fraction:
    return Fraction(1) if item.value is None else item.value


def _total(counted: Sequence[Assessed], rules: Rules, valued: Valued) -> Fraction | None:
    """Σ(W·component)/ΣW over the components of which something is known."""
    weights = scores = Fraction(0)
    for code, weight in rules.component_weights:
        score = _component(counted, code, valued)
        if score is not None:
            weights += weight
            scores += weight * score
    return scores / weights if weights else None


def _component(counted: Sequence[Assessed], code: str, valued: Valued) -> Fraction | None:
    pairs = [(item.need.weight, valued(item)) for item in counted if item.need.component == code]
    known = [(weight, value) for weight, value in pairs if value is not None]
    if not known:
        return None
    return sum((w * value for w, value in known), Fraction(0)) / sum(w for w, _ in known) * _HUNDRED


def _components(counted: Sequence[Assessed], rules: Rules) -> tuple[ComponentScore, ...]:
    found = []
    for code, weight in rules.component_weights:
        mine = [item for item in counted if item.need.component == code]
        if mine:
            ids = tuple(
                item.need.requirement_id for item in mine if item.need.requirement_id is not None
            )
            score = _rounded(_component(counted, code, lambda item: item.value))
            found.append(ComponentScore(code, weight, score, ids))
    return tuple(found)


def _coverage(counted: Sequence[Assessed]) -> Decimal | None:
    """How much of what is asked is known, by weight."""
    whole = sum(item.need.weight for item in counted)
    known = sum(item.need.weight for item in counted if item.value is not None)
    return _rounded(Fraction(known * _HUNDRED, whole)) if whole else None


def _capped(raw: Fraction | None, rules: Rules) -> Decimal | None:
    shown = _rounded(raw)
    return None if shown is None else min(shown, rules.blocked_cap)


def _rounded(value: Fraction | None) -> Decimal | None:
    """Half up to one place; the fraction is exact, so this is the only rounding."""
    if value is None:
        return None
    tenths = (value.numerator * 20 + value.denominator) // (2 * value.denominator)
    return (Decimal(tenths) / 10).quantize(_PLACE, rounding=ROUND_HALF_UP)
