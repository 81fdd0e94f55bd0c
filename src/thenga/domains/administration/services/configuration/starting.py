"""From when a version can apply."""

from datetime import datetime, timedelta

from thenga.domains.administration.tables import Declaration
from thenga.kernel.errors import Problem

_FURTHEST = timedelta(days=366)


class EffectiveDateInvalid(Problem):
    """A version applies from now or from a time at most 366 days ahead. Only values set by law can
    start in the past. Choose another `effectiveFrom`."""

    code, status, title = "administration-effective-date-invalid", 422, "This time is not allowed"


def effective_date(declaration: Declaration, wanted: datetime | None, *, now: datetime) -> datetime:
    """The instant from which a version applies; now if none is given."""
    if wanted is None:
        return now
    if wanted > now + _FURTHEST:
        raise EffectiveDateInvalid("Choose a time at most 366 days ahead.")
    if wanted < now and not declaration.retroactive:
        raise EffectiveDateInvalid(f"`{declaration.key}` cannot change for the past.")
    return wanted
