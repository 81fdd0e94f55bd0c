"""What a requirement asks, in a closed list of kinds (OPP-26)."""

from decimal import Decimal
from typing import Annotated, Literal
from uuid import UUID

from pydantic import Field

from thenga.kernel.http.bodies import Body
from thenga.kernel.values.fields import Name, Percent, decimal, matching, text, whole
from thenga.kernel.values.money import Money

Province = Literal["EC", "FS", "GP", "KZN", "LP", "MP", "NW", "NC", "WC"]
Points = Annotated[Decimal, decimal(3, 2)]
Count = Annotated[int, whole(1, 1000)]
Years = Annotated[int, whole(0, 50)]
Key = Annotated[str, matching(r"^[a-z][a-z0-9_]{0,39}$", 40)]
Code = Annotated[str, matching(r"^[A-Za-z0-9][A-Za-z0-9 ._/-]{0,59}$", 60)]
CidbClass = Annotated[str, matching("^(?:GB|CE|ME|EP|EB|S[BCDEFGHIJKLMNOQ])$", 2)]


class CidbGradeCriterion(Body):
    """A CIDB grade in a class of works."""

    kind: Literal["cidb_grade"]
    class_: Annotated[CidbClass, Field(alias="class", description="CIDB class of works.")]
    min_grade: Annotated[int, whole(1, 9), Field(description="Minimum CIDB grade, 1 to 9.")]
    pe_allowed: Annotated[
        bool, Field(description="Whether a potentially emerging enterprise may be one grade lower.")
    ] = False


class DocumentCriterion(Body):
    """A document that Compliance tracks."""

    kind: Literal["document"]
    requirement_code: Annotated[Code, Field(description="Requirement code in Compliance.")]
    valid_on: Annotated[
        Literal["closing", "validity_end", "award"],
        Field(description="Day on which the document must be valid."),
    ] = "closing"
    params: Annotated[
        dict[Key, Annotated[str, text(1, 200)]],
        Field(max_length=20, description="Parameters of the requirement."),
    ] = {}


class SbdFormCriterion(Body):
    """A standard bidding document of the buyer, filled in and signed."""

    kind: Literal["sbd_form"]
    title: Annotated[Name, Field(description="Title of the form.")]
    code: Annotated[Code | None, Field(description="Number of the form, such as `SBD 6.1`.")] = None
    edition: Annotated[Code | None, Field(description="Edition of the form.")] = None
    regime: Annotated[
        Literal["pfma", "mfma", "other"] | None, Field(description="Law that the form follows.")
    ] = None


class BriefingCriterion(Body):
    """Attendance at a briefing of this tender."""

    kind: Literal["briefing"]
    briefing_id: Annotated[UUID, Field(description="Briefing that must be attended.")]


class ExperienceCriterion(Body):
    """Completed projects of a kind."""

    kind: Literal["experience"]
    min_count: Annotated[Count, Field(description="Number of projects.")]
    min_value: Annotated[Money | None, Field(description="Minimum value of each project.")] = None
    classifications: Annotated[
        list[Annotated[str, matching(r"^[0-9]{2,8}$", 8)]],
        Field(max_length=20, description="UNSPSC prefixes of comparable work."),
    ] = []
    within_years: Annotated[
        Years | None, Field(description="Years before the closing that count.")
    ] = None


class PeopleCriterion(Body):
    """Key people with experience."""

    kind: Literal["people"]
    role: Annotated[Name, Field(description="Role of the people.")]
    count: Annotated[Count, Field(description="Number of people.")] = 1
    min_years: Annotated[Years | None, Field(description="Years of experience of each.")] = None


class EquipmentCriterion(Body):
    """Equipment that the bidder can use."""

    kind: Literal["equipment"]
    category: Annotated[Name, Field(description="Kind of equipment.")]
    quantity: Annotated[Count, Field(description="Number of items.")] = 1


class TurnoverCriterion(Body):
    """An annual turnover."""

    kind: Literal["turnover"]
    min: Annotated[Money, Field(description="Minimum annual turnover.")]


class PlaceCriterion(Body):
    """Where the bidder must be based."""

    kind: Literal["place"]
    provinces: Annotated[
        list[Province], Field(max_length=9, description="Provinces that count.")
    ] = []
    municipalities: Annotated[
        list[Annotated[str, matching(r"^[A-Z]{2,3}[0-9]{0,3}$", 6)]],
        Field(max_length=50, description="Municipality codes that count."),
    ] = []


class FunctionalityPart(Body):
    """One scored part of functionality."""

    key: Annotated[Key, Field(description="Key of the part, unique in the criterion.")]
    title: Annotated[Name, Field(description="Title of the part.")]
    points: Annotated[Points, Field(description="Maximum points of the part.")]


class FunctionalityCriterion(Body):
    """Functionality: parts with points, and the threshold a bid must reach."""

    kind: Literal["functionality"]
    max_points: Annotated[
        Points, Field(description="Maximum points. Must equal the sum of the parts.")
    ]
    threshold_points: Annotated[Points, Field(description="Points that a bid must reach.")]
    parts: Annotated[
        list[FunctionalityPart], Field(min_length=1, max_length=40, description="Scored parts.")
    ]


class PreferenceGoal(Body):
    """A specific goal and its points."""

    key: Annotated[Key, Field(description="Key of the goal, unique in the criterion.")]
    text: Annotated[str, text(1, 300), Field(description="The goal in the buyer's words.")]
    points8020: Annotated[Points | None, Field(description="Points in the 80/20 system.")] = None
    points9010: Annotated[Points | None, Field(description="Points in the 90/10 system.")] = None
    proof: Annotated[
        Annotated[str, text(1, 300)] | None, Field(description="Proof that the buyer accepts.")
    ] = None


class PreferenceCriterion(Body):
    """The preference point system and its specific goals."""

    kind: Literal["preference"]
    system: Annotated[
        Literal["80_20", "90_10", "either"], Field(description="Preference point system.")
    ]
    contract: Annotated[
        Literal["purchase", "income"], Field(description="Whether the buyer pays or is paid.")
    ] = "purchase"
    goals: Annotated[list[PreferenceGoal], Field(max_length=20, description="Specific goals.")] = []


class ValidityCriterion(Body):
    """How long a bid must stay valid."""

    kind: Literal["validity"]
    days: Annotated[int, whole(1, 365), Field(description="Calendar days after the closing day.")]


class SubmissionCriterion(Body):
    """How a bid must be submitted."""

    kind: Literal["submission"]
    channels: Annotated[
        list[Literal["box", "portal", "email", "courier"]],
        Field(min_length=1, max_length=4, description="Channels that the buyer accepts."),
    ]
    address: Annotated[
        Annotated[str, text(1, 500)] | None, Field(description="Where to submit the bid.")
    ] = None
    copies: Annotated[
        Annotated[int, whole(0, 20)] | None,
        Field(description="Copies in addition to the original."),
    ] = None
    envelopes: Annotated[
        Literal["single", "two"],
        Field(description="One envelope, or a separate one for the price."),
    ] = "single"
    e_signature: Annotated[
        Literal["accepted", "refused", "unknown"],
        Field(description="Whether the buyer accepts electronic signatures."),
    ] = "unknown"
    issued_forms_only: Annotated[
        bool, Field(description="Whether only forms issued by the buyer are accepted.")
    ] = False
    max_mb: Annotated[
        Annotated[int, whole(1, 10_000)] | None,
        Field(description="Largest upload in megabytes."),
    ] = None


class LocalContentCriterion(Body):
    """A share of local production and content."""

    kind: Literal["local_content"]
    percent: Annotated[Percent, Field(description="Minimum share in percent, 0 to 100.")]


class FreeCriterion(Body):
    """Something that only a person can judge."""

    kind: Literal["free"]


Criterion = Annotated[
    CidbGradeCriterion
    | DocumentCriterion
    | SbdFormCriterion
    | BriefingCriterion
    | ExperienceCriterion
    | PeopleCriterion
    | EquipmentCriterion
    | TurnoverCriterion
    | PlaceCriterion
    | FunctionalityCriterion
    | PreferenceCriterion
    | ValidityCriterion
    | SubmissionCriterion
    | LocalContentCriterion
    | FreeCriterion,
    Field(discriminator="kind"),
]
