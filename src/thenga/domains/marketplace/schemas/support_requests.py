"""Bodies and filters of support requests."""

from typing import Annotated, Literal
from uuid import UUID

from fastapi import Path
from pydantic import Field

from thenga.domains.marketplace.tables.support import (
    SupportKind,
    SupportOutcome,
    SupportRequest,
    SupportStatus,
)
from thenga.kernel.http.bodies import Body
from thenga.kernel.http.filters import Filters, before
from thenga.kernel.values.fields import Instant, lines
from thenga.kernel.values.references import Reference

SupportRequestId = Annotated[
    UUID, Path(alias="supportRequestId", description="ID of the support request.")
]
Kind = Annotated[SupportKind, Field(description="What the support request is about.")]
About = Annotated[
    Reference, Field(description="Listing, supplier or quote request that it is about.")
]
WhatHappened = Annotated[str, lines(10, 4000), Field(description="What happened.")]
EvidenceRefs = Annotated[
    list[Reference], Field(max_length=20, description="What supports the request.")
]


class OpenSupportRequest(Body):
    """A report, an appeal against a moderator's decision, or a problem with a quote."""

    kind: Kind
    about: About
    text: WhatHappened
    evidence_refs: EvidenceRefs = []


class ChangeSupportRequest(Body):
    """The move of the organization that opened it."""

    move: Annotated[
        Literal["close"], Field(description="`close` it, also where it is not resolved.")
    ]


class ResolveSupportRequest(Body):
    """What staff found."""

    outcome: Annotated[SupportOutcome, Field(description="How it is resolved.")]
    text: Annotated[
        str, lines(1, 4000), Field(description="Answer to the organization that opened it.")
    ]


class SupportRequestFilters(Filters[SupportRequest]):
    """What support requests are listed."""

    kind: SupportKind | None = None
    status: SupportStatus | None = None
    created_before: Annotated[Instant | None, before(SupportRequest.created_at)] = None
