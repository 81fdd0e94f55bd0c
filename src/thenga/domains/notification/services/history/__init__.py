"""History: what happened to each message, append-only."""

from thenga.domains.notification.services.history.entries import Filters, list_entries, record

__all__ = ["Filters", "list_entries", "record"]
