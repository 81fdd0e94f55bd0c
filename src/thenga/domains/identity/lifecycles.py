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
from thenga.kernel.errors import Conflict
from thenga.kernel.lifecycle import By, Lifecycle, Move

A, I, K = AssignmentStatus, InvitationStatus, ApiKeyStatus  # noqa: E741  # one letter each
M, R, S, U = MembershipStatus, RoleStatus, SessionStatus, UserStatus
C, F = ChallengeStatus, FactorStatus


def was_proved(account: UserAccount, at: datetime) -> None:
    """Enabling is no short-cut: who never proved the address must still do so."""
    if account.email_verified_at is None:
        raise Conflict("The address was never proved, so the account goes back to waiting for it.")


def was_never_proved(account: UserAccount, at: datetime) -> None:
    if account.email_verified_at is not None:
        raise Conflict("The address was proved already, so the account becomes active again.")


class UserLifecycle(Lifecycle, initial=U.PENDING_VERIFICATION):
    verify = Move(U.PENDING_VERIFICATION, to=U.ACTIVE)
    disable = Move(U.PENDING_VERIFICATION, U.ACTIVE, to=U.DISABLED)
    enable = Move(U.DISABLED, to=U.ACTIVE, guard=was_proved)
    reopen = Move(U.DISABLED, to=U.PENDING_VERIFICATION, guard=was_never_proved)


class SessionLifecycle(Lifecycle, initial=(S.PENDING_MFA, S.ACTIVE)):
    complete = Move(S.PENDING_MFA, to=S.ACTIVE)
    sign_out = Move(S.PENDING_MFA, S.ACTIVE, to=S.SIGNED_OUT)
    revoke = Move(S.PENDING_MFA, S.ACTIVE, to=S.REVOKED)
    expire = Move(S.PENDING_MFA, S.ACTIVE, to=S.EXPIRED, by=By.SYSTEM)


class MembershipLifecycle(Lifecycle, initial=(M.PENDING, M.ACTIVE)):
    accept = Move(M.PENDING, to=M.ACTIVE)
    decline = Move(M.PENDING, to=M.REMOVED)
    leave = Move(M.ACTIVE, M.INACTIVE, to=M.REMOVED)
    deactivate = Move(M.ACTIVE, to=M.INACTIVE)
    reactivate = Move(M.INACTIVE, to=M.ACTIVE)
    remove = Move(M.PENDING, M.ACTIVE, M.INACTIVE, to=M.REMOVED)


class InvitationLifecycle(Lifecycle, initial=I.PENDING):
    accept = Move(I.PENDING, to=I.ACCEPTED)
    decline = Move(I.PENDING, to=I.DECLINED)
    revoke = Move(I.PENDING, to=I.REVOKED)
    expire = Move(I.PENDING, to=I.EXPIRED, by=By.SYSTEM)


class RoleLifecycle(Lifecycle, initial=R.DRAFT):
    activate = Move(R.DRAFT, to=R.ACTIVE)
    deprecate = Move(R.ACTIVE, to=R.DEPRECATED)
    retire = Move(R.DEPRECATED, to=R.RETIRED)


class AssignmentLifecycle(Lifecycle, initial=(A.SCHEDULED, A.ACTIVE)):
    begin = Move(A.SCHEDULED, to=A.ACTIVE, by=By.SYSTEM)
    expire = Move(A.SCHEDULED, A.ACTIVE, to=A.EXPIRED, by=By.SYSTEM)
    revoke = Move(A.SCHEDULED, A.ACTIVE, to=A.REVOKED)


class ApiKeyLifecycle(Lifecycle, initial=K.ACTIVE):
    rotate = Move(K.ACTIVE, to=K.ROTATING)
    revoke = Move(K.ACTIVE, K.ROTATING, to=K.REVOKED)
    expire = Move(K.ACTIVE, K.ROTATING, to=K.EXPIRED, by=By.SYSTEM)


class FactorLifecycle(Lifecycle, initial=(F.PENDING, F.ACTIVE)):
    verify = Move(F.PENDING, to=F.ACTIVE)
    disable = Move(F.PENDING, F.ACTIVE, to=F.DISABLED)


class ChallengeLifecycle(Lifecycle, initial=C.ISSUED):
    verify = Move(C.ISSUED, to=C.VERIFIED)
    fail = Move(C.ISSUED, to=C.FAILED, by=By.SYSTEM)
    expire = Move(C.ISSUED, to=C.EXPIRED, by=By.SYSTEM)


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
