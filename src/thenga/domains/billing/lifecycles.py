"""Which moves exist in Billing, and what must hold for them."""

from datetime import datetime

from thenga.domains.billing.tables import (
    AccountStatus,
    CallbackStatus,
    Cancellation,
    CancellationStatus,
    ClockStatus,
    CreditNoteStatus,
    FailureStatus,
    Grant,
    GrantStatus,
    Invoice,
    InvoiceStatus,
    MethodStatus,
    PaymentStatus,
    PlanStatus,
    PlanVersion,
    RefundStatus,
    ReservationStatus,
    Subscription,
    SubscriptionStatus,
    Trial,
    TrialStatus,
)
from thenga.kernel.errors import Forbidden
from thenga.kernel.lifecycle import By, Lifecycle, Move, not_possible

A, P, S, T = AccountStatus, PlanStatus, SubscriptionStatus, TrialStatus
F, X, Q = FailureStatus, CancellationStatus, ClockStatus
G, H = GrantStatus, ReservationStatus
C, I = CreditNoteStatus, InvoiceStatus  # noqa: E741  # as the others: a capital


def publisher_is_no_author(row: PlanVersion, at: datetime) -> None:
    """Whoever publishes a version has written no part of it."""
    if row.published_by in row.authors:
        raise Forbidden(
            "You wrote a part of this version; another operator publishes it.",
            reasonCode="author_is_publisher",
        )


def nobody_holds_it(row: PlanVersion, at: datetime) -> None:
    """No live subscription has this version or comes to it; what is not sold only loses some."""
    if row.live_subscriptions != 0:
        held = row.live_subscriptions
        counted = "Nobody has counted" if held is None else f"There are {held}"
        raise not_possible(
            f"{counted} subscriptions that have this version or come to it; it is retired when "
            f"there are none.",
            status=row.status,
            operation="retire",
            allowed=[],
            liveSubscriptions=held,
        )


def is_not_over(row: Trial, at: datetime) -> None:
    """The trial has not ended by itself."""
    if at >= row.ends_at:
        raise not_possible("This trial is over.", status=T.EXPIRED, operation="cancel", allowed=[])


def is_not_leaving(row: Subscription, at: datetime) -> None:
    """Nobody pauses what they have cancelled."""
    if row.cancel_at is not None:
        raise not_possible(
            "This subscription is cancelled; undo the cancellation first.",
            status=row.status,
            operation="pause",
            allowed=[],
        )


def has_no_effect_yet(row: Cancellation, at: datetime) -> None:
    """The subscription has not ended by it (BIL-9)."""
    if at >= row.effective_at:
        raise not_possible(
            "This cancellation has taken effect; buy a plan again.",
            status=X.EFFECTIVE,
            operation="undo",
            allowed=[],
        )


class AccountLifecycle(Lifecycle, initial=(A.PROVISIONAL, A.ACTIVE)):
    """Opened by the founding of its organization, complete once somebody can be billed; closed by
    an operator once all is done."""

    complete = Move(A.PROVISIONAL, to=A.ACTIVE)
    close = Move(A.ACTIVE, to=A.CLOSED, by=By.STAFF)


class PlanVersionLifecycle(Lifecycle, initial=P.DRAFT):
    """Terms change only while it is a draft."""

    publish = Move(P.DRAFT, to=P.ACTIVE, guard=publisher_is_no_author)
    supersede = Move(P.ACTIVE, to=P.GRANDFATHERED, by=By.SYSTEM)
    retire = Move(P.GRANDFATHERED, to=P.RETIRED, guard=nobody_holds_it)


class SubscriptionLifecycle(Lifecycle, initial=(S.INCOMPLETE, S.TRIALING)):
    """What is bought begins when it is paid; cancelling, changing and dispute are own axes."""

    activate = Move(S.INCOMPLETE, S.TRIALING, to=S.ACTIVE, by=By.SYSTEM)
    expire = Move(S.INCOMPLETE, to=S.INCOMPLETE_EXPIRED, by=By.SYSTEM)
    fall_behind = Move(S.ACTIVE, S.TRIALING, to=S.PAST_DUE, by=By.SYSTEM)
    recover = Move(S.PAST_DUE, S.SUSPENDED, to=S.ACTIVE, by=By.SYSTEM)
    suspend = Move(S.PAST_DUE, to=S.SUSPENDED, by=By.SYSTEM)
    pause = Move(S.ACTIVE, to=S.PAUSED, guard=is_not_leaving)
    resume = Move(S.PAUSED, to=S.ACTIVE)
    end = Move(S.TRIALING, S.ACTIVE, S.PAST_DUE, S.PAUSED, S.SUSPENDED, to=S.ENDED, by=By.SYSTEM)


class CancellationLifecycle(Lifecycle, initial=X.SCHEDULED):
    """Until it takes effect it can be undone, or replaced by an immediate one."""

    take_effect = Move(X.SCHEDULED, to=X.EFFECTIVE, by=By.SYSTEM)
    undo = Move(X.SCHEDULED, to=X.UNDONE, guard=has_no_effect_yet)
    replace = Move(X.SCHEDULED, to=X.REPLACED, by=By.SYSTEM)


class PaymentFailureLifecycle(Lifecycle, initial=F.OPEN):
    """A charge runs only while it is retrying; money always recovers it, whatever the day."""

    attempt = Move(F.OPEN, F.EXHAUSTED, to=F.RETRYING, called="retry")
    fail = Move(F.RETRYING, to=F.OPEN, by=By.SYSTEM)
    exhaust = Move(F.OPEN, F.RETRYING, to=F.EXHAUSTED, by=By.SYSTEM)
    recover = Move(F.OPEN, F.RETRYING, F.EXHAUSTED, to=F.RECOVERED, by=By.SYSTEM)
    write_off = Move(F.EXHAUSTED, to=F.WRITTEN_OFF, by=By.SYSTEM)


class TestClockLifecycle(Lifecycle, initial=Q.ADVANCING):
    """The clock of a sandbox, on its way or there."""

    arrive = Move(Q.ADVANCING, to=Q.READY, by=By.SYSTEM)
    stop = Move(Q.ADVANCING, to=Q.STOPPED, by=By.SYSTEM)
    go_on = Move(Q.READY, Q.STOPPED, to=Q.ADVANCING, called="advance")


class TrialLifecycle(Lifecycle, initial=T.ACTIVE):
    convert = Move(T.ACTIVE, to=T.CONVERTED)
    cancel = Move(T.ACTIVE, to=T.CANCELLED, guard=is_not_over)
    lapse = Move(T.ACTIVE, to=T.EXPIRED, by=By.SYSTEM)


def has_not_expired(row: Grant, at: datetime) -> None:
    """The grant has not ended by itself."""
    if at >= row.expires_at:
        raise not_possible("This grant is over.", status=G.EXPIRED, operation="revoke", allowed=[])


class GrantLifecycle(Lifecycle, initial=G.ACTIVE):
    """Goodwill ends by itself, or is taken back."""

    revoke = Move(G.ACTIVE, to=G.REVOKED, guard=has_not_expired)
    lapse = Move(G.ACTIVE, to=G.EXPIRED, by=By.SYSTEM)


class ReservationLifecycle(Lifecycle, initial=H.HELD):
    """Settled by whoever reserved, or free again after a while and held anew by the same key."""

    settle = Move(H.HELD, to=H.SETTLED)
    lapse = Move(H.HELD, to=H.RELEASED, by=By.SYSTEM)
    reserve = Move(H.RELEASED, to=H.HELD, by=By.SYSTEM)


# --- documents ------------------------------------------------------------------------------------


def is_not_released(row: Invoice, at: datetime) -> None:
    """Nobody has decided yet that this document exists."""
    if row.released_at is not None:
        raise not_possible(
            "This document is about to get its number; a credit note takes it back.",
            status=row.status,
            operation="discard",
            allowed=[],
        )


class InvoiceLifecycle(Lifecycle, initial=I.DRAFT):
    """A draft has no number; what has one is settled, credited or given up, never taken away."""

    issue = Move(I.DRAFT, to=I.OPEN, by=By.SYSTEM)
    discard = Move(I.DRAFT, to=I.DISCARDED, guard=is_not_released, by=By.SYSTEM)
    settle = Move(I.OPEN, to=I.PAID, by=By.SYSTEM)
    credit = Move(I.OPEN, I.UNCOLLECTIBLE, to=I.CREDITED, by=By.SYSTEM)
    write_off = Move(I.OPEN, to=I.UNCOLLECTIBLE, by=By.STAFF)
    reopen = Move(I.UNCOLLECTIBLE, to=I.PAID, by=By.SYSTEM)


class CreditNoteLifecycle(Lifecycle, initial=C.DRAFT):
    issue = Move(C.DRAFT, to=C.ISSUED, by=By.SYSTEM)
    discard = Move(C.DRAFT, to=C.DISCARDED, by=By.SYSTEM)


_DOCUMENTS = (InvoiceLifecycle, CreditNoteLifecycle)

# --- payments -------------------------------------------------------------------------------------


Y, M, R, K = PaymentStatus, MethodStatus, RefundStatus, CallbackStatus


class PaymentLifecycle(Lifecycle, initial=(Y.CREATED, Y.PROCESSING)):
    """Upwards only, whatever order things are heard in; money that came is never unsaid (BIL-31).

    Failed, canceled and expired are of one rank; between them the one that says most stays.
    """

    start = Move(Y.CREATED, to=Y.REQUIRES_ACTION, by=By.SYSTEM)
    process = Move(Y.CREATED, Y.REQUIRES_ACTION, to=Y.PROCESSING, by=By.SYSTEM)
    expire = Move(Y.CREATED, Y.REQUIRES_ACTION, to=Y.EXPIRED, by=By.SYSTEM)
    cancel = Move(
        Y.CREATED, Y.REQUIRES_ACTION, Y.PROCESSING, Y.EXPIRED, to=Y.CANCELED, by=By.SYSTEM
    )
    fail = Move(
        *(Y.CREATED, Y.REQUIRES_ACTION, Y.PROCESSING, Y.EXPIRED, Y.CANCELED),
        to=Y.FAILED,
        by=By.SYSTEM,
    )
    succeed = Move(
        *(Y.CREATED, Y.REQUIRES_ACTION, Y.PROCESSING, Y.EXPIRED, Y.CANCELED, Y.FAILED),
        to=Y.SUCCEEDED,
        by=By.SYSTEM,
    )


class PaymentMethodLifecycle(Lifecycle, initial=M.ACTIVE):
    expire = Move(M.ACTIVE, to=M.EXPIRED, by=By.SYSTEM)
    renew = Move(M.EXPIRED, M.REVOKED, to=M.ACTIVE, by=By.SYSTEM)
    revoke = Move(M.ACTIVE, M.EXPIRED, to=M.REVOKED)


class RefundLifecycle(Lifecycle, initial=R.REQUESTED):
    """Upwards only, as payments."""

    process = Move(R.REQUESTED, to=R.PROCESSING, by=By.SYSTEM)
    fail = Move(R.REQUESTED, R.PROCESSING, to=R.FAILED, by=By.SYSTEM)
    succeed = Move(R.REQUESTED, R.PROCESSING, R.FAILED, to=R.SUCCEEDED, by=By.SYSTEM)


class ProviderCallbackLifecycle(Lifecycle, initial=K.RECEIVED):
    """What was set aside may be worked on again; what has done its work may not."""

    apply = Move(K.RECEIVED, K.QUARANTINED, to=K.APPLIED, called="replay")
    outdate = Move(K.RECEIVED, K.QUARANTINED, to=K.STALE, by=By.SYSTEM)
    ignore = Move(K.RECEIVED, K.QUARANTINED, to=K.IGNORED, by=By.SYSTEM)
    quarantine = Move(K.RECEIVED, to=K.QUARANTINED, by=By.SYSTEM)


LIFECYCLES = (
    *(AccountLifecycle, PlanVersionLifecycle, SubscriptionLifecycle, TrialLifecycle),
    *(PaymentFailureLifecycle, CancellationLifecycle, TestClockLifecycle),
    *(GrantLifecycle, ReservationLifecycle),
    *_DOCUMENTS,
    *(PaymentLifecycle, PaymentMethodLifecycle, RefundLifecycle, ProviderCallbackLifecycle),
)
