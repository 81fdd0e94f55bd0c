"""Sessions: sign-ins that are alive, their devices, and when they were last used."""

from thenga.domains.identity.services.sessions.devices import (
    forget_device,
    list_devices,
    recognize_device,
    record_device,
    remember_device,
)
from thenga.domains.identity.services.sessions.last_seen import fold_uses, note_use
from thenga.domains.identity.services.sessions.managed_sessions import (
    find_session,
    revoke_session,
    switch_organization,
)
from thenga.domains.identity.services.sessions.session_uses import (
    last_active,
    list_managed_sessions,
)
from thenga.domains.identity.services.sessions.sessions import (
    StartedSession,
    TokenPair,
    close_session,
    complete_session,
    end_all_sessions,
    end_session,
    expire_session,
    list_sessions,
    make_room,
    mint_pair,
    session_lifetimes,
    session_over,
    session_status,
    start_half_session,
    start_session,
)

__all__ = [
    "StartedSession",
    "TokenPair",
    "close_session",
    "complete_session",
    "end_all_sessions",
    "end_session",
    "expire_session",
    "find_session",
    "fold_uses",
    "forget_device",
    "last_active",
    "list_devices",
    "list_managed_sessions",
    "list_sessions",
    "make_room",
    "mint_pair",
    "note_use",
    "recognize_device",
    "record_device",
    "remember_device",
    "revoke_session",
    "session_lifetimes",
    "session_over",
    "session_status",
    "start_half_session",
    "start_session",
    "switch_organization",
]
