"""Organizations: founded by a person, described by facts that each keep who said them."""

from collections.abc import Mapping
from datetime import timedelta
from uuid import UUID

import asyncpg
from sqlalchemy import func, select

from thenga.domains.identity import public as identity
from thenga.domains.organization import public, settings
from thenga.domains.organization.permissions import Permission
from thenga.domains.organization.services import facts, records
from thenga.domains.organization.services.facts import Given
from thenga.domains.organization.services.reference_data import FACTS
from thenga.domains.organization.tables import Founding, Organization, OrganizationStatus
from thenga.kernel.access.actors import ActorKind
from thenga.kernel.db import configuration
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.work import Work
from thenga.kernel.errors import (
    Duplicate,
    Erased,
    NotASandbox,
    PreconditionRequired,
    RuleViolated,
)
from thenga.kernel.values.ids import new_id

_FURTHEST = timedelta(days=36_525)  # instants end with the year 9999, and days of ours with 2200
# Groups of facts that need a permission of their own.
_GUARDED = {"bank": Permission.BANK_UPDATE, "ownership": Permission.OWNERSHIP_UPDATE}


async def create_organization(
    work: Work,
    *,
    organization_type: str,
    mode: str,
    time_zone: str,
    locale: str,
    profile: Mapping[str, Given],
) -> Organization:
    """A new organization of the person who asks; Identity makes them owner when it is told."""
    made = new_id()
    reviewed = await configuration.value(work, settings.REVIEW_MODE) == "all"
    await work.enter_organization(made)
    organization = Organization(
        id=made,
        organization_id=made,
        organization_type=organization_type,
        mode=mode,
        time_zone=time_zone,
        locale=locale,
        status=OrganizationStatus.PENDING_REVIEW if reviewed else OrganizationStatus.ACTIVE,
        display_name=(profile.get("tradingName") or profile["legalName"]).value,
        created_by=work.user_id,
    )
    await work.add(organization)
    await facts.found_profile(work, profile)
    shown = await facts.card_facts(work, await facts.load(work))
    await _within_bounds(work, made, shown.registration_number)
    await facts.refresh(work, organization, shown)
    await records.begin_health(work)
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


async def _within_bounds(work: Work, made: UUID, number: str | None) -> None:
    """One person has at most so many companies, and one of each registration number (ORG-2)."""
    # Two requests of one person queue up here, so that both cannot be the last one allowed.
    await work.run("SELECT pg_advisory_xact_lock(hashtextextended($1, 0))", str(work.user_id))
    live = select(func.count()).where(Founding.user_id == work.user_id, Founding.ended_at.is_(None))
    most = await configuration.value(work, settings.PER_USER_MAX)
    if (await work.value(live) or 0) >= most:
        detail = f"One person can create at most {most} organizations. Close one that is not used."
        raise RuleViolated(detail, rule="ORG-2")
    known = await _founded_with(work, number)
    if known is not None:
        raise Duplicate(
            "You have already created an organization with this registration number.",
            field="registrationNumber",
            existing={"domain": "organization", "type": "organization", "id": str(known)},
        )
    founding = Founding(user_id=work.user_id, founded_id=made, registration_number=number)
    try:
        await work.add(founding)
    except asyncpg.UniqueViolationError:
        raise Duplicate(field="registrationNumber") from None


async def _founded_with(work: Work, number: str | None) -> UUID | None:
    if number is None:
        return None
    statement = select(Founding.founded_id).where(
        Founding.user_id == work.user_id,
        Founding.registration_number == number,
        Founding.ended_at.is_(None),
    )
    return await work.value(statement)


async def get_organization(read: Reader) -> Organization:
    """The organization; a closed one is gone, a merged one says where it went."""
    organization = await read.get(Organization, read.organization_id)
    if organization.status is OrganizationStatus.CLOSED:
        raise Erased()
    return organization


async def change_profile(work: Work, given: Mapping[str, Given | None]) -> Organization:
    """State or withdraw facts in one command; bank and ownership ask for more (ORG-37)."""
    for group, permission in _GUARDED.items():
        if any(FACTS[key].group == group for key in given):
            await _ask(work, permission)
    if work.if_match is None and any(key in facts.HELD for key in given):
        raise PreconditionRequired()
    return await facts.change_profile(work, given)


async def _ask(work: Work, permission: Permission) -> None:
    """A second permission beside the one of the route; asked before anything is written."""
    kind = work.actor.kind
    if work.actor.id is None or kind not in (ActorKind.USER, ActorKind.API_KEY):
        return
    decision = await work.port(identity.Decisions).check(
        actor=identity.ActorRef(
            type="user" if kind is ActorKind.USER else "api_key",
            id=work.actor.id,
            session_id=work.actor.session_id,
        ),
        organization_id=work.organization_id,
        action=permission,
        resource=identity.ResourceRef(type="profile", id=str(work.organization_id)),
        channel="http",
        request_id=work.origin.request_id,
    )
    records.refuse_denied(decision, permission)


async def move_clock_to(work: Work, *, ahead: timedelta) -> Organization:
    """As `move_clock` for who says how far ahead it is to be; one that is there already stays."""
    known = await work.get(Organization, work.organization_id)
    by = ahead - known.clock_ahead
    return await move_clock(work, by=by) if by > timedelta(0) else known


async def move_clock(work: Work, *, by: timedelta) -> Organization:
    """Move a sandbox's clock forward; what time does follows in every domain."""
    organization = await work.lock(Organization, work.organization_id)
    if organization.mode != "sandbox":
        raise NotASandbox()
    if organization.clock_ahead + by > _FURTHEST:
        raise RuleViolated(
            "The clock of a sandbox can be at most 100 years ahead.", rule="sandbox-clock"
        )
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
