"""The facts of a company that decide which requirements apply, asked of Organization (CMP-2).

Values are compared and not stored: a profile keeps which version of which fact was cited.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from thenga.domains.organization import public as organization
from thenga.kernel.db.reader import Reader
from thenga.kernel.errors import DependencyUnavailable, NotFound

# What conditions of the catalogue may compare; a fact outside of these is always unknown.
FACT_KEYS = ("legalForm", "vatRegistered", "employeeCount", "sectors", "cidbCrsNumber")


@dataclass(frozen=True, slots=True)
class CompanyFacts:
    """What Organization told; `is_silent` if it did not answer, so nothing is known."""

    values: Mapping[str, Any] = field(default_factory=dict)
    versions: Mapping[str, int] = field(default_factory=dict)
    directors: tuple[UUID, ...] = ()
    is_silent: bool = False


async def ask(read: Reader) -> CompanyFacts:
    """Ask Organization for the facts and the directors of the acting company."""
    try:
        found = await read.port(organization.Profiles).describe(
            organization_id=read.organization_id,
            purpose="compliance_check",
            fact_keys=list(FACT_KEYS),
            record_types=["director"],
        )
    except (DependencyUnavailable, NotFound):
        return CompanyFacts(is_silent=True)
    stated = [fact for fact in found.facts if fact.value is not None]
    return CompanyFacts(
        values={fact.key: fact.value for fact in stated},
        versions={fact.key: fact.version for fact in stated},
        directors=tuple(
            UUID(record.ref.id) for record in found.records if record.type == "director"
        ),
    )
