"""The score of a candidate for a need (MKT-23). Values in, score out."""

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Literal

from thenga.domains.marketplace.services.weighing import (
    ServiceLevel,
    Weighed,
    combine,
    place_factor,
    trust_factor,
)
from thenga.domains.marketplace.values.factors import Score
from thenga.domains.supplier.public import TrustLevel

VERSION = 1
WEIGHTS = {"capability": 40, "requirements": 30, "place": 15, "trust": 15}

Proof = Literal["verified", "evidence", "claimed"]
State = Literal["met", "not_met", "unknown"]

PROOFS: dict[Proof, Decimal] = {
    "verified": Decimal(1),
    "evidence": Decimal("0.7"),
    "claimed": Decimal("0.4"),
}
PARENT = Decimal("0.6")  # what a capability in the parent category counts
_STATES: dict[State, Decimal] = {
    "met": Decimal(1),
    "unknown": Decimal("0.3"),
    "not_met": Decimal(0),
}


@dataclass(frozen=True, slots=True)
class Fit:
    """How a candidate fits a need; no place where none was asked for."""

    proof: Proof
    in_parent: bool
    states: Sequence[State]
    place: ServiceLevel | None
    trust: TrustLevel | None


def score(fit: Fit) -> Score:
    """The score of a candidate with its factors."""
    capability = capability_value(fit.proof, in_parent=fit.in_parent)
    where = "the parent category" if fit.in_parent else "the category"
    why = f"The best capability in {where} is {fit.proof}."
    weighed = [Weighed("capability", WEIGHTS["capability"], capability, why)]
    if fit.states:
        mean = sum((_STATES[state] for state in fit.states), Decimal(0)) / len(fit.states)
        met = sum(state == "met" for state in fit.states)
        why = f"{met} of {len(fit.states)} requirements are met."
        weighed.append(Weighed("requirements", WEIGHTS["requirements"], mean, why))
    if fit.place is not None:
        weighed.append(place_factor(WEIGHTS["place"], fit.place))
    weighed.append(trust_factor(WEIGHTS["trust"], fit.trust))
    return combine(weighed)


def capability_value(proof: Proof, *, in_parent: bool) -> Decimal:
    """How well a capability is proven, less where it is in the parent category alone."""
    return PROOFS[proof] * (PARENT if in_parent else 1)
