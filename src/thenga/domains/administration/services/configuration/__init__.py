"""Configuration: declarations and dated versions of settings."""

from thenga.domains.administration.services.configuration.declarations import sync_declarations

__all__ = ["sync_declarations"]
