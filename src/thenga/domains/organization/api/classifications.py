"""Classifications: a catalogue for everybody to look up."""

from typing import Annotated

from fastapi import Query
from pydantic import Field

from thenga.domains.organization.api.classification_bodies import Code, Scheme
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
    parent: Annotated[str | None, Field(description="Parent code, if there is one.")]

    @classmethod
    def of(cls, one: ClassificationCode) -> "CatalogueCodeView":
        return cls.shown(dict(one.__dict__))


@router.get("/organization-catalogues/classifications")
async def list_classifications(
    read: Annotated[Reader, reads(Permission.CATALOGUE_READ)],
    page: Annotated[Paged, paged("code")],
    scheme: Annotated[
        Scheme,
        Query(
            description="Classification scheme. The list is empty if its catalogue is not loaded."
        ),
    ],
    q: Annotated[
        Annotated[str, text(1, 80)] | None,
        Query(description="Filter by words of the title or the start of the code."),
    ] = None,
    parent: Annotated[Code | None, Query(description="Filter by parent code.")] = None,
) -> PageOf[CatalogueCodeView]:
    """List classification codes of the catalogues that are loaded."""
    found = await reference_data.list_classifications(read, page, scheme=scheme, q=q, parent=parent)
    return PageOf[CatalogueCodeView].of(found, CatalogueCodeView.of)
