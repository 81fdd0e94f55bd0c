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
from thenga.kernel.declare.lifecycle import By, Lifecycle, Move, not_possible
from thenga.kernel.errors import Forbidden


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
        raise not_possible(
            "This trial is over.", status=TrialStatus.EXPIRED, operation="cancel", allowed=[]
        )


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
            status=CancellationStatus.EFFECTIVE,
            operation="undo",
            allowed=[],
        )


class AccountLifecycle(Lifecycle, initial=(AccountStatus.PROVISIONAL, AccountStatus.ACTIVE)):
    """Opened by the founding of its organization, complete once somebody can be billed; closed by
    an operator once all is done."""

    complete = Move(AccountStatus.PROVISIONAL, to=AccountStatus.ACTIVE)
    close = Move(AccountStatus.ACTIVE, to=AccountStatus.CLOSED, by=By.STAFF)


class PlanVersionLifecycle(Lifecycle, initial=PlanStatus.DRAFT):
    """Terms change only while it is a draft."""

    publish = Move(PlanStatus.DRAFT, to=PlanStatus.ACTIVE, guard=publisher_is_no_author)
    supersede = Move(PlanStatus.ACTIVE, to=PlanStatus.GRANDFATHERED, by=By.SYSTEM)
    retire = Move(PlanStatus.GRANDFATHERED, to=PlanStatus.RETIRED, guard=nobody_holds_it)


class SubscriptionLifecycle(
    Lifecycle, initial=(SubscriptionStatus.INCOMPLETE, SubscriptionStatus.TRIALING)
):
    """What is bought begins when it is paid; cancelling, changing and dispute are own axes."""

    RENEWING = (SubscriptionStatus.ACTIVE, SubscriptionStatus.PAST_DUE)
    BEHIND = (SubscriptionStatus.PAST_DUE, SubscriptionStatus.SUSPENDED)
    BILLED = (*RENEWING, SubscriptionStatus.SUSPENDED)
    PAID = (*BILLED, SubscriptionStatus.PAUSED)  # bought, not only tried
    LIVE = (*PAID, SubscriptionStatus.TRIALING)
    HOLDING = (
        *LIVE,
        SubscriptionStatus.INCOMPLETE,
    )  # also a sign-up that waits for its first payment
    OVER = (
        SubscriptionStatus.INCOMPLETE,
        SubscriptionStatus.INCOMPLETE_EXPIRED,
        SubscriptionStatus.ENDED,
    )  # gives no access

    activate = Move(
        SubscriptionStatus.INCOMPLETE,
        SubscriptionStatus.TRIALING,
        to=SubscriptionStatus.ACTIVE,
        by=By.SYSTEM,
    )
    expire = Move(
        SubscriptionStatus.INCOMPLETE, to=SubscriptionStatus.INCOMPLETE_EXPIRED, by=By.SYSTEM
    )
    fall_behind = Move(
        SubscriptionStatus.ACTIVE,
        SubscriptionStatus.TRIALING,
        to=SubscriptionStatus.PAST_DUE,
        by=By.SYSTEM,
    )
    recover = Move(
        SubscriptionStatus.PAST_DUE,
        SubscriptionStatus.SUSPENDED,
        to=SubscriptionStatus.ACTIVE,
        by=By.SYSTEM,
    )
    suspend = Move(SubscriptionStatus.PAST_DUE, to=SubscriptionStatus.SUSPENDED, by=By.SYSTEM)
    pause = Move(SubscriptionStatus.ACTIVE, to=SubscriptionStatus.PAUSED, guard=is_not_leaving)
    resume = Move(SubscriptionStatus.PAUSED, to=SubscriptionStatus.ACTIVE)
    end = Move(
        SubscriptionStatus.TRIALING,
        SubscriptionStatus.ACTIVE,
        SubscriptionStatus.PAST_DUE,
        SubscriptionStatus.PAUSED,
        SubscriptionStatus.SUSPENDED,
        to=SubscriptionStatus.ENDED,
        by=By.SYSTEM,
    )


class CancellationLifecycle(Lifecycle, initial=CancellationStatus.SCHEDULED):
    """Until it takes effect it can be undone, or replaced by an immediate one."""

    take_effect = Move(CancellationStatus.SCHEDULED, to=CancellationStatus.EFFECTIVE, by=By.SYSTEM)
    undo = Move(CancellationStatus.SCHEDULED, to=CancellationStatus.UNDONE, guard=has_no_effect_yet)
    replace = Move(CancellationStatus.SCHEDULED, to=CancellationStatus.REPLACED, by=By.SYSTEM)


class PaymentFailureLifecycle(Lifecycle, initial=FailureStatus.OPEN):
    """A charge runs only while it is retrying; money always recovers it, whatever the day."""

    UNSETTLED = (FailureStatus.OPEN, FailureStatus.RETRYING, FailureStatus.EXHAUSTED)

    attempt = Move(
        FailureStatus.OPEN, FailureStatus.EXHAUSTED, to=FailureStatus.RETRYING, called="retry"
    )
    fail = Move(FailureStatus.RETRYING, to=FailureStatus.OPEN, by=By.SYSTEM)
    exhaust = Move(
        FailureStatus.OPEN, FailureStatus.RETRYING, to=FailureStatus.EXHAUSTED, by=By.SYSTEM
    )
    recover = Move(
        FailureStatus.OPEN,
        FailureStatus.RETRYING,
        FailureStatus.EXHAUSTED,
        to=FailureStatus.RECOVERED,
        by=By.SYSTEM,
    )
    write_off = Move(FailureStatus.EXHAUSTED, to=FailureStatus.WRITTEN_OFF, by=By.SYSTEM)


class TestClockLifecycle(Lifecycle, initial=ClockStatus.ADVANCING):
    """The clock of a sandbox, on its way or there."""

    arrive = Move(ClockStatus.ADVANCING, to=ClockStatus.READY, by=By.SYSTEM)
    stop = Move(ClockStatus.ADVANCING, to=ClockStatus.STOPPED, by=By.SYSTEM)
    go_on = Move(ClockStatus.READY, ClockStatus.STOPPED, to=ClockStatus.ADVANCING, called="advance")


class TrialLifecycle(Lifecycle, initial=TrialStatus.ACTIVE):
    convert = Move(TrialStatus.ACTIVE, to=TrialStatus.CONVERTED)
    cancel = Move(TrialStatus.ACTIVE, to=TrialStatus.CANCELLED, guard=is_not_over)
    lapse = Move(TrialStatus.ACTIVE, to=TrialStatus.EXPIRED, by=By.SYSTEM)


def has_not_expired(row: Grant, at: datetime) -> None:
    """The grant has not ended by itself."""
    if at >= row.expires_at:
        raise not_possible(
            "This grant is over.", status=GrantStatus.EXPIRED, operation="revoke", allowed=[]
        )


class GrantLifecycle(Lifecycle, initial=GrantStatus.ACTIVE):
    """Goodwill ends by itself, or is taken back."""

    revoke = Move(GrantStatus.ACTIVE, to=GrantStatus.REVOKED, guard=has_not_expired)
    lapse = Move(GrantStatus.ACTIVE, to=GrantStatus.EXPIRED, by=By.SYSTEM)


class ReservationLifecycle(Lifecycle, initial=ReservationStatus.HELD):
    """Settled by whoever reserved, or free again after a while and held anew by the same key."""

    settle = Move(ReservationStatus.HELD, to=ReservationStatus.SETTLED)
    lapse = Move(ReservationStatus.HELD, to=ReservationStatus.RELEASED, by=By.SYSTEM)
    reserve = Move(ReservationStatus.RELEASED, to=ReservationStatus.HELD, by=By.SYSTEM)


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


class InvoiceLifecycle(Lifecycle, initial=InvoiceStatus.DRAFT):
    """A draft has no number; what has one is settled, credited or given up, never taken away."""

    issue = Move(InvoiceStatus.DRAFT, to=InvoiceStatus.OPEN, by=By.SYSTEM)
    discard = Move(
        InvoiceStatus.DRAFT, to=InvoiceStatus.DISCARDED, guard=is_not_released, by=By.SYSTEM
    )
    settle = Move(InvoiceStatus.OPEN, to=InvoiceStatus.PAID, by=By.SYSTEM)
    credit = Move(
        InvoiceStatus.OPEN, InvoiceStatus.UNCOLLECTIBLE, to=InvoiceStatus.CREDITED, by=By.SYSTEM
    )
    write_off = Move(InvoiceStatus.OPEN, to=InvoiceStatus.UNCOLLECTIBLE, by=By.STAFF)
    reopen = Move(InvoiceStatus.UNCOLLECTIBLE, to=InvoiceStatus.PAID, by=By.SYSTEM)


class CreditNoteLifecycle(Lifecycle, initial=CreditNoteStatus.DRAFT):
    issue = Move(CreditNoteStatus.DRAFT, to=CreditNoteStatus.ISSUED, by=By.SYSTEM)
    discard = Move(CreditNoteStatus.DRAFT, to=CreditNoteStatus.DISCARDED, by=By.SYSTEM)


_DOCUMENTS = (InvoiceLifecycle, CreditNoteLifecycle)

# --- payments -------------------------------------------------------------------------------------


class PaymentLifecycle(Lifecycle, initial=(PaymentStatus.CREATED, PaymentStatus.PROCESSING)):
    """Upwards only, whatever order things are heard in; money that came is never unsaid (BIL-31).

    Failed, canceled and expired are of one rank; between them the one that says most stays.
    """

    OPEN = (PaymentStatus.CREATED, PaymentStatus.REQUIRES_ACTION, PaymentStatus.PROCESSING)
    FINAL = (
        PaymentStatus.FAILED,
        PaymentStatus.CANCELED,
        PaymentStatus.EXPIRED,
        PaymentStatus.SUCCEEDED,
    )

    start = Move(PaymentStatus.CREATED, to=PaymentStatus.REQUIRES_ACTION, by=By.SYSTEM)
    process = Move(
        PaymentStatus.CREATED,
        PaymentStatus.REQUIRES_ACTION,
        to=PaymentStatus.PROCESSING,
        by=By.SYSTEM,
    )
    expire = Move(
        PaymentStatus.CREATED, PaymentStatus.REQUIRES_ACTION, to=PaymentStatus.EXPIRED, by=By.SYSTEM
    )
    cancel = Move(
        PaymentStatus.CREATED,
        PaymentStatus.REQUIRES_ACTION,
        PaymentStatus.PROCESSING,
        PaymentStatus.EXPIRED,
        to=PaymentStatus.CANCELED,
        by=By.SYSTEM,
    )
    fail = Move(
        *(
            PaymentStatus.CREATED,
            PaymentStatus.REQUIRES_ACTION,
            PaymentStatus.PROCESSING,
            PaymentStatus.EXPIRED,
            PaymentStatus.CANCELED,
        ),
        to=PaymentStatus.FAILED,
        by=By.SYSTEM,
    )
    succeed = Move(
        *(
            PaymentStatus.CREATED,
            PaymentStatus.REQUIRES_ACTION,
            PaymentStatus.PROCESSING,
            PaymentStatus.EXPIRED,
            PaymentStatus.CANCELED,
            PaymentStatus.FAILED,
        ),
        to=PaymentStatus.SUCCEEDED,
        by=By.SYSTEM,
    )


class PaymentMethodLifecycle(Lifecycle, initial=MethodStatus.ACTIVE):
    expire = Move(MethodStatus.ACTIVE, to=MethodStatus.EXPIRED, by=By.SYSTEM)
    renew = Move(MethodStatus.EXPIRED, MethodStatus.REVOKED, to=MethodStatus.ACTIVE, by=By.SYSTEM)
    revoke = Move(MethodStatus.ACTIVE, MethodStatus.EXPIRED, to=MethodStatus.REVOKED)


class RefundLifecycle(Lifecycle, initial=RefundStatus.REQUESTED):
    """Upwards only, as payments."""

    FINAL = (RefundStatus.SUCCEEDED, RefundStatus.FAILED)

    process = Move(RefundStatus.REQUESTED, to=RefundStatus.PROCESSING, by=By.SYSTEM)
    fail = Move(
        RefundStatus.REQUESTED, RefundStatus.PROCESSING, to=RefundStatus.FAILED, by=By.SYSTEM
    )
    succeed = Move(
        RefundStatus.REQUESTED,
        RefundStatus.PROCESSING,
        RefundStatus.FAILED,
        to=RefundStatus.SUCCEEDED,
        by=By.SYSTEM,
    )


class ProviderCallbackLifecycle(Lifecycle, initial=CallbackStatus.RECEIVED):
    """What was set aside may be worked on again; what has done its work may not."""

    apply = Move(
        CallbackStatus.RECEIVED,
        CallbackStatus.QUARANTINED,
        to=CallbackStatus.APPLIED,
        called="replay",
    )
    outdate = Move(
        CallbackStatus.RECEIVED, CallbackStatus.QUARANTINED, to=CallbackStatus.STALE, by=By.SYSTEM
    )
    ignore = Move(
        CallbackStatus.RECEIVED, CallbackStatus.QUARANTINED, to=CallbackStatus.IGNORED, by=By.SYSTEM
    )
    quarantine = Move(CallbackStatus.RECEIVED, to=CallbackStatus.QUARANTINED, by=By.SYSTEM)


LIFECYCLES = (
    *(AccountLifecycle, PlanVersionLifecycle, SubscriptionLifecycle, TrialLifecycle),
    *(PaymentFailureLifecycle, CancellationLifecycle, TestClockLifecycle),
    *(GrantLifecycle, ReservationLifecycle),
    *_DOCUMENTS,
    *(PaymentLifecycle, PaymentMethodLifecycle, RefundLifecycle, ProviderCallbackLifecycle),
)
