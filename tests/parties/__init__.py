"""A domain of tests whose rows two parties see: offers, public tenders and paid courses."""

from pathlib import Path
from uuid import UUID

import sqlalchemy as sa

from thenga.kernel.db.kinds import Kind
from thenga.kernel.db.rows import BetweenRow, Col, NoticeRow, SponsoredRow, TenantRow, col
from thenga.kernel.declare.event import Event

MIGRATIONS = Path(__file__).parent / "migrations"


class Offer(BetweenRow, table="parties.offer", kind=Kind.BETWEEN):
    """What a customer and a supplier both see."""

    text: Col[str] = col(sa.Text)


class Note(TenantRow, table="parties.note", kind=Kind.PRIVATE):
    """What one side thinks of an offer, for itself."""

    offer_id: Col[UUID] = col(sa.UUID)
    text: Col[str] = col(sa.Text)


class Tender(NoticeRow, table="parties.tender", kind=Kind.NOTICE):
    """What a keeper publishes."""

    text: Col[str] = col(sa.Text)


class Remark(TenantRow, table="parties.remark", kind=Kind.PRIVATE):
    """What a reader adds to a tender, for itself."""

    tender_id: Col[UUID] = col(sa.UUID)
    text: Col[str] = col(sa.Text)


class Listing(TenantRow, table="parties.listing", kind=Kind.PUBLISHED):
    """What a company shows to everybody."""

    code: Col[str] = col(sa.Text)
    text: Col[str] = col(sa.Text)


class Course(SponsoredRow, table="parties.course", kind=Kind.SPONSORED):
    """What a person learns, perhaps at the cost of an organization."""

    text: Col[str] = col(sa.Text)


class OfferChanged(Event, type="parties.OfferChanged.v1", subject="offer_id"):
    """An offer has another text."""

    offer_id: UUID


class OfferWithdrawn(Event, type="parties.OfferWithdrawn.v1", subject="offer_id"):
    """An offer holds no more."""

    organization_id: UUID
    offer_id: UUID
