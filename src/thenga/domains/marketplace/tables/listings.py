"""Listings: what a provider offers, its versions, and what others see of it."""

from datetime import datetime
from enum import StrEnum
from uuid import UUID

from thenga.domains.marketplace.values.decisions import Decision
from thenga.domains.marketplace.values.listing_content import ListingContent
from thenga.kernel.db.kinds import Kind
from thenga.kernel.db.rows import BetweenRow, Col, Explained, TenantRow, col


class ListingKind(StrEnum):
    """What is offered."""

    SERVICE = "service"
    PRODUCT = "product"
    CAPABILITY = "capability"


class ListingStatus(StrEnum):
    """Status of a listing."""

    DRAFT = "draft"
    PENDING_REVIEW = "pending_review"
    CHANGES_REQUESTED = "changes_requested"
    PUBLISHED = "published"
    PAUSED = "paused"
    SUSPENDED = "suspended"
    REJECTED = "rejected"
    CLOSED = "closed"


class Visibility(StrEnum):
    """Who can find a listing while it is served."""

    PRIVATE = "private"
    UNLISTED = "unlisted"
    TENANTS = "tenants"
    PUBLIC = "public"


class ListingVersionStatus(StrEnum):
    """Status of one version of the content."""

    DRAFT = "draft"
    PENDING = "pending"
    CONFIRMED = "confirmed"
    DECLINED = "declined"
    CANCELLED = "cancelled"


class Provider(
    TenantRow, table="marketplace.provider", kind=Kind.PRIVATE, unique=[("organization_id",)]
):
    """A company that offers something; its own supplier, and whether that is in use.

    Locked where listings are counted against the plan (MKT-1).
    """

    supplier_id: Col[UUID]
    supplier_status: Col[str]
    trust_effects: Col[list[str]]


class Listing(
    BetweenRow,
    Explained,
    table="marketplace.listing",
    kind=Kind.BETWEEN,
    unique=[("organization_id", "title_key")],
    indexes=[("counterparty_id", "pending_since")],
):
    """What a provider offers; the operator is its counterparty from the first submission on.

    The content stands in versions: `live_version` is confirmed, `open_version` is not yet.
    """

    supplier_id: Col[UUID]
    kind: Col[ListingKind]
    title_key: Col[str | None] = col(
        default=None
    )  # the folded title; null once the listing has ended
    visibility: Col[Visibility] = col(default=Visibility.TENANTS)
    live_version: Col[int | None] = col(default=None)
    open_version: Col[int | None] = col(default=None)
    newest_version: Col[int]
    pending_since: Col[datetime | None] = col(default=None)
    decision: Col[Decision | None] = col(
        default=None
    )  # the newest decision of a moderator, and whose it was
    decided_by: Col[UUID | None] = col(default=None)
    status: Col[ListingStatus] = col(default=ListingStatus.DRAFT)


class ListingVersion(
    BetweenRow,
    table="marketplace.listing_version",
    kind=Kind.BETWEEN,
    unique=[("organization_id", "listing_id", "number")],
):
    """One version of the content; once decided, the database keeps it as it is (MKT-2)."""

    listing_id: Col[UUID]
    number: Col[int]
    content: Col[ListingContent]
    content_hash: Col[str]
    decision: Col[Decision | None] = col(default=None)
    decided_by: Col[UUID | None] = col(default=None)
    decided_at: Col[datetime | None] = col(default=None)
    status: Col[ListingVersionStatus] = col(default=ListingVersionStatus.DRAFT)


class LiveListing(
    TenantRow,
    table="marketplace.live_listing",
    kind=Kind.PUBLISHED,
    indexes=[("id",), ("supplier_id",)],
    deletes=True,
    told=False,
):
    """What everybody reads of a listing, under its identifier; there only while it is served."""

    supplier_id: Col[UUID]
    kind: Col[ListingKind]
    visibility: Col[Visibility]
    live_version: Col[int]
    content: Col[ListingContent]
    content_hash: Col[str]
    published_at: Col[datetime]
    sandbox: Col[bool] = col(default=False)  # those of sandboxes are for sandboxes alone
