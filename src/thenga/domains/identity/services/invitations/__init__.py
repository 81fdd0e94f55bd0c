"""Invitations: somebody is asked by letter to join, and answers with what the letter holds."""

from thenga.domains.identity.services.invitations._answering import (
    Accepted,
    InvitationOver,
    InvitationVoid,
    OtherAddress,
    Seen,
    accept,
    decline,
    inspect,
)
from thenga.domains.identity.services.invitations._delivering import (
    LetterToDeliver,
    deliver_invitation,
    letter_to_deliver,
    mark_delivered,
)
from thenga.domains.identity.services.invitations._sending import (
    create,
    follow_time,
    list_all,
    resend,
    revoke,
)
from thenga.domains.identity.services.invitations._telling import scope_of, shown_status

__all__ = [
    "Accepted",
    "InvitationOver",
    "InvitationVoid",
    "LetterToDeliver",
    "OtherAddress",
    "Seen",
    "accept",
    "create",
    "decline",
    "deliver_invitation",
    "follow_time",
    "inspect",
    "letter_to_deliver",
    "list_all",
    "mark_delivered",
    "resend",
    "revoke",
    "scope_of",
    "shown_status",
]
