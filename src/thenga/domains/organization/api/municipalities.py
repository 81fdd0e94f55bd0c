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
    """A municipality, by the code of the Municipal Demarcation Board."""

    code: str
    name: str
    category: Literal["metro", "district", "local"]
    province: Province
    district_code: Annotated[str | None, Field(description="Of a local one: its district.")]
    valid_from: date
    valid_to: Annotated[date | None, Field(description="The last day, once boundaries moved.")]

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
        Query(description="A part of the name, or the beginning of the code."),
    ] = None,
) -> PageOf[MunicipalityView]:
    """Metros, districts and local municipalities; an address takes its code from here."""
    found = await reference_data.list_municipalities(read, page, province=province, q=q)
    return PageOf[MunicipalityView].of(found, MunicipalityView.of)
