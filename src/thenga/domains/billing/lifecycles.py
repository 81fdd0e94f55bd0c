"""Which moves exist in Billing, and what must hold for them."""

from datetime import datetime

from thenga.domains.billing.tables import (
    AccountStatus,
    PlanStatus,
    PlanVersion,
    SubscriptionStatus,
    Trial,
    TrialStatus,
)
from thenga.kernel.errors import Forbidden
from thenga.kernel.lifecycle import Lifecycle, Move, not_possible

A, P, S, T = AccountStatus, PlanStatus, SubscriptionStatus, TrialStatus


def publisher_is_no_author(row: PlanVersion, at: datetime) -> None:
    """Whoever publishes a version has written no part of it."""
    if row.published_by in row.authors:
        raise Forbidden(
            "You wrote a part of this version; another operator publishes it.",
            reasonCode="author_is_publisher",
        )


def nobody_holds_it(row: PlanVersion, at: datetime) -> None:
    """No live subscription has this version; a version that is not sold only ever loses some."""
    if row.live_subscriptions != 0:
        held = row.live_subscriptions
        counted = "Nobody has counted" if held is None else f"There are {held}"
        raise not_possible(
            f"{counted} live subscriptions of this version; it is retired when there are none.",
            status=row.status,
            operation="retire",
            allowed=[],
            liveSubscriptions=held,
        )


def is_not_over(row: Trial, at: datetime) -> None:
    """The trial has not ended by itself."""
    if at >= row.ends_at:
        raise not_possible("This trial is over.", status=T.EXPIRED, operation="cancel", allowed=[])


class AccountLifecycle(Lifecycle, initial=(A.PROVISIONAL, A.ACTIVE)):
    """Opened by the founding of its organization, complete once somebody can be billed."""

    complete = Move(A.PROVISIONAL, to=A.ACTIVE)


class PlanVersionLifecycle(Lifecycle, initial=P.DRAFT):
    """Terms change only while it is a draft."""

    publish = Move(P.DRAFT, to=P.ACTIVE, guard=publisher_is_no_author)
    supersede = Move(P.ACTIVE, to=P.GRANDFATHERED)
    retire = Move(P.GRANDFATHERED, to=P.RETIRED, guard=nobody_holds_it)


class SubscriptionLifecycle(Lifecycle, initial=(S.INCOMPLETE, S.TRIALING)):
    """Of its moves those stand here that a trial needs."""

    end = Move(S.TRIALING, to=S.ENDED)


class TrialLifecycle(Lifecycle, initial=T.ACTIVE):
    cancel = Move(T.ACTIVE, to=T.CANCELLED, guard=is_not_over)
    lapse = Move(T.ACTIVE, to=T.EXPIRED)


LIFECYCLES = (AccountLifecycle, PlanVersionLifecycle, SubscriptionLifecycle, TrialLifecycle)
