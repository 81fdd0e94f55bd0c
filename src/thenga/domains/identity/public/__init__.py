"""What other domains may know of Identity: its events, its ports and their values."""

from thenga.domains.identity.public import belonging, keys, people, settings
from thenga.domains.identity.public.asking import demand, holds, permitted
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
from thenga.domains.identity.public.settings import PolicyAcknowledged

EVENTS = (*people.EVENTS, *belonging.EVENTS, *keys.EVENTS, *settings.EVENTS)

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
    "PolicyAcknowledged",
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
    "demand",
    "holds",
    "permitted",
]
