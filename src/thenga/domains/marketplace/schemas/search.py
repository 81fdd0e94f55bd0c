"""What one can search listings by."""

from typing import Annotated
from uuid import UUID

from pydantic import Field

from thenga.domains.marketplace.tables.listings import ListingKind
from thenga.domains.marketplace.tables.search import SearchEntry
from thenga.kernel.http.filters import IN_SERVICE, Filters
from thenga.kernel.values.fields import text
from thenga.kernel.values.places import MunicipalityCode, Province


class Searched(Filters[SearchEntry]):
    """Words and filters of a search."""

    q: Annotated[
        Annotated[str, text(2, 200)] | None,
        IN_SERVICE,
        Field(description="Words, or a phrase in quotes. Without words, the newest come first."),
    ] = None
    category_id: Annotated[
        UUID | None, IN_SERVICE, Field(description="Category, with the categories below it.")
    ] = None
    province: Annotated[
        Province | None, IN_SERVICE, Field(description="Province that listings apply in.")
    ] = None
    municipality: Annotated[
        MunicipalityCode | None,
        IN_SERVICE,
        Field(description="Municipality that listings apply in, such as `EKU`."),
    ] = None
    kind: Annotated[ListingKind | None, IN_SERVICE, Field(description="What is offered.")] = None
