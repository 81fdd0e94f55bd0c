"""Why staff do something: in the body of every call that changes data (ADM-2)."""

from typing import Annotated

from pydantic import Field

from thenga.kernel.http.bodies import Body
from thenga.kernel.values.fields import lines

_WHY = "Reason, 10 to 500 characters. Stored in the record of staff actions."

Reason = Annotated[str, lines(10, 500), Field(description=_WHY)]
OptionalReason = Annotated[
    str | None, lines(10, 500), Field(description=f"{_WHY} Required for staff.")
]


class Reasoned(Body):
    """Reason for the change."""

    reason: Reason
