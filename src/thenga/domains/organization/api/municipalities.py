"""Municipalities: a catalogue for everybody to look up."""

from datetime import date
from typing import Annotated, Literal

from fastapi import Query
from pydantic import Field

from thenga.domains.organization.api.records import Province
from thenga.domains.organization.permissions import Permission
from thenga.domains.organization.services import reference_data
from thenga.domains.organization.tables import Municipality
from thenga.kernel.db.paging import Paged
from thenga.kernel.db.reader import Reader
from thenga.kernel.http.bodies import PageOf, View
from thenga.kernel.http.doors import router as make_router
from thenga.kernel.http.entrances import reads
from thenga.kernel.http.lists import paged
from thenga.kernel.values.fields import text

router = make_router("Organization / Catalogues")


class MunicipalityView(View):
    """A municipality with its Municipal Demarcation Board code."""

    code: str
    name: str
    category: Literal["metro", "district", "local"]
    province: Province
    district_code: Annotated[str | None, Field(description="District of a local municipality.")]
    valid_from: date
    valid_to: Annotated[
        date | None, Field(description="Last valid day, after a change of boundaries.")
    ]

    @classmethod
    def of(cls, one: Municipality) -> "MunicipalityView":
        return cls.shown(dict(one.__dict__))


@router.get("/organization-catalogues/municipalities")
async def list_municipalities(
    read: Annotated[Reader, reads(Permission.CATALOGUE_READ)],
    page: Annotated[Paged, paged("code", "name")],
    province: Annotated[Province | None, Query()] = None,
    q: Annotated[
        Annotated[str, text(1, 80)] | None,
        Query(description="Filter by part of the name or the start of the code."),
    ] = None,
) -> PageOf[MunicipalityView]:
    """List metropolitan, district and local municipalities with their codes."""
    found = await reference_data.list_municipalities(read, page, province=province, q=q)
    return PageOf[MunicipalityView].of(found, MunicipalityView.of)
