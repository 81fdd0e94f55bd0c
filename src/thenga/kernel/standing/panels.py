"""Panels: what a domain shows operators of one organization, asked live and stored nowhere.

A domain names a function in its manifest (`panel=`); the kernel binds it as the port
`<domain>.panels`, which Administration asks for its view of a tenant. A panel holds figures and
codes, never content and no personal data.
"""

from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable
from datetime import datetime
from enum import StrEnum
from functools import cache
from typing import Annotated
from uuid import UUID

import sqlalchemy as sa
from pydantic import BaseModel, ConfigDict, Field
from sqlalchemy import ColumnElement

from thenga.kernel.db.reader import Reader
from thenga.kernel.db.rows import TenantRow
from thenga.kernel.declare.port import Port, idempotent, port_of
from thenga.kernel.ports.binding import answered_by
from thenga.kernel.ports.local import Answering
from thenga.kernel.process.host import Host
from thenga.kernel.values.money import Money

# A code of ours: a status, a plan. Names and addresses do not fit into it.
Code = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_-]{0,63}$")]
# In this order, because an instant is written as text too; None where there is nothing to show.
Value = Annotated[int | Money | datetime | Code | None, Field(union_mode="left_to_right")]


class PanelState(StrEnum):
    """Whether an operator should look at this organization."""

    OK = "ok"
    WARN = "warn"
    ALARM = "alarm"


class Figure(BaseModel):
    """One line of a panel."""

    model_config = ConfigDict(frozen=True, strict=True)

    key: Code
    value: Value


class Panel(BaseModel):
    """What a domain says of the organization that `read` was opened for."""

    model_config = ConfigDict(frozen=True)

    figures: list[Figure]
    state: PanelState


class TenantPanel(Panel):
    """A panel and the moment it was read."""

    as_of: datetime


async def count(read: Reader, **asked: tuple[type[TenantRow], ColumnElement[bool]]) -> list[Figure]:
    """How many rows of the organization meet a condition, for each key, in one statement."""
    counts = [
        sa.select(sa.func.count())
        .where(row.__table__.c.organization_id == read.organization_id, condition)
        .scalar_subquery()
        .label(key)
        for key, (row, condition) in asked.items()
    ]
    (found,) = await read.records(sa.select(*counts))
    return [Figure(key=key, value=number) for key, number in found.items()]


class Panels(ABC):
    """The panel of one domain; silence: the panel is unavailable."""

    @abstractmethod
    @idempotent
    async def summarize(self, *, organization_id: UUID) -> TenantPanel: ...


Summarize = Callable[[Reader], Awaitable[Panel]]


@cache
def panels_of(domain: str) -> type[Port]:
    """The port by which a domain shows operators an organization."""
    return port_of(Panels, name=f"{domain}.panels", timeout=0.8)


def local_panels(host: Host, domain: str, panel: Summarize) -> Port:
    """The panels of a domain of this process."""
    return answered_by(panels_of(domain), _Local(host, domain, panel))


class _Local(Panels):
    def __init__(self, host: Host, domain: str, panel: Summarize) -> None:
        self._host, self._panel = host, panel
        self._answering = Answering(host, panels_of(domain))

    async def summarize(self, *, organization_id: UUID) -> TenantPanel:
        async with self._answering.reading(organization_id) as read:
            shown = await self._panel(read)
        return TenantPanel(figures=shown.figures, state=shown.state, as_of=self._host.now())
