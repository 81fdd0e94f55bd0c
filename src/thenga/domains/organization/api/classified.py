"""How classifications, areas and references look, in whatever record they stand."""

from collections.abc import Iterable
from typing import Annotated, Any, Literal

from pydantic import Field

from thenga.domains.organization.api.records import Province, ReferenceBody
from thenga.domains.organization.services import reference_data
from thenga.kernel.db.reader import Reader
from thenga.kernel.http.bodies import Body, View
from thenga.kernel.values.fields import matching

Scheme = Literal["unspsc", "cidb", "cpv", "internal"]
Code = Annotated[str, matching("^[A-Za-z0-9](?:[A-Za-z0-9 ._/-]{0,38}[A-Za-z0-9])?$", 40)]
MunicipalityCode = Annotated[str, matching("^[A-Z]{2,3}[0-9]{0,3}$", 6)]


class ClassificationBody(Body):
    scheme: Scheme
    code: Annotated[
        Code,
        Field(description="UNSPSC 8 or 10 digits, CPV 8 digits and one, CIDB a class as `GB`."),
    ]


class AreasBody(Body):
    """Where it is offered: the whole country, provinces, municipalities."""

    national: bool = False
    provinces: Annotated[list[Province], Field(max_length=9)] = []
    municipalities: Annotated[list[MunicipalityCode], Field(max_length=60)] = []


Classifications = Annotated[list[ClassificationBody], Field(max_length=20)]
Evidence = Annotated[
    list[ReferenceBody],
    Field(max_length=20, description="What proves it: documents, evidence, own past projects."),
]


class ClassificationView(View):
    scheme: str
    code: str
    code_status: Annotated[
        Literal["known", "catalogue_not_loaded"],
        Field(description="Whether our catalogue of the scheme has it, or is not loaded."),
    ]


class AreasView(View):
    national: bool
    provinces: list[Province]
    municipalities: list[str]


class Known:
    """The codes of some records that the catalogue has; asked once for a whole page."""

    def __init__(self, codes: set[tuple[str, str]]) -> None:
        self._codes = codes

    @classmethod
    async def of(cls, read: Reader, rows: Iterable[Any]) -> "Known":
        given = [one for row in rows for one in row.classifications]
        return cls(await reference_data.known_classifications(read, given))

    def views(self, given: list[dict[str, str]]) -> list[ClassificationView]:
        return [
            ClassificationView(
                scheme=one["scheme"],
                code=one["code"],
                code_status="known"
                if (one["scheme"], one["code"]) in self._codes
                else "catalogue_not_loaded",
            )
            for one in given
        ]
