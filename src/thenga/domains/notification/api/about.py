"""References to what a message is about."""

from typing import Annotated
from uuid import UUID

from thenga.kernel.http.bodies import Body, View
from thenga.kernel.values.fields import matching

TopicCode = Annotated[str, matching("^[a-z]+[.][a-z][a-z_]{0,59}$", 80)]
ReferenceType = Annotated[str, matching("^[a-z][A-Za-z]{0,59}$", 60)]


class AboutBody(Body):
    """Resource that a message is about."""

    domain: Annotated[str, matching("^[a-z]{1,40}$", 40)]
    type: ReferenceType
    id: UUID


class AboutView(View):
    """Resource that a message is about."""

    domain: str
    type: str
    id: UUID
