"""Which moves exist in Identity."""

from datetime import datetime

from thenga.domains.identity.tables import (
    ApiKeyStatus,
    AssignmentStatus,
    ChallengeStatus,
    FactorStatus,
    InvitationStatus,
    MembershipStatus,
    RoleStatus,
    SessionStatus,
    UserAccount,
    UserStatus,
)
from thenga.kernel.declare.lifecycle import By, Lifecycle, Move
from thenga.kernel.errors import Conflict


def was_proved(account: UserAccount, at: datetime) -> None:
    """Enabling is no short-cut: who never proved the address must still do so."""
    if account.email_verified_at is None:
        raise Conflict("The address was never proved, so the account goes back to waiting for it.")


def was_never_proved(account: UserAccount, at: datetime) -> None:
    if account.email_verified_at is not None:
        raise Conflict("The address was proved already, so the account becomes active again.")


class UserLifecycle(Lifecycle, initial=UserStatus.PENDING_VERIFICATION):
    verify = Move(UserStatus.PENDING_VERIFICATION, to=UserStatus.ACTIVE)
    disable = Move(UserStatus.PENDING_VERIFICATION, UserStatus.ACTIVE, to=UserStatus.DISABLED)
    enable = Move(UserStatus.DISABLED, to=UserStatus.ACTIVE, guard=was_proved)
    reopen = Move(UserStatus.DISABLED, to=UserStatus.PENDING_VERIFICATION, guard=was_never_proved)


class SessionLifecycle(Lifecycle, initial=(SessionStatus.PENDING_MFA, SessionStatus.ACTIVE)):
    complete = Move(SessionStatus.PENDING_MFA, to=SessionStatus.ACTIVE)
    sign_out = Move(SessionStatus.PENDING_MFA, SessionStatus.ACTIVE, to=SessionStatus.SIGNED_OUT)
    revoke = Move(SessionStatus.PENDING_MFA, SessionStatus.ACTIVE, to=SessionStatus.REVOKED)
    expire = Move(
        SessionStatus.PENDING_MFA, SessionStatus.ACTIVE, to=SessionStatus.EXPIRED, by=By.SYSTEM
    )


class MembershipLifecycle(Lifecycle, initial=(MembershipStatus.PENDING, MembershipStatus.ACTIVE)):
    accept = Move(MembershipStatus.PENDING, to=MembershipStatus.ACTIVE)
    decline = Move(MembershipStatus.PENDING, to=MembershipStatus.REMOVED)
    leave = Move(MembershipStatus.ACTIVE, MembershipStatus.INACTIVE, to=MembershipStatus.REMOVED)
    deactivate = Move(MembershipStatus.ACTIVE, to=MembershipStatus.INACTIVE)
    reactivate = Move(MembershipStatus.INACTIVE, to=MembershipStatus.ACTIVE)
    remove = Move(
        MembershipStatus.PENDING,
        MembershipStatus.ACTIVE,
        MembershipStatus.INACTIVE,
        to=MembershipStatus.REMOVED,
    )


class InvitationLifecycle(Lifecycle, initial=InvitationStatus.PENDING):
    accept = Move(InvitationStatus.PENDING, to=InvitationStatus.ACCEPTED)
    decline = Move(InvitationStatus.PENDING, to=InvitationStatus.DECLINED)
    revoke = Move(InvitationStatus.PENDING, to=InvitationStatus.REVOKED)
    expire = Move(InvitationStatus.PENDING, to=InvitationStatus.EXPIRED, by=By.SYSTEM)


class RoleLifecycle(Lifecycle, initial=RoleStatus.DRAFT):
    activate = Move(RoleStatus.DRAFT, to=RoleStatus.ACTIVE)
    deprecate = Move(RoleStatus.ACTIVE, to=RoleStatus.DEPRECATED)
    retire = Move(RoleStatus.DEPRECATED, to=RoleStatus.RETIRED)


class AssignmentLifecycle(Lifecycle, initial=(AssignmentStatus.SCHEDULED, AssignmentStatus.ACTIVE)):
    begin = Move(AssignmentStatus.SCHEDULED, to=AssignmentStatus.ACTIVE, by=By.SYSTEM)
    expire = Move(
        AssignmentStatus.SCHEDULED,
        AssignmentStatus.ACTIVE,
        to=AssignmentStatus.EXPIRED,
        by=By.SYSTEM,
    )
    revoke = Move(AssignmentStatus.SCHEDULED, AssignmentStatus.ACTIVE, to=AssignmentStatus.REVOKED)


class ApiKeyLifecycle(Lifecycle, initial=ApiKeyStatus.ACTIVE):
    rotate = Move(ApiKeyStatus.ACTIVE, to=ApiKeyStatus.ROTATING)
    revoke = Move(ApiKeyStatus.ACTIVE, ApiKeyStatus.ROTATING, to=ApiKeyStatus.REVOKED)
    expire = Move(ApiKeyStatus.ACTIVE, ApiKeyStatus.ROTATING, to=ApiKeyStatus.EXPIRED, by=By.SYSTEM)


class FactorLifecycle(Lifecycle, initial=(FactorStatus.PENDING, FactorStatus.ACTIVE)):
    verify = Move(FactorStatus.PENDING, to=FactorStatus.ACTIVE)
    disable = Move(FactorStatus.PENDING, FactorStatus.ACTIVE, to=FactorStatus.DISABLED)


class ChallengeLifecycle(Lifecycle, initial=ChallengeStatus.ISSUED):
    verify = Move(ChallengeStatus.ISSUED, to=ChallengeStatus.VERIFIED)
    fail = Move(ChallengeStatus.ISSUED, to=ChallengeStatus.FAILED, by=By.SYSTEM)
    expire = Move(ChallengeStatus.ISSUED, to=ChallengeStatus.EXPIRED, by=By.SYSTEM)


LIFECYCLES = (
    UserLifecycle,
    SessionLifecycle,
    MembershipLifecycle,
    InvitationLifecycle,
    RoleLifecycle,
    AssignmentLifecycle,
    ApiKeyLifecycle,
    FactorLifecycle,
    ChallengeLifecycle,
)
