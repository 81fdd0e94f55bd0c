"""Integrations: settings and sealed secrets of providers."""

from thenga.domains.administration.services.integrations.fingerprints import fingerprint
from thenga.domains.administration.services.integrations.handing_out import sealed
from thenga.domains.administration.services.integrations.integrations import (
    activate,
    change_settings,
    create,
    list_integrations,
    pause,
    rotation_period,
    set_secret,
)
from thenga.domains.administration.services.integrations.kinds import KindCode, SettingsInvalid
from thenga.domains.administration.services.integrations.secrets import (
    SecretMissing,
    SecretUnknown,
    purge_replaced,
    valid_secrets,
)

__all__ = [
    "KindCode",
    "SecretMissing",
    "SecretUnknown",
    "SettingsInvalid",
    "activate",
    "change_settings",
    "create",
    "fingerprint",
    "list_integrations",
    "pause",
    "purge_replaced",
    "rotation_period",
    "sealed",
    "set_secret",
    "valid_secrets",
]
