"""Checks of directors: by others than the company, of the record as it stands (ORG-6)."""

from uuid import UUID

from thenga.domains.organization.lifecycles import DirectorVerificationLifecycle
from thenga.domains.organization.services import evidence, records
from thenga.domains.organization.services.people.directors._telling import changed, held
from thenga.domains.organization.tables import Director, DirectorVerification, Outcome
from thenga.kernel.db.work import Work
from thenga.kernel.declare.lifecycle import Move

# A change of one of these is a change of what was checked.
_CHECKED = frozenset(
    {"given_names", "surname", "role", "id_type", "id_number", "id_country", "appointed_on"}
)
_MOVES: dict[Outcome, Move] = {
    Outcome.VERIFIED: DirectorVerificationLifecycle.verify,
    Outcome.FAILED: DirectorVerificationLifecycle.fail,
    Outcome.INCONCLUSIVE: DirectorVerificationLifecycle.leave_open,
}
_LAPSE = DirectorVerificationLifecycle.expire


async def verify(work: Work, director_id: UUID, check: evidence.Check) -> Director:
    """Write down what a verifier found out about a director."""
    director = await held(work, director_id)
    records.not_archived(director)
    await apply(work, director, check)
    await work.touch(director)
    work.publish(changed(director, "checked", []))
    return director


async def apply(work: Work, director: Director, check: evidence.Check) -> None:
    """The check, and what it makes of the record; a lapsed one is written down first."""
    await evidence.only_others(work, director)
    if director.verified_until is not None and director.verified_until <= work.now:
        _LAPSE(director, at=work.now)
    made = await evidence.write_check(work, director, check)
    _MOVES[check.outcome](director, at=work.now)
    director.verified_until = made.valid_until


async def reset_where_checked(work: Work, director: Director) -> None:
    """A later change of a checked field returns to unverified; the old check stays readable."""
    if director.verification_status is DirectorVerification.UNVERIFIED:
        return
    if _CHECKED & work.changes(director).keys():
        DirectorVerificationLifecycle.reset(director, at=work.now)
        director.verified_until = None
        await evidence.end_check(work, director)
