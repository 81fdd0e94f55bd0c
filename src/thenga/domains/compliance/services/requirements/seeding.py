"""Loads the deployed catalogue as the system login.

Loading twice changes nothing. A row that differs from the stored one of the same day stops the
deployment: law is dated, so give it a new `effectiveFrom` (CMP-3).
"""

import json
from collections.abc import Sequence
from datetime import date, timedelta
from pathlib import Path
from typing import Any, TypeVar

from sqlalchemy import func, select

from thenga.domains.compliance.tables import DocumentType, RequirementDefinition
from thenga.kernel.access.actors import SYSTEM, Scope
from thenga.kernel.access.origin import Origin
from thenga.kernel.db.work import Work
from thenga.kernel.declare.manifest import Domain
from thenga.kernel.process.host import Host

_CONTENT = Path(__file__).parents[2] / "content"
D = TypeVar("D", RequirementDefinition, DocumentType)
Line = dict[str, Any]
_NAMES = {"class": "document_class"}


class CatalogueChanged(Exception):
    """A dated row of the file differs from the stored one. Give it a new date."""


async def seed_catalogue(host: Host, domains: Sequence[Domain]) -> None:
    """Load the catalogue at deployment."""
    lines = json.loads((_CONTENT / "catalogue.json").read_text(encoding="utf-8"))
    origin = Origin(action="deployment", request_id="deployment", correlation_id="deployment")
    work = Work(host, "compliance", Scope(actor=SYSTEM), origin, login="compliance_system")
    try:
        for line in lines["definitions"]:
            await bring(work, RequirementDefinition, columns_of(line))
        for line in lines["documentTypes"]:
            await bring(work, DocumentType, columns_of(line))
        await work.finish()
    finally:
        await work.close()


async def bring(work: Work, row: type[D], values: Line) -> D | None:
    """Add a dated row and end the one before it; None if it is there already."""
    code, day = values["code"], values["effective_from"]
    found = await work.find(row, code=code, effective_from=day)
    if found is not None:
        differing = [name for name, value in values.items() if getattr(found, name) != value]
        if differing:
            raise CatalogueChanged(f"{row.__table__} {code} {day} differs in {differing}")
        return None
    dated = await work.all(select(row).where(row.code == code).order_by(row.effective_from))
    later = [one.effective_from for one in dated if one.effective_from > day]
    ends = min(later) - timedelta(days=1) if later else None
    version = await _next_version(work) if dated else 1
    made = await work.add(row(**values, effective_to=ends, catalogue_version=version))
    for former in [one for one in dated if one.effective_from < day][-1:]:
        held = await work.lock(row, former.id)
        held.effective_to = day - timedelta(days=1)
        await work.save(held)
    return made


async def _next_version(work: Work) -> int:
    newest = [
        await work.value(select(func.max(row.catalogue_version)))
        for row in (RequirementDefinition, DocumentType)
    ]
    return max(one or 0 for one in newest) + 1


def columns_of(line: Line) -> Line:
    """Column names and typed days of a line of the file."""
    values = {_NAMES.get(name, _snake(name)): value for name, value in line.items()}
    return values | {"effective_from": date.fromisoformat(values["effective_from"])}


def _snake(name: str) -> str:
    return "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in name)


def declared(name: str) -> Any:
    """A file of the domain's content."""
    return json.loads((_CONTENT / f"{name}.json").read_text(encoding="utf-8"))
