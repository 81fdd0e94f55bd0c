"""Which moves exist in Identity."""

from thenga.domains.identity.tables import (
    AssignmentStatus,
    MembershipStatus,
    SessionStatus,
    UserStatus,
)
from thenga.kernel.lifecycle import Lifecycle, Move

A, M, S, U = AssignmentStatus, MembershipStatus, SessionStatus, UserStatus


class UserLifecycle(Lifecycle, initial=U.PENDING_VERIFICATION):
    verify = Move(U.PENDING_VERIFICATION, to=U.ACTIVE)


class SessionLifecycle(Lifecycle, initial=(S.PENDING_MFA, S.ACTIVE)):
    sign_out = Move(S.PENDING_MFA, S.ACTIVE, to=S.SIGNED_OUT)
    revoke = Move(S.PENDING_MFA, S.ACTIVE, to=S.REVOKED)
    expire = Move(S.PENDING_MFA, S.ACTIVE, to=S.EXPIRED)


class MembershipLifecycle(Lifecycle, initial=(M.PENDING, M.ACTIVE)):
    deactivate = Move(M.ACTIVE, to=M.INACTIVE)
    reactivate = Move(M.INACTIVE, to=M.ACTIVE)
    remove = Move(M.PENDING, M.ACTIVE, M.INACTIVE, to=M.REMOVED)


class AssignmentLifecycle(Lifecycle, initial=(A.SCHEDULED, A.ACTIVE)):
    expire = Move(A.SCHEDULED, A.ACTIVE, to=A.EXPIRED)
    revoke = Move(A.SCHEDULED, A.ACTIVE, to=A.REVOKED)


LIFECYCLES = (UserLifecycle, SessionLifecycle, MembershipLifecycle, AssignmentLifecycle)
