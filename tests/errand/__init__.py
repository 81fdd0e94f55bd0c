"""A second domain of tests, whose rows are moved by time."""

from datetime import datetime
from pathlib import Path

from thenga.kernel.db.kinds import Kind
from thenga.kernel.db.rows import Col, Instant, Row, TenantRow, col

MIGRATIONS = Path(__file__).parent / "migrations"


class Errand(TenantRow, table="errand.errand", kind=Kind.PRIVATE):
    next_check_at: Col[datetime | None] = col(Instant, nullable=True)


class Chore(Row, table="errand.chore", kind=Kind.PLATFORM):
    """What the platform itself does at a time."""

    next_check_at: Col[datetime | None] = col(Instant, nullable=True)
