"""The lifecycles of Billing: which moves exist, and the conditions for them."""

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
from thenga.kernel.errors import Forbidden, InvalidTransition, extensions


def publisher_is_not_an_author(row: PlanVersion, at: datetime) -> None:
    """The publisher is not an author of the version."""
    if row.published_by in row.authors:
        raise Forbidden(
            "You are an author of this version. Ask another operator to publish it.",
            reasonCode="author_is_publisher",
        )


class RetirementNotPossible(InvalidTransition):
    """This version cannot be retired in its current status.

    `liveSubscriptions` is the number of subscriptions that still use it.
    """

    members = extensions(
        **InvalidTransition.members,
        liveSubscriptions=(int | None, "Number of subscriptions that still use it."),
    )


def has_no_holders(row: PlanVersion, at: datetime) -> None:
    """No active subscription uses this version or changes to it."""
    if row.live_subscriptions != 0:
        held = row.live_subscriptions
        counted = "The subscriptions of this version are not counted yet."
        if held is not None:
            counted = f"{held} subscriptions still use this version or change to it."
        raise not_possible(
            f"{counted} Retire it once there are none.",
            status=row.status,
            operation="retire",
            allowed=[],
            kind=RetirementNotPossible,
            liveSubscriptions=held,
        )


def is_not_over(row: Trial, at: datetime) -> None:
    """The trial has not ended."""
    if at >= row.ends_at:
        raise not_possible(
            "This trial has ended, so there is nothing to cancel.",
            status=TrialStatus.EXPIRED,
            operation="cancel",
            allowed=[],
        )


def is_not_cancelled(row: Subscription, at: datetime) -> None:
    """The subscription is not cancelled."""
    if row.cancel_at is not None:
        raise not_possible(
            "This subscription is cancelled. Undo the cancellation before you pause it.",
            status=row.status,
            operation="pause",
            allowed=[],
        )


def has_no_effect_yet(row: Cancellation, at: datetime) -> None:
    """The cancellation has not taken effect (BIL-9)."""
    if at >= row.effective_at:
        raise not_possible(
            "This cancellation has taken effect and cannot be undone. Buy a new plan.",
            status=CancellationStatus.EFFECTIVE,
            operation="undo",
            allowed=[],
        )


class AccountLifecycle(Lifecycle, initial=(AccountStatus.PROVISIONAL, AccountStatus.ACTIVE)):
    """Opened with its organization, active once billing details are added, closed by an operator
    once everything is settled."""

    complete = Move(AccountStatus.PROVISIONAL, to=AccountStatus.ACTIVE)
    close = Move(AccountStatus.ACTIVE, to=AccountStatus.CLOSED, by=By.STAFF)


class PlanVersionLifecycle(Lifecycle, initial=PlanStatus.DRAFT):
    """Terms can change only in a draft."""

    publish = Move(PlanStatus.DRAFT, to=PlanStatus.ACTIVE, guard=publisher_is_not_an_author)
    supersede = Move(PlanStatus.ACTIVE, to=PlanStatus.GRANDFATHERED, by=By.SYSTEM)
    retire = Move(PlanStatus.GRANDFATHERED, to=PlanStatus.RETIRED, guard=has_no_holders)


class SubscriptionLifecycle(
    Lifecycle, initial=(SubscriptionStatus.INCOMPLETE, SubscriptionStatus.TRIALING)
):
    """A subscription starts when it is paid. Cancellation, plan change and dispute are separate."""

    RENEWING = (SubscriptionStatus.ACTIVE, SubscriptionStatus.PAST_DUE)
    BEHIND = (SubscriptionStatus.PAST_DUE, SubscriptionStatus.SUSPENDED)
    BILLED = (*RENEWING, SubscriptionStatus.SUSPENDED)
    PAID = (*BILLED, SubscriptionStatus.PAUSED)  # paid plans, without trials
    LIVE = (*PAID, SubscriptionStatus.TRIALING)
    HOLDING = (
        *LIVE,
        SubscriptionStatus.INCOMPLETE,
    )  # also a sign-up waiting for its first payment
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
    pause = Move(SubscriptionStatus.ACTIVE, to=SubscriptionStatus.PAUSED, guard=is_not_cancelled)
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
    """It can be undone, or replaced by an immediate one, until it takes effect."""

    take_effect = Move(CancellationStatus.SCHEDULED, to=CancellationStatus.EFFECTIVE, by=By.SYSTEM)
    undo = Move(CancellationStatus.SCHEDULED, to=CancellationStatus.UNDONE, guard=has_no_effect_yet)
    replace = Move(CancellationStatus.SCHEDULED, to=CancellationStatus.REPLACED, by=By.SYSTEM)


class PaymentFailureLifecycle(Lifecycle, initial=FailureStatus.OPEN):
    """A charge runs only while it is retrying. A payment always recovers it, at any time."""

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
    """The clock of a sandbox, moving or at its target."""

    arrive = Move(ClockStatus.ADVANCING, to=ClockStatus.READY, by=By.SYSTEM)
    stop = Move(ClockStatus.ADVANCING, to=ClockStatus.STOPPED, by=By.SYSTEM)
    advance = Move(ClockStatus.READY, ClockStatus.STOPPED, to=ClockStatus.ADVANCING)


class TrialLifecycle(Lifecycle, initial=TrialStatus.ACTIVE):
    """A trial ends by conversion, by cancellation or by its date."""

    convert = Move(TrialStatus.ACTIVE, to=TrialStatus.CONVERTED)
    cancel = Move(TrialStatus.ACTIVE, to=TrialStatus.CANCELLED, guard=is_not_over)
    lapse = Move(TrialStatus.ACTIVE, to=TrialStatus.EXPIRED, by=By.SYSTEM)


def has_not_expired(row: Grant, at: datetime) -> None:
    """The grant has not expired."""
    if at >= row.expires_at:
        raise not_possible(
            "This grant has expired, so there is nothing to revoke.",
            status=GrantStatus.EXPIRED,
            operation="revoke",
            allowed=[],
        )


class GrantLifecycle(Lifecycle, initial=GrantStatus.ACTIVE):
    """A grant expires, or is revoked before."""

    revoke = Move(GrantStatus.ACTIVE, to=GrantStatus.REVOKED, guard=has_not_expired)
    lapse = Move(GrantStatus.ACTIVE, to=GrantStatus.EXPIRED, by=By.SYSTEM)


class ReservationLifecycle(Lifecycle, initial=ReservationStatus.HELD):
    """A reservation is settled, or expires and can be reserved again with the same key."""

    settle = Move(ReservationStatus.HELD, to=ReservationStatus.SETTLED)
    lapse = Move(ReservationStatus.HELD, to=ReservationStatus.RELEASED, by=By.SYSTEM)
    reserve = Move(ReservationStatus.RELEASED, to=ReservationStatus.HELD, by=By.SYSTEM)


# --- documents ------------------------------------------------------------------------------------


def is_not_released(row: Invoice, at: datetime) -> None:
    """The invoice is not on its way to be issued."""
    if row.released_at is not None:
        raise not_possible(
            "This invoice is being issued. Issue a credit note instead.",
            status=row.status,
            operation="discard",
            allowed=[],
        )


class InvoiceLifecycle(Lifecycle, initial=InvoiceStatus.DRAFT):
    """A draft has no number. An issued invoice is paid, credited or written off, never deleted."""

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
    """A credit note is issued, or discarded while it is a draft."""

    issue = Move(CreditNoteStatus.DRAFT, to=CreditNoteStatus.ISSUED, by=By.SYSTEM)
    discard = Move(CreditNoteStatus.DRAFT, to=CreditNoteStatus.DISCARDED, by=By.SYSTEM)


_DOCUMENTS = (InvoiceLifecycle, CreditNoteLifecycle)

# --- payments -------------------------------------------------------------------------------------


class PaymentLifecycle(Lifecycle, initial=(PaymentStatus.CREATED, PaymentStatus.PROCESSING)):
    """A payment only moves up, in whatever order reports arrive, and success is final (BIL-31).

    Failed, cancelled and expired have one rank; the most specific of them stays.
    """

    OPEN = (PaymentStatus.CREATED, PaymentStatus.REQUIRES_ACTION, PaymentStatus.PROCESSING)
    FINAL = (
        PaymentStatus.FAILED,
        PaymentStatus.CANCELLED,
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
        to=PaymentStatus.CANCELLED,
        by=By.SYSTEM,
    )
    fail = Move(
        *(
            PaymentStatus.CREATED,
            PaymentStatus.REQUIRES_ACTION,
            PaymentStatus.PROCESSING,
            PaymentStatus.EXPIRED,
            PaymentStatus.CANCELLED,
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
            PaymentStatus.CANCELLED,
            PaymentStatus.FAILED,
        ),
        to=PaymentStatus.SUCCEEDED,
        by=By.SYSTEM,
    )


class PaymentMethodLifecycle(Lifecycle, initial=MethodStatus.ACTIVE):
    """A payment method expires or is revoked; a later payment with it makes it active again."""

    expire = Move(MethodStatus.ACTIVE, to=MethodStatus.EXPIRED, by=By.SYSTEM)
    renew = Move(MethodStatus.EXPIRED, MethodStatus.REVOKED, to=MethodStatus.ACTIVE, by=By.SYSTEM)
    revoke = Move(MethodStatus.ACTIVE, MethodStatus.EXPIRED, to=MethodStatus.REVOKED)


class RefundLifecycle(Lifecycle, initial=RefundStatus.REQUESTED):
    """A refund only moves up, like a payment."""

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
    """A quarantined callback can be processed again; an applied one cannot."""

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
