"""Meters: what usage is measured in."""

from typing import Annotated

from fastapi import Query
from pydantic import Field

from thenga.domains.billing.permissions import Permission
from thenga.domains.billing.services import catalogue
from thenga.domains.billing.tables import MeterKind
from thenga.kernel.db.paging import Paged
from thenga.kernel.db.reader import Reader
from thenga.kernel.http.bodies import PageOf, Stored
from thenga.kernel.http.doors import router as make_router
from thenga.kernel.http.entrances import reads
from thenga.kernel.http.lists import paged

router = make_router("Billing / Usage")


class MeterView(Stored):
    """A meter that counts usage."""

    key: Annotated[str, Field(description="Entitlement key it counts for.")]
    kind: Annotated[
        MeterKind,
        Field(
            description="`counter` adds up over a month, `gauge` counts what is open now, "
            "`told` is a number another domain reports."
        ),
    ]
    unit: Annotated[str, Field(description="Unit that is counted.")]


@router.get("/billing/meters")
async def list_meters(
    read: Annotated[Reader, reads(Permission.USAGE_READ)],
    page: Annotated[Paged, paged("createdAt")],
    kind: Annotated[MeterKind | None, Query(description="Filter by kind.")] = None,
) -> PageOf[MeterView]:
    """List the meters. Plans say how much of each is included."""
    found = await catalogue.list_meters(read, page, kind=kind)
    return PageOf[MeterView].of(found, MeterView.model_validate)
