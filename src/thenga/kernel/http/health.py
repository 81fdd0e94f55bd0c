"""Health: whether the process runs, and whether it may take traffic."""

import asyncio
from collections.abc import Sequence

import asyncpg
from fastapi import APIRouter, Response

from thenga.kernel.db.versions import newest
from thenga.kernel.declare.manifest import Domain
from thenga.kernel.http.bounds import Bounds
from thenga.kernel.process.host import Host


def health_routes(host: Host, domains: Sequence[Domain], bounds: Bounds) -> APIRouter:
    """`/health/live` and `/health/ready`; no credentials, no data."""
    router = APIRouter(include_in_schema=False)

    @router.get("/health/live")
    async def live() -> dict[str, str]:
        return {"status": "live"}

    @router.get("/health/ready")
    async def ready(response: Response) -> dict[str, object]:
        missing = await _not_ready(host, domains)
        if bounds.draining:
            missing.append("draining")
        response.status_code = 503 if missing else 200
        return {"status": "not ready" if missing else "ready", "missing": missing}

    return router


async def _not_ready(host: Host, domains: Sequence[Domain]) -> list[str]:
    """The database and the migrations; a broker that is away stops no request."""
    missing = []
    for domain in domains:
        try:
            async with asyncio.timeout(2):
                pool = host.engines.pool(domain.name)
                found = await pool.fetchrow(f"SELECT version_num FROM {domain.name}.migration")
        except (asyncpg.PostgresError, asyncpg.InterfaceError, OSError, TimeoutError):
            missing.append(f"database of {domain.name}")
            continue
        if found is None or found[0] != newest(domain.migrations):
            missing.append(f"migrations of {domain.name}")
    return missing
