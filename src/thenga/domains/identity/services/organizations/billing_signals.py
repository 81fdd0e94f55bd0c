"""Entitlements: what Billing last said of an organization's features, and asking it anew."""

from datetime import datetime
from typing import Any
from uuid import UUID

import asyncpg
import structlog
from pydantic.alias_generators import to_camel

from thenga.domains.billing import public as billing
from thenga.domains.identity.tables import EntitlementSignal
from thenga.kernel.access.actors import SYSTEM, Scope
from thenga.kernel.access.origin import Origin
from thenga.kernel.db.work import Work
from thenga.kernel.errors import Problem
from thenga.kernel.ports.binding import within
from thenga.kernel.process.host import Host
from thenga.kernel.values.ids import new_id

log = structlog.get_logger()

# A signal that is not newer than the one that is there changes nothing but when it was looked at.
_TAKE = """
    INSERT INTO identity.entitlement_signal (id, created_at, updated_at, version, organization_id,
        feature, state, access, limit_count, used_count, resets_at, source_sequence, checked_at)
    VALUES ($1, $2, $2, 1, $3, $4, $5, $6, $7, $8, $9, $10, $2)
    ON CONFLICT (organization_id, feature) DO UPDATE SET
        checked_at = greatest(entitlement_signal.checked_at, excluded.checked_at),
        updated_at = excluded.updated_at, version = entitlement_signal.version + 1,
        state = excluded.state, access = excluded.access, limit_count = excluded.limit_count,
        used_count = excluded.used_count, resets_at = excluded.resets_at,
        source_sequence = excluded.source_sequence
    WHERE excluded.source_sequence >= entitlement_signal.source_sequence
"""


async def take(work: Work, signal: billing.EntitlementSignal, *, now: datetime) -> None:
    """Keep what Billing said, by its event or by its answer; the newer sequence wins (IDN-32)."""
    await work.run(
        _TAKE,
        new_id(),
        now,
        work.organization_id,
        signal.feature,
        signal.state,
        signal.access,
        signal.limit,
        signal.used,
        signal.resets_at,
        signal.sequence,
    )


# What all features share: an older change of it changes nothing.
_TURN = """
    UPDATE identity.entitlement_signal SET access = $2,
        updated_at = $3, version = version + 1, source_sequence = $4
    WHERE organization_id = $1 AND source_sequence <= $4
"""


async def refresh_entitlements(work: Work, event: billing.EntitlementChanged) -> None:
    """Billing tells what is another: whatever is kept is moved at once (IDN-32, BIL-21)."""
    for change in event.changes:
        after = change.after
        signal = billing.EntitlementSignal(
            feature=change.feature,
            entitled=after is not None and after.state in ("granted", "limited"),
            reason="included",
            state="missing" if after is None else after.state,
            access=event.access,
            limit=None if after is None else after.limit,
            used=None if after is None else after.used,
            resets_at=None if after is None else after.resets_at,
            as_of=work.now,
            sequence=event.set_version,
        )
        await take(work, signal, now=work.host.now())
    await work.run(_TURN, work.organization_id, event.access, work.host.now(), event.set_version)


def remedy_of(said: billing.EntitlementSignal) -> dict[str, Any] | None:
    """What Billing says would help, as a refusal carries it."""
    if said.remedy is None:
        return None
    told = said.remedy.model_dump(mode="json", exclude_none=True)
    return {to_camel(name): value for name, value in told.items()}


async def last_known(work: Work, feature: str) -> EntitlementSignal | None:
    """What was last said of a feature, however old."""
    return await work.find(EntitlementSignal, feature=feature)


async def ask_entitlement(
    host: Host, organization_id: UUID, feature: str
) -> billing.EntitlementSignal | None:
    """Ask Billing once and keep its answer; None is silence, also where nobody is bound."""
    try:
        port = host.bindings.of(billing.Entitlements)
    except LookupError:
        log.warning("identity.entitlement.nobody_answers", feature=feature)
        return None
    asked = port.signal(organization_id=organization_id, feature=feature)
    try:
        said = await within(port.port_timeout, port.port_name, asked)
    except Problem:
        return None
    except (asyncpg.PostgresError, asyncpg.InterfaceError, OSError):
        # Over the wire a database that is away is an answer of 500, which is silence too.
        log.exception("identity.entitlement.asking_failed", feature=feature)
        return None
    await _keep(host, organization_id, said)
    return said


async def _keep(host: Host, organization_id: UUID, said: billing.EntitlementSignal) -> None:
    origin = Origin(action="identity entitlement", request_id="gate", correlation_id="gate")
    scope = Scope(actor=SYSTEM, organization_id=organization_id)
    work = Work(host, "identity", scope, origin)
    try:
        await take(work, said, now=host.now())
        await work.finish()
    finally:
        await work.close()
