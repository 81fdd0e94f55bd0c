"""Configuration: declarations and dated versions of settings."""

from thenga.domains.administration.services.configuration.checking import (
    UnknownKey,
    ValueInvalid,
    check_value,
    declared,
)
from thenga.domains.administration.services.configuration.declarations import sync_declarations
from thenga.domains.administration.services.configuration.phases import Phase, phases
from thenga.domains.administration.services.configuration.starting import (
    EffectiveDateInvalid,
    effective_date,
)
from thenga.domains.administration.services.configuration.versions import (
    BaseVersionOutdated,
    ChangeInFlight,
    acknowledge,
    approve,
    create,
    list_versions,
    reject,
)

__all__ = [
    "BaseVersionOutdated",
    "ChangeInFlight",
    "EffectiveDateInvalid",
    "Phase",
    "UnknownKey",
    "ValueInvalid",
    "acknowledge",
    "approve",
    "check_value",
    "create",
    "declared",
    "effective_date",
    "list_versions",
    "phases",
    "reject",
    "sync_declarations",
]
