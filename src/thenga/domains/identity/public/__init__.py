"""What other domains may know of Identity: its events, its ports and their values."""

from thenga.domains.identity.public import belonging, keys, people
from thenga.domains.identity.public.belonging import (
    Belonging,
    InvitationAccepted,
    InvitationEnded,
    InvitationSent,
    Members,
    MembershipChanged,
    Memberships,
    PermissionAssignmentChanged,
    RoleAssignmentChanged,
    RoleChanged,
    ScopeRef,
)
from thenga.domains.identity.public.deciding import (
    ActorRef,
    AgentRef,
    Decision,
    Decisions,
    Question,
    ResourceRef,
)
from thenga.domains.identity.public.keys import (
    ApiKeyCreated,
    ApiKeyExpiring,
    ApiKeyRevoked,
    ApiKeyRotated,
)
from thenga.domains.identity.public.people import (
    AddressChanged,
    MfaFactorChanged,
    SessionRevoked,
    SessionStarted,
    UserDisabled,
    UserEnabled,
    UserLocked,
    UserRegistered,
)
from thenga.domains.identity.public.people_port import People, PersonCard

EVENTS = (*people.EVENTS, *belonging.EVENTS, *keys.EVENTS)

__all__ = [
    "EVENTS",
    "ActorRef",
    "AddressChanged",
    "AgentRef",
    "ApiKeyCreated",
    "ApiKeyExpiring",
    "ApiKeyRevoked",
    "ApiKeyRotated",
    "Belonging",
    "Decision",
    "Decisions",
    "InvitationAccepted",
    "InvitationEnded",
    "InvitationSent",
    "Members",
    "MembershipChanged",
    "Memberships",
    "MfaFactorChanged",
    "People",
    "PermissionAssignmentChanged",
    "PersonCard",
    "Question",
    "ResourceRef",
    "RoleAssignmentChanged",
    "RoleChanged",
    "ScopeRef",
    "SessionRevoked",
    "SessionStarted",
    "UserDisabled",
    "UserEnabled",
    "UserLocked",
    "UserRegistered",
]
