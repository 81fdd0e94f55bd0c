"""Versions of settings: created, approved or rejected by another person, never edited (ADM-9)."""

from datetime import datetime
from typing import Any
from uuid import UUID

import asyncpg
from sqlalchemy import func, select

from thenga.domains.administration import public
from thenga.domains.administration.lifecycles import ConfigurationLifecycle
from thenga.domains.administration.services import actions
from thenga.domains.administration.services.configuration.checking import check_value, declared
from thenga.domains.administration.services.configuration.phases import Phase, in_phase
from thenga.domains.administration.services.configuration.starting import effective_date
from thenga.domains.administration.tables import ConfigurationStatus, ConfigurationVersion
from thenga.kernel.db.acting import same_person
from thenga.kernel.db.paging import Paged, Slice
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.statements import where_given
from thenga.kernel.db.work import Work
from thenga.kernel.declare.lifecycle import Move
from thenga.kernel.errors import Conflict, Problem, SamePerson, extensions

_SORTED = {"effectiveFrom": ConfigurationVersion.effective_from}


class BaseVersionOutdated(Conflict):
    """This setting changed after you read it. `newestVersion` and `newestValue` are current."""

    members = extensions(
        newestVersion=(int, "Number of the newest approved version."),
        newestValue=(Any, "Value of the newest approved version."),
    )


class ChangeInFlight(Problem):
    """Another change of this key is waiting for a decision. Decide or withdraw it first."""

    code, status, title = "administration-change-in-flight", 409, "Another change is pending"


async def create(
    work: Work,
    *,
    key: str,
    value: Any,
    base_version: int,
    effective_from: datetime | None,
    note: str | None,
    reason: str,
) -> ConfigurationVersion:
    """Add the next version of a setting; it is pending unless the setting needs no approval."""
    await actions.act_for_platform(work)
    declaration = await declared(work, key, "configuration")
    stored = await check_value(work, declaration, value, field="value")
    starts = effective_date(declaration, effective_from, now=work.now)
    at_once = declaration.approval == "none"
    version = ConfigurationVersion(
        key=key,
        number=await _next_number(work, key, base_version),
        value=stored,
        base_version=base_version,
        effective_from=starts,
        note=note,
        schema_hash=declaration.schema_hash,
        status=ConfigurationStatus.APPROVED if at_once else ConfigurationStatus.PENDING_APPROVAL,
        created_by=actions.actor_of(work),
    )
    await _add(work, version)
    if at_once:
        work.publish(_changed(version))
    await actions.record(work, version, reason=reason)
    return version


async def approve(work: Work, version_id: UUID, *, reason: str) -> ConfigurationVersion:
    """Approve a version; if its declaration has changed since, the value is checked again."""
    await actions.act_for_platform(work)
    seen = await work.get(ConfigurationVersion, version_id)
    if seen.status is ConfigurationStatus.PENDING_APPROVAL:
        declaration = await declared(work, seen.key, "configuration")
        if declaration.schema_hash != seen.schema_hash:
            await check_value(work, declaration, seen.value, field="value")
    version, moved = await _decide(work, version_id, ConfigurationLifecycle.approve, reason)
    if moved:
        work.publish(_changed(version))
    return version


async def reject(work: Work, version_id: UUID, *, reason: str) -> ConfigurationVersion:
    """Reject a version. The author can create another one."""
    await actions.act_for_platform(work)
    version, _ = await _decide(work, version_id, ConfigurationLifecycle.reject, reason)
    return version


async def list_versions(
    read: Reader,
    paged: Paged,
    *,
    key: str | None,
    domain: str | None,
    status: ConfigurationStatus | None,
    phase: Phase | None,
    since: datetime | None,
    until: datetime | None,
) -> Slice[ConfigurationVersion]:
    """Versions of settings; `since` and `until` bound the instant from which they apply."""
    statement = where_given(
        select(ConfigurationVersion),
        (ConfigurationVersion.key, key),
        (ConfigurationVersion.status, status),
        (func.split_part(ConfigurationVersion.key, ".", 1), domain),
    )
    if phase is not None:
        statement = statement.where(in_phase(phase, read.now))
    if since is not None:
        statement = statement.where(ConfigurationVersion.effective_from >= since)
    if until is not None:
        statement = statement.where(ConfigurationVersion.effective_from < until)
    return await read.page(statement, paged, _SORTED.get(paged.sort))


async def acknowledge(
    work: Work, version_id: UUID, *, domain: str, outcome: str, refusal_code: str | None
) -> bool:
    """Keep what a domain answered to a version; whether there is such a version."""
    if await work.find(ConfigurationVersion, id=version_id) is None:
        return False
    version = await work.lock(ConfigurationVersion, version_id)
    answer = {"outcome": outcome, "refusalCode": refusal_code, "at": work.now.isoformat()}
    version.acknowledgements = {domain: answer} | version.acknowledgements
    await work.save(version)
    return True


async def _decide(
    work: Work, version_id: UUID, move: Move, reason: str
) -> tuple[ConfigurationVersion, bool]:
    version = await work.lock(ConfigurationVersion, version_id)
    # The person who decides is not the author (ADM-5).
    if version.status in move.sources and same_person(work, version.created_by):
        raise SamePerson("You created this version. Ask another person to approve or reject it.")
    before = actions.shown(version)
    earlier = (version.decided_by, version.decided_at)
    version.decided_by, version.decided_at = actions.actor_of(work), work.now
    if not move(version, at=work.now):
        version.decided_by, version.decided_at = earlier
        return version, False
    await work.save(version)
    await actions.record(work, version, reason=reason, before=before)
    return version, True


async def _next_number(work: Work, key: str, base_version: int) -> int:
    """The number after the newest; the unique keys of the table settle who gets it."""
    newest = await work.all(
        select(ConfigurationVersion)
        .where(ConfigurationVersion.key == key)
        .order_by(ConfigurationVersion.number.desc()),
        limit=1,
    )
    approved = await work.all(
        select(ConfigurationVersion)
        .where(
            ConfigurationVersion.key == key,
            ConfigurationVersion.status == ConfigurationStatus.APPROVED,
        )
        .order_by(ConfigurationVersion.number.desc()),
        limit=1,
    )
    if newest and newest[0].status is ConfigurationStatus.PENDING_APPROVAL:
        raise ChangeInFlight(f"Version {newest[0].number} of `{key}` is waiting for a decision.")
    current = approved[0].number if approved else 0
    if current != base_version:
        raise BaseVersionOutdated(
            f"The newest version of `{key}` is {current}, not {base_version}. Read it first.",
            newestVersion=current,
            newestValue=approved[0].value if approved else None,
        )
    return newest[0].number + 1 if newest else 1


async def _add(work: Work, version: ConfigurationVersion) -> None:
    try:
        await work.add(version)
    except asyncpg.UniqueViolationError:
        raise ChangeInFlight(
            f"Another change of `{version.key}` came first. Read the newest version."
        ) from None


def _changed(version: ConfigurationVersion) -> public.ConfigurationChanged:
    return public.ConfigurationChanged(
        config_id=version.id,
        key=version.key,
        number=version.number,
        effective_from=version.effective_from,
        value=version.value,
    )
