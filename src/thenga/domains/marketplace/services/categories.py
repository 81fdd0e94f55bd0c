"""Categories of the platform: two levels, written by staff, read by everybody."""

from collections.abc import Sequence
from uuid import UUID

from sqlalchemy import select

from thenga.domains.marketplace.schemas.categories import ChangeCategory, CreateCategory
from thenga.domains.marketplace.tables.categories import Category
from thenga.kernel.access.actors import OPERATOR
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.rows import merge_patch
from thenga.kernel.db.statements import among
from thenga.kernel.db.work import Work
from thenga.kernel.errors import Duplicate, NotFound, Problem, extensions


class CategoryUnknown(Problem):
    """`categoryIds` or `parentId` names no category. List the categories and use their ids."""

    code, status = "marketplace-category-unknown", 422
    title = "This is no category"
    members = extensions(field=(str, "Field of the request that names it."))


class CategoryTooDeep(Problem):
    """A category has at most one category above it. Use a top category as `parentId`."""

    code, status = "marketplace-category-depth", 422
    title = "Categories have two levels"


async def create_category(work: Work, given: CreateCategory) -> Category:
    """Add a category, once by its code, below a top category or at the top."""
    if given.parent_id is not None:
        above = await work.find(Category, organization_id=OPERATOR, id=given.parent_id)
        if above is None:
            raise CategoryUnknown("No category has the id in `parentId`.", field="/parentId")
        if above.parent_id is not None:
            raise CategoryTooDeep("The category in `parentId` is below another one.")
    wanted = Category.of(given, organization_id=work.organization_id)
    category, is_new = await work.add_or_find(wanted, by=("organization_id", "code"))
    if not is_new:
        existing = {"domain": "marketplace", "type": "category", "id": str(category.id)}
        raise Duplicate("Another category has this code.", existing=existing)
    return category


async def change_category(work: Work, category_id: UUID, given: ChangeCategory) -> Category:
    """Change the fields that were sent."""
    category = await work.lock(Category, category_id)
    merge_patch(category, given)
    if work.changes(category):
        await work.save(category)
    return category


async def get_category(read: Reader, category_id: UUID) -> Category:
    """A category, which everybody reads."""
    category = await read.find(Category, organization_id=OPERATOR, id=category_id)
    if category is None:
        raise NotFound()
    return category


async def categories_of(read: Reader, category_ids: Sequence[UUID]) -> dict[UUID, Category]:
    """These categories and the ones above them; unknown ids are left out."""
    found: dict[UUID, Category] = {}
    wanted = list(dict.fromkeys(category_ids))
    while wanted:
        kept = (Category.organization_id == OPERATOR) & among(Category.id, wanted)
        found |= {
            category.id: category for category in await read.all(select(Category).where(kept))
        }
        above = {found[id_].parent_id for id_ in wanted if id_ in found}
        wanted = [id_ for id_ in above if id_ is not None and id_ not in found]
    return found
