"""Organizations: founded by a person, described by facts that each keep who said them."""

from collections.abc import Mapping
from datetime import timedelta
from typing import Any
from uuid import UUID

from sqlalchemy import select

from thenga.domains.organization import public
from thenga.domains.organization.tables import (
    CustomerStatement,
    Fact,
    Organization,
    OrganizationStatus,
)
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.work import Work
from thenga.kernel.errors import Problem, RuleViolated
from thenga.kernel.ids import new_id

_FURTHEST = timedelta(days=36_525)  # instants end with the year 9999, and days of ours with 2200


class NotASandbox(Problem):
    """Only a sandbox organization has a clock of its own. Found one with `mode: sandbox`."""

    code, status, title = "organization-not-a-sandbox", 409, "This organization is not a sandbox"


async def found(
    work: Work,
    *,
    organization_type: str,
    mode: str,
    time_zone: str,
    locale: str,
    profile: Mapping[str, Any],
) -> Organization:
    """A new organization of the person who asks; Identity makes them owner when it is told."""
    made = new_id()
    await work.settle_in(made)
    organization = await work.add(
        Organization(
            id=made,
            organization_id=made,
            organization_type=organization_type,
            mode=mode,
            time_zone=time_zone,
            locale=locale,
            status=OrganizationStatus.ACTIVE,
            display_name=profile.get("tradingName") or profile["legalName"],
            created_by=work.user_id,
        )
    )
    for key, value in profile.items():
        await _state(work, key, value, None)
    work.publish(
        public.OrganizationCreated(
            organization_id=made,
            created_by_user_id=work.user_id,
            organization_type=organization_type,
            mode=mode,
            status=organization.status,
        )
    )
    return organization


async def profile_of(read: Reader) -> dict[str, tuple[Fact, CustomerStatement]]:
    """The facts that count now, each with the statement behind it."""
    facts = await read.all(select(Fact).where(Fact.statement_id.is_not(None)))
    live = await read.all(select(CustomerStatement).where(CustomerStatement.withdrawn_at.is_(None)))
    by_id = {statement.id: statement for statement in live}
    return {f.fact_key: (f, by_id[f.statement_id]) for f in facts if f.statement_id in by_id}


async def change_profile(work: Work, *, values: Mapping[str, Any]) -> Organization:
    """State or withdraw facts in one command; null withdraws one's own statement."""
    organization = await work.lock(Organization, work.organization_id)
    known = await profile_of(work)
    changes = []
    for key, value in values.items():
        current = known.get(key)
        if value is None and key in _NEEDED:
            raise RuleViolated(f"{key} cannot be withdrawn; state another one.", rule="ORG-2")
        if current is not None and current[1].value == value:
            continue
        if value is None and current is None:
            continue
        if value is None:
            changes.append(await _withdraw(work, key))
        else:
            changes.append(await _state(work, key, value, current))
    if not changes:
        return organization
    said = {key: pair[1].value for key, pair in known.items()} | dict(values)
    organization.display_name = said.get("tradingName") or said["legalName"]
    # The profile hangs on the organization's own version: one command, one version, one event.
    await work.touch(organization)
    work.publish(public.ProfileFactChanged(organization_id=organization.id, changes=changes))
    return organization


_NEEDED = ("legalName", "legalForm")


async def _state(
    work: Work, key: str, value: Any, current: tuple[Fact, CustomerStatement] | None
) -> public.FactChange:
    if current is not None:
        await _end_statement(work, current[1].id)
    statement = await work.add(
        CustomerStatement(
            organization_id=work.organization_id,
            fact_key=key,
            value=value,
            stated_by=work.actor.id,
        )
    )
    fact = await work.find(Fact, fact_key=key)
    if fact is None:
        fact = await work.add(
            Fact(organization_id=work.organization_id, fact_key=key, statement_id=statement.id)
        )
    else:
        fact = await work.lock(Fact, fact.id)
        fact.statement_id = statement.id
        await work.save(fact)
    return public.FactChange(fact_key=key, fact_version=fact.version, change="stated")


async def _withdraw(work: Work, key: str) -> public.FactChange:
    fact = await work.lock_by(Fact, fact_key=key)
    assert fact.statement_id is not None  # noqa: S101  # it is among the facts that count
    await _end_statement(work, fact.statement_id)
    fact.statement_id = None
    await work.save(fact)
    return public.FactChange(fact_key=key, fact_version=fact.version, change="withdrawn")


async def _end_statement(work: Work, statement_id: UUID) -> None:
    statement = await work.lock(CustomerStatement, statement_id)
    statement.withdrawn_at = work.now
    await work.save(statement)


async def move_clock(work: Work, *, by: timedelta) -> Organization:
    """Move a sandbox's clock forward; what time does follows in every domain."""
    organization = await work.lock(Organization, work.organization_id)
    if organization.mode != "sandbox":
        raise NotASandbox()
    if organization.clock_ahead + by > _FURTHEST:
        raise RuleViolated("A sandbox's clock runs at most 100 years ahead.", rule="sandbox-clock")
    organization.clock_ahead += by
    organization.clock_moves += 1
    await work.save(organization)
    work.publish(
        public.SandboxClockMoved(
            organization_id=organization.id,
            ahead_seconds=int(organization.clock_ahead.total_seconds()),
            move_number=organization.clock_moves,
        )
    )
    return organization
