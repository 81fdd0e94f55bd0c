"""Which moves listings and their versions can make."""

from thenga.domains.marketplace.tables.listings import ListingStatus, ListingVersionStatus
from thenga.kernel.declare.lifecycle import By, Lifecycle, Move

S = ListingStatus


class ListingLifecycle(Lifecycle, initial=S.DRAFT):
    """The provider submits, pauses and closes; a moderator publishes, rejects and suspends."""

    submit = Move(S.DRAFT, S.CHANGES_REQUESTED, to=S.PENDING_REVIEW)
    publish = Move(S.PENDING_REVIEW, to=S.PUBLISHED, by=By.STAFF, called="moderate")
    request_changes = Move(S.PENDING_REVIEW, to=S.CHANGES_REQUESTED, by=By.STAFF, called="moderate")
    reject = Move(S.PENDING_REVIEW, to=S.REJECTED, by=By.STAFF, called="moderate")
    pause = Move(S.PUBLISHED, to=S.PAUSED)
    resume = Move(S.PAUSED, to=S.PUBLISHED)
    suspend = Move(S.PUBLISHED, S.PAUSED, to=S.SUSPENDED, by=By.STAFF, called="moderate")
    reinstate = Move(S.SUSPENDED, to=S.PUBLISHED, by=By.STAFF, called="moderate")
    close = Move(
        S.DRAFT,
        S.PENDING_REVIEW,
        S.CHANGES_REQUESTED,
        S.PUBLISHED,
        S.PAUSED,
        S.SUSPENDED,
        to=S.CLOSED,
    )


class VersionLifecycle(Lifecycle, initial=ListingVersionStatus.DRAFT):
    """A version waits for a moderator once it is submitted, and is decided once."""

    submit = Move(ListingVersionStatus.DRAFT, to=ListingVersionStatus.PENDING)
    confirm = Move(ListingVersionStatus.PENDING, to=ListingVersionStatus.CONFIRMED, by=By.SYSTEM)
    decline = Move(ListingVersionStatus.PENDING, to=ListingVersionStatus.DECLINED, by=By.SYSTEM)
    cancel = Move(
        ListingVersionStatus.DRAFT,
        ListingVersionStatus.PENDING,
        to=ListingVersionStatus.CANCELLED,
        called="cancel_change",
    )
