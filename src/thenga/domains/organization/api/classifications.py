"""Classifications: a catalogue for everybody to look up."""

from typing import Annotated

from fastapi import Query
from pydantic import Field

from thenga.domains.organization.api.classified import Code, Scheme
from thenga.domains.organization.permissions import Permission
from thenga.domains.organization.services import reference_data
from thenga.domains.organization.tables import ClassificationCode
from thenga.kernel.db.paging import Paged
from thenga.kernel.db.reader import Reader
from thenga.kernel.http.bodies import PageOf, View
from thenga.kernel.http.doors import router as make_router
from thenga.kernel.http.entrances import reads
from thenga.kernel.http.lists import paged
from thenga.kernel.values.fields import text

router = make_router("Organization / Catalogues")


class CatalogueCodeView(View):
    """One code of a classification scheme."""

    scheme: Scheme
    code: str
    title: str
    parent: Annotated[str | None, Field(description="The code above it, where there is one.")]

    @classmethod
    def of(cls, one: ClassificationCode) -> "CatalogueCodeView":
        return cls.shown(dict(one.__dict__))


@router.get("/organization-catalogues/classifications")
async def list_classifications(
    read: Annotated[Reader, reads(Permission.CATALOGUE_READ)],
    page: Annotated[Paged, paged("code")],
    scheme: Annotated[Scheme, Query(description="An empty list: its catalogue is not loaded.")],
    q: Annotated[
        Annotated[str, text(1, 80)] | None,
        Query(description="Words of the title, or the beginning of the code."),
    ] = None,
    parent: Annotated[Code | None, Query(description="Only what is right below this code.")] = None,
) -> PageOf[CatalogueCodeView]:
    """The codes by which work and goods are sorted, as far as their catalogue is loaded."""
    found = await reference_data.list_classifications(read, page, scheme=scheme, q=q, parent=parent)
    return PageOf[CatalogueCodeView].of(found, CatalogueCodeView.of)
