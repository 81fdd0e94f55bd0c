"""Integrations: settings and sealed secrets of providers."""

from thenga.domains.administration.services.integrations.fingerprints import fingerprint

__all__ = ["fingerprint"]
