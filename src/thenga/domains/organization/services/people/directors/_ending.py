"""Leaving and coming back, archiving and erasing."""

from datetime import date
from uuid import UUID

from thenga.domains.organization.lifecycles import DirectorLifecycle
from thenga.domains.organization.services import records
from thenga.domains.organization.services.people.directors._recording import (
    ONCE,
    check,
    shares_add_up,
)
from thenga.domains.organization.services.people.directors._telling import changed, held
from thenga.domains.organization.tables import Director, DirectorStatus
from thenga.kernel.db.work import Work
from thenga.kernel.errors import Problem, RuleViolated
from thenga.kernel.values.calendar import local_day


class KeptByLaw(Problem):
    """A company must keep the record of who directs it. Record the resignation first; the data of
    a former director can then be erased."""

    code, status, title = "organization-kept-by-law", 409, "The law keeps this record"


async def resign(work: Work, director_id: UUID, *, resigned_on: date | None) -> Director:
    """Write down that a director left."""
    director = await held(work, director_id)
    today = local_day(work.now)
    left = resigned_on or today
    if DirectorLifecycle.resign(director, at=work.now):
        if left > today:
            raise RuleViolated("A resignation is of today or earlier.", rule="director-dates")
        director.resigned_on = left
        records.in_order(director.appointed_on, left)
        told = await records.save(work, director)
        work.publish(changed(director, "resigned", told))
    return director


async def reappoint(work: Work, director_id: UUID, *, appointed_on: date | None) -> Director:
    """Write down that a former director is one again."""
    await records.in_turn(work, Director)
    director = await held(work, director_id)
    today = local_day(work.now)
    again = appointed_on or today
    if DirectorLifecycle.reappoint(director, at=work.now):
        if director.resigned_on is not None and again < director.resigned_on:
            raise RuleViolated("This is before the resignation.", rule="director-dates")
        director.appointed_on, director.resigned_on = again, None
        check(director, today)
        await shares_add_up(work, director)
        with records.once(ONCE, field="idNumber"):
            told = await records.save(work, director)
        work.publish(changed(director, "reappointed", told))
    return director


async def archive(work: Work, director_id: UUID) -> None:
    """Take the record out of the lists; it stays readable."""
    director = await held(work, director_id)
    told = await records.archive(work, director)
    if told:
        work.publish(changed(director, "archived", told))


async def erase(work: Work, director_id: UUID) -> Director:
    """Destroy what is known of a former director, in every version (ORG-16)."""
    director = await work.lock(Director, director_id)
    if director.erased_at is not None:
        return director
    if director.status is DirectorStatus.ACTIVE:
        raise KeptByLaw()
    director.id_number, director.id_number_index = None, None
    director.user_id, director.erased_at = None, work.now
    told = await records.erase(work, director)
    work.publish(changed(director, "erased", told))
    return director
