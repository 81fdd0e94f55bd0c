"""Health: how complete, proven and fresh a company's facts are, and what to mend next.

Decision support only: nothing here refuses anybody anything (POPIA s71, ORG-28).
"""

from dataclasses import dataclass
from datetime import date, datetime, timedelta
from decimal import Decimal
from fractions import Fraction
from typing import TypeVar
from uuid import UUID

from sqlalchemy import Select, select

from thenga.domains.compliance import public as compliance
from thenga.domains.organization import public
from thenga.domains.organization.services import facts, records
from thenga.domains.organization.services.facts import Picture
from thenga.domains.organization.services.health import health_formula
from thenga.domains.organization.services.health.health_formula import Company, FactState, Thing
from thenga.domains.organization.services.reference_data import FACTS, Definition
from thenga.domains.organization.tables import (
    Capability,
    CapabilityStatus,
    Contact,
    Director,
    DirectorStatus,
    FactConflict,
    FactVerification,
    Health,
    HealthSnapshot,
    MemberStatus,
    OrganizationUser,
    PastProject,
    PastProjectStatus,
)
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.statements import among
from thenga.kernel.db.work import Work
from thenga.kernel.errors import DependencyUnavailable
from thenga.kernel.values.calendar import local_day

KEPT_DAYS = 400
TRENDS = (7, 30, 90)
WORTH_TELLING = Decimal(1)
# The Companies Act, section 66: how many directors a company of this form has at least.
DIRECTORS_NEEDED = {"private_company": 1, "public_company": 3, "non_profit_company": 3}


@dataclass(frozen=True)
class Seen:
    """Health now, with the way it went."""

    company: Company
    score: Fraction
    trend: dict[str, Decimal | None]
    series: list[HealthSnapshot] | None


async def current_health(read: Reader, *, trend_days: int | None) -> Seen:
    """Health as it is now, reckoned from the records themselves and not from a snapshot."""
    company = await company_of(read, await readiness_of(read))
    score = health_formula.exact(company)
    today = local_day(read.now)
    days = await _snapshots(read, [today - timedelta(days=back) for back in TRENDS])
    shown = Decimal(health_formula.shown(score, 1))
    trend = {f"d{back}": _moved(shown, days.get(today - timedelta(days=back))) for back in TRENDS}
    series = None
    if trend_days is not None:
        since = today - timedelta(days=trend_days)
        kept = select(HealthSnapshot).where(HealthSnapshot.day > since)
        series = await read.all(kept.order_by(HealthSnapshot.day), limit=KEPT_DAYS + 1)
    return Seen(company, score, trend, series)


def _moved(score: Decimal, then: HealthSnapshot | None) -> Decimal | None:
    return None if then is None else score - then.score


async def readiness_of(read: Reader) -> Fraction | None:
    """What Compliance says of today; silence is no answer and no zero.

    No day is sent: at midnight, or when a sandbox's clock moves, its day may already be another.
    """
    try:
        answered = await read.port(compliance.Readiness).on_date(
            organization_id=read.organization_id
        )
    except (LookupError, DependencyUnavailable):
        return None
    return None if answered.score is None else Fraction(answered.score)


async def company_of(read: Reader, readiness: Fraction | None) -> Company:
    """What the formula looks at, read from the records."""
    pictures = await facts.load(read)
    form = await _legal_form(read, pictures)
    now = read.now
    return Company(
        facts=tuple(
            _fact_state(pictures.get(one.key) or Picture(one.key), one, form, now)
            for one in FACTS.values()
        ),
        capabilities=await _things(
            read, select(Capability).where(Capability.status == CapabilityStatus.ACTIVE)
        ),
        projects=await _things(
            read, select(PastProject).where(PastProject.status == PastProjectStatus.PUBLISHED)
        ),
        directors=await _things(
            read, select(Director).where(Director.status == DirectorStatus.ACTIVE)
        ),
        directors_needed=DIRECTORS_NEEDED.get(form or "", 0),
        signatory=await _has_signatory(read),
        information_officer=await _has_information_officer(read),
        readiness=readiness,
    )


Proven = TypeVar("Proven", Capability, PastProject, Director)


async def _things(read: Reader, statement: Select[Proven]) -> tuple[Thing, ...]:
    """Records that are kept, each with how proven it is now, whatever a sweep has written."""
    kept = statement.where(statement.selected_columns.archived_at.is_(None))
    return tuple(
        Thing(str(one.id), _standing(one, read.now)) for one in await read.all(kept, limit=5000)
    )


def _standing(one: Capability | PastProject | Director, now: datetime) -> str:
    until: datetime | None = one.__dict__.get("verified_until")
    if one.verification_status == "verified" and until is not None and until <= now:
        return "lapsed"
    return one.verification_status.value


async def _has_signatory(read: Reader) -> bool:
    """Whether somebody who is here may sign today."""
    users = await read.all(
        select(OrganizationUser).where(
            OrganizationUser.status == MemberStatus.ACTIVE,
            OrganizationUser.archived_at.is_(None),
            OrganizationUser.signing_authority.is_not(None),
        )
    )
    today = local_day(read.now).isoformat()
    return any("signatory" in one.bid_roles and _may_sign(one, today) for one in users)


def _may_sign(user: OrganizationUser, today: str) -> bool:
    given = user.signing_authority or {}
    begins, ends = given.get("valid_from"), given.get("valid_to")
    return (begins is None or begins <= today) and (ends is None or today <= ends)


async def _has_information_officer(read: Reader) -> bool:
    found = await read.all(
        select(Contact).where(Contact.kind == "information_officer", Contact.archived_at.is_(None)),
        limit=1,
    )
    return bool(found)


async def _legal_form(read: Reader, pictures: dict[str, Picture]) -> str | None:
    source = pictures["legalForm"].effective(read.now) if "legalForm" in pictures else None
    if source is None:
        return None
    values = await facts.values_for(read, [source])
    return str(values.plain("legalForm", source))


def _fact_state(
    picture: Picture, definition: Definition, form: str | None, now: datetime
) -> FactState:
    """A fact that does not apply to the form has no weight; a conflict about it still counts."""
    fresh, fact = picture.freshness, picture.fact
    return FactState(
        key=picture.key,
        weight=definition.weight if form in definition.legal_forms else 0,
        filled=picture.effective(now) is not None,
        verified=picture.verification(now) is FactVerification.VERIFIED,
        stale=fresh is not None and fresh.stale_after <= now,
        conflicted=fact is not None and fact.conflict_status is FactConflict.CONFLICTED,
    )


async def take_snapshot(work: Work) -> None:
    """Write down today's health, tell it where it moved, and plan the next look (ORG-27)."""
    readiness = await readiness_of(work)
    # Locked before anything is read: whoever changes something meanwhile marks the next look.
    health = await work.lock(Health, work.organization_id)
    company = await company_of(work, readiness)
    exact = health_formula.exact(company)
    score = Decimal(health_formula.shown(exact, 1))
    await _keep(work, company, exact, score)
    health.next_check_at = records.next_night(work.now)
    moved = health.told_score is None or abs(score - health.told_score) >= WORTH_TELLING
    if moved:
        health.told_score = score
    await work.save(health)
    if moved:
        work.publish(
            public.HealthChanged(
                organization_id=health.organization_id,
                health_id=health.id,
                score=score,
                band=health_formula.band(exact),
                formula_version=health_formula.VERSION,
            )
        )


async def _keep(work: Work, company: Company, exact: Fraction, score: Decimal) -> None:
    today = local_day(work.now)
    made = HealthSnapshot(
        organization_id=work.organization_id,
        day=today,
        score=score,
        score_exact=Decimal(health_formula.shown(exact)),
        band=health_formula.band(exact),
        formula_version=health_formula.VERSION,
        partial=company.readiness is None,
    )
    known = await work.find(HealthSnapshot, day=today)
    if known is None:
        await work.add(made)
        await _forget(work, work.organization_id, today)
        return
    held = await work.lock(HealthSnapshot, known.id)
    held.score, held.score_exact, held.band = made.score, made.score_exact, made.band
    held.formula_version, held.partial = made.formula_version, made.partial
    await work.save(held)


async def _forget(work: Work, organization_id: UUID, today: date) -> None:
    await work.run(
        "DELETE FROM organization.health_snapshot WHERE organization_id = $1 AND day < $2",
        organization_id,
        today - timedelta(days=KEPT_DAYS),
    )


async def _snapshots(read: Reader, days: list[date]) -> dict[date, HealthSnapshot]:
    found = await read.all(select(HealthSnapshot).where(among(HealthSnapshot.day, days)))
    return {one.day: one for one in found}
