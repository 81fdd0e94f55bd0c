"""A domain that exists only in tests: the smallest thing the kernel can be asked to carry."""

from datetime import datetime
from enum import StrEnum
from pathlib import Path
from typing import Annotated
from uuid import UUID

import sqlalchemy as sa
from pydantic import Field

from thenga.kernel.db.kinds import Kind
from thenga.kernel.db.rows import Col, Explained, TenantRow, col, status
from thenga.kernel.declare.event import Event
from thenga.kernel.declare.law import EXTRA_HOLIDAYS, VAT_RATE
from thenga.kernel.declare.lifecycle import By, Lifecycle, Move
from thenga.kernel.declare.manifest import Domain
from thenga.kernel.declare.setting import Acknowledged, Setting, SettingModel
from thenga.kernel.errors import Conflict

MIGRATIONS = Path(__file__).parent / "migrations"


class ThingStatus(StrEnum):
    NEW = "new"
    USED = "used"
    GONE = "gone"


class Thing(TenantRow, table="probe.thing", kind=Kind.PRIVATE):
    name: Col[str] = col(sa.Text)
    amount: Col[int] = col(sa.BigInteger, default=0)
    status: Col[ThingStatus] = status(ThingStatus, default=ThingStatus.NEW)
    secret: Col[str | None] = col(sa.Text, nullable=True, default=None, secret=True)


class Effect(TenantRow, table="probe.effect", kind=Kind.PRIVATE):
    """What a reaction or job did: one row each time, so that doubles can be counted."""

    thing_id: Col[UUID] = col(sa.UUID)
    cause: Col[str] = col(sa.Text)
    sequence: Col[int] = col(sa.BigInteger, default=0)


class Label(TenantRow, table="probe.label", kind=Kind.PRIVATE):
    """A name that an organization has once, and a slot that one label of it has at a time."""

    name: Col[str] = col(sa.Text)
    slot: Col[str | None] = col(sa.Text, nullable=True, default=None)


class Ticket(TenantRow, Explained, table="probe.ticket", kind=Kind.PRIVATE):
    """A row with a lifecycle that keeps why it moved."""

    name: Col[str] = col(sa.Text)
    status: Col[ThingStatus] = status(ThingStatus, default=ThingStatus.NEW)


class ThingMade(Event, type="probe.ThingMade.v1", subject="thing_id"):
    """A thing was made."""

    organization_id: UUID
    thing_id: UUID


class ThingChanged(Event, type="probe.ThingChanged.v1", subject="thing_id"):
    """A thing has another amount."""

    organization_id: UUID
    thing_id: UUID
    amount: int


class PolicyAcknowledged(Acknowledged, type="probe.PolicyAcknowledged.v1", subject="config_id"):
    """The probe has applied or refused a published setting or policy."""


class Shades(SettingModel):
    """A setting of several fields."""

    darkest: Annotated[int, Field(ge=0, le=100)] = 90
    names: tuple[str, ...] = ()


MOST = Setting("probe.things.most", Annotated[int, Field(ge=1, le=50)], 10, "Things at most")
SHADES = Setting("probe.shades", Shades, Shades(), "Shades of a thing", kind="policy")

DOMAIN = Domain(
    name="probe",
    home=Path(__file__).parent,
    events=(ThingMade, ThingChanged, PolicyAcknowledged),
    settings=(VAT_RATE, EXTRA_HOLIDAYS, MOST, SHADES),
)


class ThingLifecycle(Lifecycle, initial=ThingStatus.NEW):
    use = Move(ThingStatus.NEW, to=ThingStatus.USED)
    drop = Move(ThingStatus.NEW, ThingStatus.USED, to=ThingStatus.GONE)


def named(row: Ticket, at: datetime) -> None:
    if row.name == "Nameless":
        raise Conflict("A ticket without a name is not used.")


class TicketLifecycle(Lifecycle, initial=ThingStatus.NEW):
    use = Move(ThingStatus.NEW, to=ThingStatus.USED, guard=named)
    drop = Move(ThingStatus.NEW, ThingStatus.USED, to=ThingStatus.GONE, by=By.STAFF)
