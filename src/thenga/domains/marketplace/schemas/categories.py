"""Fields, bodies and filters of categories."""

from typing import Annotated
from uuid import UUID

from fastapi import Path
from pydantic import MISSING, BaseModel, Field

from thenga.domains.marketplace.tables.categories import Category
from thenga.domains.marketplace.values.category_names import CategoryNames
from thenga.domains.marketplace.values.listing_content import UnspscCode
from thenga.kernel.http.bodies import Body
from thenga.kernel.http.filters import Filters
from thenga.kernel.values.fields import matching

CategoryId = Annotated[UUID, Path(alias="categoryId", description="ID of the category.")]
Names = Annotated[CategoryNames, Field(description="Names.")]
UnspscPrefixes = Annotated[
    list[UnspscCode], Field(max_length=50, description="UNSPSC codes that begin with these.")
]
CidbClasses = Annotated[
    list[Annotated[str, matching("^[A-Z]{2}$", 2)]],
    Field(max_length=20, description="CIDB classes of works."),
]


class CategoryFields(BaseModel):
    """What every category has."""

    names: Names
    unspsc_prefixes: UnspscPrefixes = []
    cidb_classes: CidbClasses = []


class FixedCategoryFields(BaseModel):
    """What a category has forever."""

    code: Annotated[
        str, matching("^[a-z0-9-]{2,60}$", 60), Field(description="Code, which never changes.")
    ]
    parent_id: Annotated[
        UUID | None, Field(description="Category above it. Null for a top category.")
    ] = None


class CreateCategory(CategoryFields, FixedCategoryFields, Body):
    """A category. Its code and the category above it never change."""


class ChangeCategory(Body):
    """Fields to update."""

    names: Names | MISSING = MISSING
    unspsc_prefixes: UnspscPrefixes | MISSING = MISSING
    cidb_classes: CidbClasses | MISSING = MISSING


class CategoryFilters(Filters[Category]):
    """What categories are listed."""

    parent_id: UUID | None = None
    code: Annotated[str, matching("^[a-z0-9-]{2,60}$", 60)] | None = None
