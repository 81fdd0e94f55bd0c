"""Memberships: who belongs where; people and organizations are many-to-many (IDN-18)."""

from thenga.domains.identity.services.memberships._joining import ask, found, join, tell
from thenga.domains.identity.services.memberships._listing import (
    HOLDERS_MOST,
    Shown,
    effective,
    get,
    holding,
    list_members,
    list_own,
    shown,
)
from thenga.domains.identity.services.memberships._moving import (
    MembershipVoid,
    accept,
    deactivate,
    decline,
    leave,
    move_clock,
    reactivate,
    remove,
)
from thenga.domains.identity.services.memberships.person_cards import describe_people
from thenga.domains.identity.services.memberships.seats import must_fit, room, used

__all__ = [
    "HOLDERS_MOST",
    "MembershipVoid",
    "Shown",
    "accept",
    "ask",
    "deactivate",
    "decline",
    "describe_people",
    "effective",
    "found",
    "get",
    "holding",
    "join",
    "leave",
    "list_members",
    "list_own",
    "move_clock",
    "must_fit",
    "reactivate",
    "remove",
    "room",
    "shown",
    "tell",
    "used",
]
