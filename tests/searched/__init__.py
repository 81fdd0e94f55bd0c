"""A domain of tests with texts to be found: published notices, and the same kept privately."""

from pathlib import Path

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql as pg

from thenga.kernel.db.kinds import Kind
from thenga.kernel.db.rows import Col, TenantRow, col

MIGRATIONS = Path(__file__).parent / "migrations"


class Entry(TenantRow):
    number: Col[str] = col(sa.Text)
    title: Col[str] = col(sa.Text)
    words: Col[str] = col(pg.TSVECTOR)


class Notice(Entry, table="searched.notice", kind=Kind.PUBLISHED):
    """What everybody may find."""


class Draft(Entry, table="searched.draft", kind=Kind.PRIVATE):
    """The same texts, which only their organization may see."""
