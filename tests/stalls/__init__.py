"""A domain of tests in the shape of new domains: one annotation a column, values by name."""

from datetime import date, datetime
from decimal import Decimal
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any, Literal
from uuid import UUID

from pydantic import Field

from thenga.kernel.db.kinds import Kind
from thenga.kernel.db.rows import Col, TenantRow, col
from thenga.kernel.declare.event import Event
from thenga.kernel.values.fields import decimal, text, whole
from thenga.kernel.values.shapes import Shape

MIGRATIONS = Path(__file__).parent / "migrations"


class StallStatus(StrEnum):
    """Status of a stall."""

    OPEN = "open"
    CLOSED = "closed"


class Produce(StrEnum):
    """What a stall sells."""

    FRUIT = "fruit"
    BREAD = "bread"


class Place(Shape):
    """Where a stall stands."""

    town: Annotated[str, text(1, 80), Field(description="Town of the stall.")]
    radius_km: Annotated[int, whole(0, 500), Field(description="Radius around it.")] = 0
    rent_paid: Annotated[Decimal, decimal(6, 2), Field(description="Rent.")] = Decimal("0.00")


class Stall(
    TenantRow,
    table="stalls.stall",
    kind=Kind.PRIVATE,
    unique=[("organization_id", "code")],
    indexes=[("organization_id", "status", "opens_on")],
    due=True,
):
    """A stall of a company on a market."""

    code: Col[str]
    name: Col[str | None]
    size: Col[Literal["small", "large"]] = col(default="small")
    status: Col[StallStatus] = col(default=StallStatus.OPEN)
    places: Col[int] = col(default=1)
    covered: Col[bool] = col(default=False)
    opens_on: Col[date]
    fee: Col[Decimal | None]
    place: Col[Place | None]
    earlier_places: Col[tuple[Place, ...]] = col(default=())
    produce: Col[list[Produce]] = col(default=[])
    neighbour_ids: Col[list[UUID]] = col(default=[])
    extras: Col[dict[str, Any] | None]
    landlord_id: Col[UUID | None]
    pin: Col[str | None] = col(secret=True)
    next_check_at: Col[datetime | None]


class Visit(TenantRow, table="stalls.visit", kind=Kind.PRIVATE, appends=True):
    """A visit to a stall. It never changes."""

    stall_id: Col[UUID]
    note: Col[str]


class StallAdded(Event, type="stalls.StallAdded.v1", subject="stall_id"):
    """A stall was added."""

    organization_id: UUID
    stall_id: UUID
    code: str
    status: Literal["open", "closed"]
    opens_on: date
    by_phone: bool


class VisitNoted(Event, type="stalls.VisitNoted.v1", subject="stall_id"):
    """Somebody visited a stall."""

    organization_id: UUID
    stall_id: UUID
    note: str | None = None
