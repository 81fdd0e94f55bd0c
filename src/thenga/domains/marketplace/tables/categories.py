"""The categories that listings are found by."""

from uuid import UUID

from thenga.domains.marketplace.values.category_names import CategoryNames
from thenga.kernel.db.kinds import Kind
from thenga.kernel.db.rows import Col, TenantRow


class Category(
    TenantRow,
    table="marketplace.category",
    kind=Kind.PUBLISHED,
    unique=[("organization_id", "code")],
):
    """A category of the platform, kept by the operator; a parent has no parent of its own."""

    code: Col[str]
    names: Col[CategoryNames]
    parent_id: Col[UUID | None]
    unspsc_prefixes: Col[list[str]]
    cidb_classes: Col[list[str]]
