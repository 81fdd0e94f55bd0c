"""Integrations: settings and sealed secrets of providers."""

from thenga.domains.administration.services.integrations.fingerprints import fingerprint
from thenga.domains.administration.services.integrations.handing_out import sealed

__all__ = ["fingerprint", "sealed"]
