"""Registering, signing in, refreshing and signing out: how a person is known (IDN-1 to 10)."""

from thenga.domains.identity.services.auth._hashing import PasswordWeak
from thenga.domains.identity.services.auth._names import limit_key
from thenga.domains.identity.services.auth._purging import purge
from thenga.domains.identity.services.auth._refreshing import refresh
from thenga.domains.identity.services.auth._registering import (
    LinkSpent,
    LinkToDeliver,
    deliver_link,
    link_to_deliver,
    mark_delivered,
    register,
    verify_address,
)
from thenga.domains.identity.services.auth._signing_in import SignInRefused, sign_in, sign_out

__all__ = [
    "LinkSpent",
    "LinkToDeliver",
    "PasswordWeak",
    "SignInRefused",
    "deliver_link",
    "limit_key",
    "link_to_deliver",
    "mark_delivered",
    "purge",
    "refresh",
    "register",
    "sign_in",
    "sign_out",
    "verify_address",
]
