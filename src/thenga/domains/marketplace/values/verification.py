"""What verifies a listing, as its owners say at the moment; never stored (MKT-19)."""

from decimal import Decimal
from typing import Annotated, Literal
from uuid import UUID

from pydantic import Field

from thenga.kernel.values.fields import Count, Instant, Name
from thenga.kernel.values.shapes import Shape


class BadgeSource(Shape):
    """Where a badge comes from."""

    domain: Annotated[Literal["organization", "supplier"], Field(description="Domain.")]
    type: Annotated[Literal["fact", "capability"], Field(description="Type of the resource.")]
    id: Annotated[UUID, Field(description="ID of the company or of the capability.")]
    version: Annotated[Count | None, Field(description="Version that the answer was made from.")]


class Badge(Shape):
    """One thing that was checked, or that the provider states itself."""

    code: Annotated[Name, Field(description="Code, for example `registrationNumber`.")]
    state: Annotated[
        Literal["verified", "expiring", "expired", "evidence_on_file", "self_declared"],
        Field(description="State. `expiring` ends within 30 days."),
    ]
    what_was_checked: Annotated[Name, Field(description="What was checked, for people to read.")]
    source: Annotated[BadgeSource, Field(description="Where it comes from.")]
    as_of: Annotated[Instant, Field(description="When its owner checked or stated it.")]
    valid_until: Annotated[Instant | None, Field(description="End of the verification.")]


class ShownTrust(Shape):
    """How far the supplier is trusted."""

    state: Annotated[
        Literal["unrated", "provisional", "trusted", "watch", "restricted", "blocked", "unknown"],
        Field(description="State. `unknown` while Supplier does not answer."),
    ]
    score: Annotated[Decimal | None, Field(description="Score.")]
    effects: Annotated[list[Name], Field(description="What follows from it.")]
    appeal_open: Annotated[bool, Field(description="Whether an appeal is open.")]
    as_of: Annotated[Instant | None, Field(description="When it was stated. Null if unknown.")]


class SourceState(Shape):
    """Whether an owner has answered."""

    domain: Annotated[Literal["organization", "supplier"], Field(description="Domain.")]
    state: Annotated[Literal["answered", "unknown"], Field(description="Whether it answered.")]
    as_of: Annotated[Instant | None, Field(description="When it answered. Null if it did not.")]


class VerificationDisplay(Shape):
    """What is verified of a listing and of its provider now."""

    badges: Annotated[list[Badge], Field(description="What was checked.")]
    trust: Annotated[ShownTrust, Field(description="Trust in the supplier.")]
    sources: Annotated[list[SourceState], Field(description="Whose answers these are.")]
