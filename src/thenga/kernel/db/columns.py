"""The columns that migrations are written with; each has to be there unless it is `nullable`."""

from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql as pg

Instant = sa.DateTime(timezone=True)


def text(name: str, *, nullable: bool = False) -> sa.Column[str]:
    return sa.Column(name, sa.Text, nullable=nullable)


def texts(name: str, *, nullable: bool = False) -> sa.Column[list[str]]:
    return sa.Column(name, pg.ARRAY(sa.Text), nullable=nullable)


def ident(name: str, *, nullable: bool = False) -> sa.Column[Any]:
    """An identifier of ours."""
    return sa.Column(name, pg.UUID, nullable=nullable)


def instant(name: str, *, nullable: bool = False) -> sa.Column[Any]:
    return sa.Column(name, Instant, nullable=nullable)


def day(name: str, *, nullable: bool = False) -> sa.Column[Any]:
    """A local day, without an instant."""
    return sa.Column(name, sa.Date, nullable=nullable)


def flag(name: str, *, nullable: bool = False) -> sa.Column[bool]:
    return sa.Column(name, sa.Boolean, nullable=nullable)


def whole(name: str, *, nullable: bool = False) -> sa.Column[int]:
    """A small whole number."""
    return sa.Column(name, sa.Integer, nullable=nullable)


def number(name: str, *, nullable: bool = False) -> sa.Column[int]:
    """A count or an amount in minor units, which may grow large."""
    return sa.Column(name, sa.BigInteger, nullable=nullable)


def json(name: str, *, nullable: bool = False) -> sa.Column[Any]:
    return sa.Column(name, pg.JSONB, nullable=nullable)


def octets(name: str, *, nullable: bool = False) -> sa.Column[bytes]:
    """Bytes: a hash, or what is sealed."""
    return sa.Column(name, sa.LargeBinary, nullable=nullable)
