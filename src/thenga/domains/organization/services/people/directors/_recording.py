"""Recording and changing directors: numbers are checked and sealed, shares add up."""

from collections.abc import Mapping
from datetime import date
from decimal import Decimal
from typing import Any
from uuid import UUID

from sqlalchemy import func, select

from thenga.domains.organization.permissions import Permission
from thenga.domains.organization.services import evidence, facts, phones, records, reference_data
from thenga.domains.organization.services.people import flags
from thenga.domains.organization.services.people.directors import _checking
from thenga.domains.organization.services.people.directors._telling import changed, held
from thenga.domains.organization.services.records import Place, Subject
from thenga.domains.organization.tables import Director, DirectorStatus
from thenga.kernel.access.gate import HeldAs
from thenga.kernel.db.work import Work
from thenga.kernel.errors import RuleViolated
from thenga.kernel.values.calendar import local_day
from thenga.kernel.values.ids import new_id

ONCE = "This identity number is recorded for an active director already."
_WHOLE = Decimal(100)
_CENT = Decimal("0.01")


async def add(work: Work, *, id_number: str, fields: dict[str, Any]) -> Director:
    """Record a director."""
    director = Director(id=new_id(), organization_id=work.organization_id, **fields)
    today = local_day(work.now)
    await facts.require(work, director.user_id)
    check(director, today)
    await records.in_turn(work, Director)
    await shares_add_up(work, director)
    await _take_number(work, director, id_number, today)
    with records.once(ONCE, field="idNumber"):
        given = await records.add(work, director)
    work.publish(changed(director, "added", given))
    return director


async def change(
    work: Work,
    director_id: UUID,
    *,
    fields: dict[str, Any],
    verification: evidence.Check | None,
    flag: flags.Given | None,
) -> Director:
    """Change the fields named; a verifier brings a check or a finding, and nothing else."""
    await _may_set(work, director_id, fields, checked=verification is not None)
    await records.in_turn(work, Director)
    director = await held(work, director_id)
    records.not_archived(director)
    before = director.version
    if fields:
        await _set(work, director, fields)
    if flag is not None:
        await _state(work, director, flag)
    if verification is not None:
        await _checking.apply(work, director, verification)
    with records.once(ONCE, field="idNumber"):
        told = await records.save(work, director)
    if director.version == before and (flag or verification):
        # What is declared, found and checked stands in rows below; the version tells of them.
        await work.touch(director)
    if director.version != before:
        how = "checked" if verification else "updated" if told else "flagged"
        work.publish(changed(director, how, told, [flag.flag] if flag else []))
    return director


async def _may_set(
    work: Work, director_id: UUID, fields: Mapping[str, Any], *, checked: bool
) -> None:
    """Members describe, verifiers check; neither does the other's part (ORG-6)."""
    if checked:
        await records.demand(
            work,
            Permission.DIRECTOR_VERIFY,
            pointer="/verification",
            type="director",
            id=director_id,
        )
    if fields and work.held_as == HeldAs.PLATFORM:
        pointer = f"/{records.wire_name(next(iter(fields)))}"
        raise records.forbidden(pointer, "Only the company itself describes its directors.")


async def _set(work: Work, director: Director, fields: dict[str, Any]) -> None:
    number = fields.pop("id_number", None)
    if number is None and fields.get("id_type", director.id_type) != director.id_type:
        raise RuleViolated("Another kind of document has another number: send both.", rule="ORG-12")
    for name, value in fields.items():
        setattr(director, name, value)
    await facts.require(work, fields.get("user_id"))
    today = local_day(work.now)
    check(director, today)
    await shares_add_up(work, director)
    if number is not None:
        await _take_number(work, director, number, today)
    elif director.id_type == "passport" and director.id_country is None:
        raise RuleViolated("A passport needs the country that issued it.", rule="ORG-12")
    await _checking.reset_where_checked(work, director)


async def _state(work: Work, director: Director, flag: flags.Given) -> None:
    today = local_day(work.now)
    if work.held_as == HeldAs.PLATFORM:
        await flags.find(work, director, flag, today)
    else:
        await flags.declare(work, director, flag, today)


def check(director: Director, today: date) -> None:
    """What must hold of a director whatever changed."""
    if director.appointed_on is not None and director.appointed_on > today:
        raise RuleViolated("A director is appointed today or earlier.", rule="director-dates")
    records.in_order(director.appointed_on, director.resigned_on)
    if director.shareholding_percent is not None:
        director.shareholding_percent = director.shareholding_percent.quantize(_CENT)
    if director.phone is not None:
        director.phone = phones.e164(director.phone)


async def shares_add_up(work: Work, director: Director) -> None:
    """Active shareholdings come to 100.00 at most (ORG-15)."""
    if not director.shareholding_percent or director.status is not DirectorStatus.ACTIVE:
        return
    others = select(func.sum(Director.shareholding_percent)).where(
        Director.organization_id == director.organization_id,
        Director.status == DirectorStatus.ACTIVE,
        Director.archived_at.is_(None),
        Director.id != director.id,
    )
    taken = await work.value(others) or Decimal(0)
    if taken + director.shareholding_percent > _WHOLE:
        raise RuleViolated(
            f"Active shareholdings come to 100.00 at most; {_WHOLE - taken} are left.",
            rule="ORG-15",
        )


async def _take_number(work: Work, director: Director, text: str, today: date) -> None:
    """Check a number and keep it sealed, masked and as a hash; an equal one stays (ORG-12)."""
    number, director.warnings = _checked(director, text, today)
    index = records.blind_index(work.host, director.organization_id, f"{director.id_type}:{number}")
    if index == director.id_number_index:
        return
    version = director.version + 1
    key = await records.key_for(work, Subject("director", director.id))
    place = Place(director.organization_id, director.id, "idNumber", version)
    director.id_number = records.seal(key, number, place)
    director.id_number_index, director.id_number_version = index, version
    mask = records.id_number if director.id_type == "za_id" else records.passport
    director.id_number_masked = mask(number)


def _checked(director: Director, text: str, today: date) -> tuple[str, list[str]]:
    if director.id_type == "za_id":
        known = reference_data.sa_id(text, on=director.appointed_on or today)
        return known.value, list(known.warnings)
    if director.id_type == "passport":
        return reference_data.passport(text, country=director.id_country).value, []
    return "".join(text.split()).upper(), []
