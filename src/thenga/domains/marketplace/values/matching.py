"""What a match was computed from, and what came of it."""

from typing import Annotated, Literal
from uuid import UUID

from pydantic import Field

from thenga.domains.marketplace.values.factors import Score
from thenga.kernel.values.fields import Day, lines, matching, text, whole
from thenga.kernel.values.places import MunicipalityCode, Province
from thenga.kernel.values.shapes import Shape

CidbClass = Annotated[str, matching("^(?:GB|CE|ME|EP|EB|S[BCDEFGHIJKLMNOQ])$", 2)]
Scheme = Annotated[str, matching("^[a-z]{2,20}$", 20)]
Code = Annotated[str, matching("^[A-Za-z0-9]{1,20}$", 20)]
RequirementState = Literal["met", "not_met", "unknown"]
ExclusionReason = Literal["cidb_grade", "place", "supplier_inactive", "no_quote_requests"]


class CidbGrade(Shape):
    """A CIDB grade in a class of works."""

    works_class: Annotated[CidbClass, Field(description="CIDB class of works, such as `GB`.")]
    min_grade: Annotated[Annotated[int, whole(1, 9)], Field(description="Lowest grade, 1 to 9.")]
    pe_allowed: Annotated[
        bool, Field(description="Whether a potentially emerging enterprise may be one grade lower.")
    ] = False


class Classified(Shape):
    """A code of a scheme, such as `unspsc` and `72141100`; the first digits may do."""

    scheme: Annotated[Scheme, Field(description="Scheme, such as `unspsc` or `cidb`.")]
    code: Annotated[Code, Field(description="Code, or its first characters.")]


class AreaAsked(Shape):
    """Where something is needed; a municipality says its province itself."""

    province: Annotated[Province | None, Field(description="Province.")] = None
    municipality: Annotated[
        MunicipalityCode | None, Field(description="Municipality, such as `EKU`.")
    ] = None


class NeededRequirement(Shape):
    """One requirement; exactly one of `cidb`, `classification` and `area` says what it asks."""

    label: Annotated[Annotated[str, text(1, 200)], Field(description="Your name for it.")]
    gate: Annotated[
        Literal["hard", "soft"],
        Field(description="A provider who does not meet a hard requirement is no candidate."),
    ] = "hard"
    cidb: Annotated[CidbGrade | None, Field(description="CIDB grade.")] = None
    classification: Annotated[Classified | None, Field(description="Proven classification.")] = None
    area: Annotated[AreaAsked | None, Field(description="Place that it must be offered in.")] = None


class Need(Shape):
    """Something that a company needs."""

    text: Annotated[Annotated[str, lines(1, 2000)], Field(description="What is needed.")]
    category_ids: Annotated[
        list[UUID], Field(max_length=5, description="Categories to look in.")
    ] = []
    area: Annotated[AreaAsked | None, Field(description="Where it is needed.")] = None
    needed_by: Annotated[Day | None, Field(description="Day by which it is needed.")] = None
    requirements: Annotated[
        list[NeededRequirement], Field(max_length=20, description="Requirements of a provider.")
    ] = []


class TenderGap(Shape):
    """Requirements of a tender that your company does not meet itself."""

    tender_opportunity_id: Annotated[UUID, Field(description="Tender.")]
    requirement_ids: Annotated[
        list[UUID],
        Field(
            max_length=50,
            description="Requirements to cure. Leave out to take all that are not met.",
        ),
    ] = []
    category_ids: Annotated[
        list[UUID],
        Field(
            max_length=5,
            description="Categories to look in. Required unless categories name the CIDB classes.",
        ),
    ] = []
    area: Annotated[AreaAsked | None, Field(description="Where a partner is needed.")] = None


class MatchRequirement(Shape):
    """A requirement of a match, and whether another company can cure it."""

    ref: Annotated[str, Field(description="ID of the requirement, or its number in the need.")]
    version: Annotated[int | None, Field(description="Version of the tender's requirement.")]
    kind: Annotated[str, Field(description="What it asks.")]
    gate: Annotated[Literal["hard", "soft"], Field(description="Whether it excludes.")]
    label: Annotated[str, Field(description="Its name.")]
    matchable: Annotated[bool, Field(description="Whether candidates are judged by it.")]
    why: Annotated[str, Field(description="Why, or what cures it instead.")]
    cidb: Annotated[CidbGrade | None, Field(description="CIDB grade asked.")] = None
    classifications: Annotated[
        list[Classified], Field(description="Classifications asked; any of them meets it.")
    ] = []
    areas: Annotated[list[AreaAsked], Field(description="Places; any of them meets it.")] = []


class RequirementAnswer(Shape):
    """How a candidate answers a requirement."""

    ref: Annotated[str, Field(description="Requirement.")]
    state: Annotated[RequirementState, Field(description="Met, not met or unknown.")]


class Candidate(Shape):
    """A listing that may meet the need. Nobody is invited by it: that is a person's decision."""

    listing_id: Annotated[UUID, Field(description="Listing.")]
    supplier_id: Annotated[UUID, Field(description="Supplier who offers it.")]
    live_version: Annotated[int, Field(description="Version of the listing that was judged.")]
    rank: Annotated[Score, Field(description="Score with its factors.")]
    requirements: Annotated[
        list[RequirementAnswer], Field(description="How it answers each requirement.")
    ]


class Exclusion(Shape):
    """Why listings are no candidates."""

    reason: Annotated[ExclusionReason, Field(description="Reason.")]
    listings: Annotated[int, Field(description="Number of listings.")]
