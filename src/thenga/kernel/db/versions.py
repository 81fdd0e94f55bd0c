"""Which version a domain's schema should have; the API asks this and needs no Alembic for it."""

from pathlib import Path


def newest(versions: Path) -> str:
    """A migration's file is named like its revision, `billing_0007.py` (held by a test)."""
    return max(path.stem for path in versions.glob("*_[0-9][0-9][0-9][0-9].py"))
