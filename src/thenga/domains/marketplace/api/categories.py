"""Categories that listings are found by."""

from typing import Annotated

from thenga.domains.marketplace.permissions import Permission
from thenga.domains.marketplace.schemas.categories import (
    CategoryFields,
    CategoryFilters,
    CategoryId,
    ChangeCategory,
    CreateCategory,
    FixedCategoryFields,
)
from thenga.domains.marketplace.services import categories
from thenga.domains.marketplace.services.categories import CategoryTooDeep, CategoryUnknown
from thenga.domains.marketplace.tables.categories import Category
from thenga.kernel.access.actors import OPERATOR
from thenga.kernel.db.paging import Paged
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.work import Work
from thenga.kernel.errors import Duplicate
from thenga.kernel.http.bodies import PageOf, Stored
from thenga.kernel.http.document.operations import PREFIX
from thenga.kernel.http.doors import router as make_router
from thenga.kernel.http.entrances import reads, writes
from thenga.kernel.http.filters import filtered
from thenga.kernel.http.lists import paged
from thenga.kernel.http.reference import problems

router = make_router("Marketplace / Categories")


class CategoryView(CategoryFields, FixedCategoryFields, Stored):
    """A category of the platform."""

    @property
    def own_path(self) -> str:
        return f"{PREFIX}/marketplace/categories/{self.id}"


@router.post(
    "/marketplace/categories",
    status_code=201,
    responses=problems(Duplicate, CategoryUnknown, CategoryTooDeep),
)
async def create_category(
    body: CreateCategory,
    work: Annotated[Work, writes(Permission.CATEGORY_MANAGE, for_staff=True)],
) -> CategoryView:
    """Add a category at the top, or below a top category.

    Only staff add categories. The code and the category above it never change.
    """
    return CategoryView.of(await categories.create_category(work, body))


@router.get("/marketplace/categories")
async def list_categories(
    read: Annotated[Reader, reads(Permission.CATEGORY_READ, for_staff=True)],
    page: Annotated[Paged, paged("createdAt", Category.code, default="code")],
    filters: Annotated[CategoryFilters, filtered()],
) -> PageOf[CategoryView]:
    """List the categories of the platform."""
    kept = filters.select().where(Category.organization_id == OPERATOR)
    return PageOf.of(await read.page(kept, page), CategoryView.of)


@router.get("/marketplace/categories/{categoryId}")
async def get_category(
    category_id: CategoryId,
    read: Annotated[Reader, reads(Permission.CATEGORY_READ, for_staff=True)],
) -> CategoryView:
    """Get a category."""
    return CategoryView.of(await categories.get_category(read, category_id))


@router.patch("/marketplace/categories/{categoryId}")
async def change_category(
    category_id: CategoryId,
    body: ChangeCategory,
    work: Annotated[Work, writes(Permission.CATEGORY_MANAGE, for_staff=True)],
) -> CategoryView:
    """Change names and classifications of a category. Only staff change categories."""
    return CategoryView.of(await categories.change_category(work, category_id, body))
