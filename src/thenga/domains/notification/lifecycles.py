"""Which moves exist in Notification."""

from thenga.domains.notification.tables import (
    DeliveryStatus,
    EscalationStatus,
    ReminderStatus,
    RequestStatus,
    ScheduleStatus,
    VersionStatus,
)
from thenga.kernel.declare.lifecycle import By, Lifecycle, Move

R, D, V = RequestStatus, DeliveryStatus, VersionStatus
_OPEN = (R.SCHEDULED, R.ACCEPTED, R.RESOLVING, R.DISPATCHING)


class RequestLifecycle(Lifecycle, initial=R.ACCEPTED):
    """A request, from acceptance until nothing of it is left to send."""

    postpone = Move(R.ACCEPTED, to=R.SCHEDULED, by=By.SYSTEM)
    release = Move(R.SCHEDULED, to=R.ACCEPTED, by=By.SYSTEM)
    reject = Move(R.ACCEPTED, to=R.REJECTED, by=By.SYSTEM)
    resolve = Move(R.ACCEPTED, to=R.RESOLVING, by=By.SYSTEM)
    dispatch = Move(R.RESOLVING, to=R.DISPATCHING, by=By.SYSTEM)
    complete = Move(R.DISPATCHING, to=R.COMPLETED, by=By.SYSTEM)
    complete_in_part = Move(R.DISPATCHING, to=R.PARTIALLY_COMPLETED, by=By.SYSTEM)
    fail = Move(R.DISPATCHING, to=R.FAILED, by=By.SYSTEM)
    expire = Move(*_OPEN, to=R.EXPIRED, by=By.SYSTEM)


class DeliveryLifecycle(Lifecycle, initial=D.QUEUED):
    """A delivery. What providers report only ever moves it up: sent, undelivered, delivered,
    bounced; so every order of reports ends alike."""

    hold = Move(D.QUEUED, to=D.HELD, by=By.SYSTEM)
    release = Move(D.HELD, to=D.QUEUED, by=By.SYSTEM)
    claim = Move(D.QUEUED, to=D.SENDING, by=By.SYSTEM)
    record = Move(D.QUEUED, D.SENDING, to=D.SENT, by=By.SYSTEM)
    requeue = Move(D.SENDING, to=D.QUEUED, by=By.SYSTEM)
    fail = Move(D.QUEUED, D.SENDING, D.SENT, to=D.UNDELIVERED, by=By.SYSTEM)
    confirm = Move(D.QUEUED, D.SENDING, D.SENT, D.UNDELIVERED, to=D.DELIVERED, by=By.SYSTEM)
    bounce = Move(
        *(D.QUEUED, D.SENDING, D.SENT, D.UNDELIVERED, D.DELIVERED), to=D.BOUNCED, by=By.SYSTEM
    )
    stop = Move(D.HELD, D.QUEUED, D.SENDING, to=D.NOT_SENT, by=By.SYSTEM)
    take_over = Move(D.NOT_SENT, to=D.QUEUED, by=By.SYSTEM)


class TemplateVersionLifecycle(Lifecycle, initial=V.DRAFT):
    """A version of a template; another person than its author approves it (NOT-23)."""

    approve = Move(V.DRAFT, to=V.APPROVED)
    supersede = Move(V.APPROVED, to=V.SUPERSEDED, by=By.SYSTEM)


S, M, E = ScheduleStatus, ReminderStatus, EscalationStatus


class ScheduleLifecycle(Lifecycle, initial=S.ACTIVE):
    """A schedule, until nothing of it is left to send (NOT-38, NOT-48)."""

    complete = Move(S.ACTIVE, to=S.COMPLETED, by=By.SYSTEM)
    miss = Move(S.ACTIVE, to=S.MISSED, by=By.SYSTEM)
    suspend = Move(S.ACTIVE, to=S.SUSPENDED, by=By.SYSTEM)
    cancel = Move(S.ACTIVE, S.SUSPENDED, to=S.CANCELLED)


class ReminderLifecycle(Lifecycle, initial=(M.AWAITING_ANCHOR, M.ACTIVE)):
    """A reminder, which a deadline that moves makes active again (NOT-39)."""

    anchor = Move(M.AWAITING_ANCHOR, to=M.ACTIVE, by=By.SYSTEM)
    reanchor = Move(M.DONE, to=M.ACTIVE, by=By.SYSTEM)
    finish = Move(M.ACTIVE, to=M.DONE, by=By.SYSTEM)
    cancel = Move(M.AWAITING_ANCHOR, M.ACTIVE, to=M.CANCELLED)


class EscalationLifecycle(Lifecycle, initial=E.OPEN):
    """An escalation, until somebody or an event resolves it (NOT-41)."""

    exhaust = Move(E.OPEN, to=E.EXHAUSTED, by=By.SYSTEM)
    resolve = Move(E.OPEN, E.EXHAUSTED, to=E.RESOLVED)


LIFECYCLES = (
    RequestLifecycle,
    DeliveryLifecycle,
    TemplateVersionLifecycle,
    ScheduleLifecycle,
    ReminderLifecycle,
    EscalationLifecycle,
)
