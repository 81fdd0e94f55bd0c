"""Catalogues of Organization: seeded at deployment from `content/`, read by everybody."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from uuid import UUID, uuid5

from sqlalchemy import select

from thenga.domains.organization.services.reference_data import classifications, municipalities
from thenga.domains.organization.tables import FactKey
from thenga.kernel.access.actors import SYSTEM, Scope
from thenga.kernel.access.origin import Origin
from thenga.kernel.db.paging import Paged, Slice
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.statements import where_given
from thenga.kernel.db.work import Work
from thenga.kernel.declare.manifest import Domain
from thenga.kernel.process.host import Host

_CONTENT = Path(__file__).parents[2] / "content"
_CATALOGUE = UUID("019a0000-0000-7000-8000-0000000fac75")

_FACT_KEY = """
    INSERT INTO organization.fact_key (id, created_at, updated_at, version, key, fact_group, title,
        value_type, sensitivity, fresh_days, weight, legal_forms)
    VALUES ($1, $2, $2, 1, $3, $4, $5, $6, $7, $8, $9, $10)
    ON CONFLICT (key) DO UPDATE SET updated_at = excluded.updated_at,
        version = organization.fact_key.version + 1, fact_group = excluded.fact_group,
        title = excluded.title, value_type = excluded.value_type,
        sensitivity = excluded.sensitivity, fresh_days = excluded.fresh_days,
        weight = excluded.weight, legal_forms = excluded.legal_forms
"""


@dataclass(frozen=True)
class Definition:
    """What the catalogue says of one fact."""

    key: str
    group: str
    title: str
    value_type: str
    sensitivity: str
    fresh_days: int
    weight: int
    legal_forms: tuple[str, ...]


def _read() -> dict[str, Definition]:
    lines = json.loads((_CONTENT / "facts.json").read_text(encoding="utf-8"))
    return {
        line["key"]: Definition(
            line["key"],
            line["group"],
            line["title"],
            line["valueType"],
            line["sensitivity"],
            line["freshDays"],
            line["weight"],
            tuple(line["legalForms"]),
        )
        for line in lines
    }


# The code that checks a value is deployed with the catalogue, so both are read from the same file.
FACTS = _read()


async def seed(host: Host, domains: Sequence[Domain]) -> None:
    """At deployment, as the system login: catalogues are written by nobody else."""
    origin = Origin(action="deployment", request_id="deployment", correlation_id="deployment")
    work = Work(host, "organization", Scope(actor=SYSTEM), origin, login="organization_system")
    try:
        await _seed_facts(work)
        await municipalities.load(work)
        await classifications.load(work)
        await work.finish()
    finally:
        await work.close()


async def _seed_facts(work: Work) -> None:
    for one in FACTS.values():
        await work.run(
            _FACT_KEY,
            uuid5(_CATALOGUE, one.key),
            work.now,
            one.key,
            one.group,
            one.title,
            one.value_type,
            one.sensitivity,
            one.fresh_days,
            one.weight,
            list(one.legal_forms),
        )


async def list_facts(
    read: Reader, paged: Paged, *, group: str | None, sensitivity: str | None
) -> Slice[FactKey]:
    """The fact catalogue."""
    statement = select(FactKey)
    statement = where_given(
        statement, (FactKey.fact_group, group), (FactKey.sensitivity, sensitivity)
    )
    return await read.page(statement, paged, FactKey.__table__.c.key)
