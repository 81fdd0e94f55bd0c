"""Health: the profile's score, its gaps and its history."""

from thenga.domains.organization.services.health.health import current_health, take_snapshot
from thenga.domains.organization.services.health.health_formula import (
    VERSION,
    Company,
    Gap,
    band,
    components,
    gaps,
    penalty,
    shown,
)

__all__ = [
    "VERSION",
    "Company",
    "Gap",
    "band",
    "components",
    "current_health",
    "gaps",
    "penalty",
    "shown",
    "take_snapshot",
]
