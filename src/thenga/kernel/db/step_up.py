"""A fresh proof: whoever does something grave has just shown who they are (IDN-15)."""

from datetime import datetime, timedelta

from thenga.kernel.db.reader import Reader
from thenga.kernel.errors import StepUpRequired

MAX_AGE = timedelta(minutes=5)


def is_fresh(proven_at: datetime | None, now: datetime, max_age: timedelta = MAX_AGE) -> bool:
    """Keys and support sessions prove nothing, so for them nothing is fresh."""
    return proven_at is not None and now - proven_at <= max_age


def demand(read: Reader, max_age: timedelta = MAX_AGE) -> None:
    """For a grave case of an operation that is otherwise not: refuse without a fresh proof.

    A proof belongs to a person, so its age is told by the base clock, never by a sandbox's.
    """
    if not is_fresh(read.proven_at, read.host.now(), max_age):
        seconds = int(max_age.total_seconds())
        raise StepUpRequired(maxAgeSeconds=seconds, methods=read.proof_methods)
