"""Registering, signing in, refreshing and proving: how a person is known (IDN-1 to 10)."""

from thenga.domains.identity.services.auth._addresses import ask_change, confirm_change
from thenga.domains.identity.services.auth._counting import note_lock, tell_lock, unlock
from thenga.domains.identity.services.auth._hashing import PasswordWeak, hashed, is_right
from thenga.domains.identity.services.auth._links import (
    LinkSpent,
    LinkToDeliver,
    deliver_link,
    link_to_deliver,
    mark_delivered,
    sealed_facts,
)
from thenga.domains.identity.services.auth._newcomers import newcomer
from thenga.domains.identity.services.auth._proving import FactorNeeded, ProofRefused, step_up
from thenga.domains.identity.services.auth._purging import (
    given_up,
    purge,
    remove_unproved,
    wipe_seals,
)
from thenga.domains.identity.services.auth._refreshing import refresh
from thenga.domains.identity.services.auth._registering import (
    invite,
    register,
    verify_address,
)
from thenga.domains.identity.services.auth._resetting import (
    ask_reset,
    change_password,
    confirm_reset,
)
from thenga.domains.identity.services.auth._results import HalfSignedIn, SignedIn
from thenga.domains.identity.services.auth._signing_in import (
    STRONG,
    SignInRefused,
    admit,
    arriving,
    counted_as,
    sign_in,
    sign_out,
)

__all__ = [
    "STRONG",
    "FactorNeeded",
    "HalfSignedIn",
    "LinkSpent",
    "LinkToDeliver",
    "PasswordWeak",
    "ProofRefused",
    "SignInRefused",
    "SignedIn",
    "admit",
    "arriving",
    "ask_change",
    "ask_reset",
    "change_password",
    "confirm_change",
    "confirm_reset",
    "counted_as",
    "deliver_link",
    "given_up",
    "hashed",
    "invite",
    "is_right",
    "link_to_deliver",
    "mark_delivered",
    "newcomer",
    "note_lock",
    "purge",
    "refresh",
    "register",
    "remove_unproved",
    "sealed_facts",
    "sign_in",
    "sign_out",
    "step_up",
    "tell_lock",
    "unlock",
    "verify_address",
    "wipe_seals",
]
