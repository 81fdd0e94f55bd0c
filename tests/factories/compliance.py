"""Rows of Compliance as its services would leave them, without a scanner or a worker."""

from datetime import timedelta
from typing import Any
from uuid import UUID, uuid4

import asyncpg

from thenga.domains.compliance.tables import (
    Applicability,
    Origin,
    Profile,
    Requirement,
)
from thenga.kernel.access import origin as origins
from thenga.kernel.access.actors import SYSTEM, Scope
from thenga.kernel.db.work import Work
from thenga.kernel.process.host import Host


def working(host: Host, organization_id: UUID) -> Work:
    origin = origins.Origin(action="factory", request_id="factory", correlation_id="factory")
    return Work(host, "compliance", Scope(SYSTEM, organization_id), origin)


async def profile(host: Host, organization_id: UUID) -> Profile:
    """The profile of a company; the one that is there, if there is one."""
    work = working(host, organization_id)
    try:
        found = await work.find(Profile, organization_id=organization_id)
        if found is None:
            found = await work.add(
                Profile(
                    organization_id=organization_id,
                    spheres=["national"],
                    answers={},
                    fact_basis=[],
                    facts_missing=[],
                )
            )
        await work.finish()
        return found
    except asyncpg.UniqueViolationError:  # somebody else was faster
        await work.close()
        return await profile(host, organization_id)
    finally:
        await work.close()


async def clock_ahead(host: Host, organization_id: UUID, ahead: timedelta) -> None:
    """As if the move of a sandbox's clock had reached Compliance before the others."""
    async with host.engines.connection("compliance", "compliance_system") as connection:
        await connection.execute(
            "INSERT INTO compliance.clock_offset (organization_id, ahead, sequence) "
            "VALUES ($1, $2, 1)",
            organization_id,
            ahead,
        )


async def requirement(host: Host, organization_id: UUID, **fields: Any) -> Requirement:
    """An own requirement that a CSD report proves."""
    known: dict[str, Any] = {
        "origin": Origin.OWN,
        "title": f"Report on the site {uuid4().hex[:12]}",
        "component": "registration",
        "weight": 2,
        "gate": "soft",
        "proof": {"documentTypes": ["csd_report"]},
        "params": {},
        "subjects": [{"kind": "organization", "ref": None}],
        "applicability": Applicability.APPLICABLE,
        "because": [],
    }
    return await _added(
        host, organization_id, Requirement(organization_id=organization_id, **known | fields)
    )


async def _added(host: Host, organization_id: UUID, row: Any) -> Any:
    work = working(host, organization_id)
    await work.add(row)
    await work.finish()
    return row
