"""What search finds of a listing."""

from datetime import datetime
from uuid import UUID

from sqlalchemy.dialects import postgresql as pg

from thenga.domains.supplier.public import TrustLevel
from thenga.kernel.db.kinds import Kind
from thenga.kernel.db.rows import Col, TenantRow, col


class SearchEntry(
    TenantRow,
    table="marketplace.search_entry",
    kind=Kind.PUBLISHED,
    indexes=[("confirmed_at", "id")],
    deletes=True,
    told=False,
):
    """The words and tokens of a served listing, under its identifier; nothing about the viewer.

    Written by `services/search/entries.py` alone, because the words are made by the database.
    Level and trust order the hits and are never shown: what is shown is asked of its owner.
    """

    supplier_id: Col[UUID]
    words: Col[str] = col(pg.TSVECTOR)
    tokens: Col[list[str]]
    provider_name: Col[str | None]
    level: Col[int]
    trust: Col[TrustLevel | None]
    confirmed_at: Col[datetime]
    sandbox: Col[bool] = col(default=False)
