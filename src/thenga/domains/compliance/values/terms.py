"""What a requirement asks for on a day: the catalogue's row with what its own row overrides."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

COMPONENTS = (
    *("registration", "tax", "integrity", "ownership", "labour", "standing", "sector", "tender"),
)
GATES = ("points", "soft", "hard")  # loosest first
SPHERES = ("national", "provincial", "municipal", "state_company")
NEEDED_AT = ("closing", "validity_end", "award")
# The reading of what `params` may hold, strictest first where it can be told.
STRICTER_IS_LESS = ("maxAgeDays", "maxAgeMonths", "maxBbbeeLevel", "arrearsMonths")


@dataclass(frozen=True, slots=True)
class Terms:
    """Everything that an evaluation needs to know of one requirement on one day."""

    code: str | None
    title: str
    component: str
    weight: int
    gate: str
    hard_when: Mapping[str, Any] | None
    locked: bool
    per_subject: str
    proof: Mapping[str, Any] | None
    validity: Mapping[str, Any] | None
    recheck_days: int | None
    min_assurance: str
    needed_at: tuple[str, ...]
    params: Mapping[str, Any]
    source: Mapping[str, Any] | None


def loosened(
    *, locked: bool, gate: str, wanted_gate: str | None, params: Mapping[str, Any]
) -> str | None:
    """The field by which a tender's row loosens a locked requirement, or None (CMP-5)."""
    if not locked:
        return None
    if wanted_gate is not None and GATES.index(wanted_gate) < GATES.index(gate):
        return "gate"
    return "params" if params.get("waived") else None
