"""What a client sends for requirements: own ones, those of tenders, and rows of the catalogue."""

from typing import Annotated, Any, Literal
from uuid import UUID

from pydantic import Field

from thenga.kernel.http.bodies import Body
from thenga.kernel.values.fields import Day, decimal, lines, matching, text, whole

Word = Annotated[str, matching("^[$A-Za-z][A-Za-z0-9]{0,39}$", 40)]
Code = Annotated[str, matching("^[a-z][a-z0-9_]{2,59}$", 60)]
Sphere = Literal["national", "provincial", "municipal", "state_company"]
Component = Literal[
    "registration", "tax", "integrity", "ownership", "labour", "standing", "sector", "tender"
]
Gate = Literal["hard", "soft", "points"]
Weight = Annotated[int, whole(1, 10)]
Title = Annotated[str, text(1, 200)]
Description = Annotated[str, lines(1, 4000)]
Ref = Annotated[str, text(1, 120)]
Days = Annotated[int, whole(0, 3660)]


class CidbParams(Body):
    """CIDB class of works and minimum grade."""

    class_code: Annotated[
        str, matching("^[A-Z]{2}$", 2), Field(alias="class", description="Class of works.")
    ]
    min_grade: Annotated[int, whole(1, 9), Field(description="Minimum grade.")]


class RequirementParams(Body):
    """A tender's conditions for the proof."""

    max_age_days: Annotated[Days | None, Field(description="Maximum age in days.")] = None
    max_age_months: Annotated[
        Annotated[int, whole(0, 120)] | None, Field(description="Maximum age in months.")
    ] = None
    cidb: Annotated[CidbParams | None, Field(description="CIDB class and grade.")] = None
    max_bbbee_level: Annotated[
        Annotated[int, whole(1, 8)] | None, Field(description="Highest B-BBEE level.")
    ] = None
    arrears_months: Annotated[
        Annotated[int, whole(0, 36)] | None, Field(description="Months of arrears allowed.")
    ] = None
    certified: Annotated[
        bool, Field(strict=True, description="Whether a certified copy is required.")
    ] = False
    min_amount: Annotated[
        Annotated[Any, decimal(16, 2)] | None, Field(description="Minimum amount, in rand.")
    ] = None

    def stored(self) -> dict[str, Any]:
        """Only what was asked for."""
        return self.model_dump(mode="json", by_alias=True, exclude_unset=True, exclude_none=True)


class ProofRule(Body):
    """Accepted proof of a requirement."""

    document_types: Annotated[
        list[Code], Field(max_length=20, description="Document types, any of which is enough.")
    ] = []
    declaration: Annotated[Code | None, Field(description="Statement that proves it.")] = None

    def stored(self) -> dict[str, Any]:
        """Only what was named."""
        return self.model_dump(by_alias=True, exclude_unset=True, exclude_none=True)


class ValidityTerms(Body):
    """How long a proof is valid if no day is printed on it."""

    kind: Annotated[
        Literal["no_expiry", "printed", "after_issue", "after_period_end", "yearly"],
        Field(description="How the last valid day is determined."),
    ]
    days: Annotated[Days, Field(description="Days to add.")] = 0
    months: Annotated[int, whole(0, 120), Field(description="Months to add.")] = 0
    minus_days: Annotated[int, whole(0, 31), Field(description="Days to subtract.")] = 0
    month: Annotated[int, whole(1, 12), Field(description="Month, for `yearly`.")] = 1
    day: Annotated[int, whole(1, 31), Field(description="Day of the month, for `yearly`.")] = 1
    live: Annotated[
        bool, Field(strict=True, description="True for a state kept by others; it never expires.")
    ] = False

    def stored(self) -> dict[str, Any]:
        """Only what was set."""
        return self.model_dump(by_alias=True, exclude_unset=True)


class SourceRule(Body):
    """Source of a rule."""

    key: Annotated[str, text(1, 60), Field(description="Source.")]
    mark: Annotated[Literal["A", "B", "unconfirmed"], Field(description="Quality of the source.")]


class CatalogueRow(Body):
    """A catalogue row. Staff only."""

    kind: Annotated[
        Literal["definition", "document_type"], Field(description="What the row defines.")
    ]
    code: Annotated[Code, Field(description="Code.")]
    title: Annotated[Title, Field(description="Title.")]
    effective_from: Annotated[Day, Field(description="First day. Tomorrow or later.")]
    source: Annotated[SourceRule, Field(description="Source of the rule.")]
    component: Annotated[Component, Field(description="Component of readiness.")] = "standing"
    weight: Annotated[Weight, Field(description="Weight within the component.")] = 1
    gate: Annotated[Gate, Field(description="Effect if it is not met.")] = "soft"
    hard_when: Annotated[
        dict[Word, Any] | None, Field(description="Condition under which the gate is hard.")
    ] = None
    locked: Annotated[bool, Field(strict=True, description="True if tenders cannot relax it.")] = (
        False
    )
    spheres: Annotated[
        list[Sphere],
        Field(min_length=1, max_length=4, description="Spheres that require it."),
    ] = ["national", "provincial", "municipal", "state_company"]
    applies_when: Annotated[
        dict[Word, Any], Field(description="Condition under which it applies.")
    ] = {}
    per_subject: Annotated[
        Literal["organization", "director", "both"], Field(description="Who must prove it.")
    ] = "organization"
    proof: Annotated[ProofRule, Field(description="Accepted proof.")] = ProofRule()
    validity: Annotated[ValidityTerms, Field(description="How long a proof is valid.")] = (
        ValidityTerms(kind="printed")
    )
    recheck_days: Annotated[
        Annotated[int, whole(1, 366)] | None, Field(description="Days between two checks.")
    ] = None
    min_assurance: Annotated[
        Literal["internal", "independent"], Field(description="Lowest accepted assurance.")
    ] = "internal"
    needed_at: Annotated[
        list[Literal["closing", "validity_end", "award"]],
        Field(min_length=1, max_length=3, description="Tender dates on which it is required."),
    ] = ["closing", "validity_end", "award"]
    document_class: Annotated[
        Literal["ordinary", "confidential", "personal"],
        Field(alias="class", description="Who may see documents of this type."),
    ] = "ordinary"
    media_types: Annotated[
        list[Literal["application/pdf", "image/jpeg", "image/png"]],
        Field(min_length=1, max_length=3, description="Accepted media types."),
    ] = ["application/pdf"]
    max_bytes: Annotated[
        int, whole(1, 52_428_800), Field(description="Maximum file size in bytes.")
    ] = 20_971_520
    facts: Annotated[
        dict[Word, Any], Field(description="JSON Schema of the documents' `attributes`.")
    ] = {}
    sealed_fields: Annotated[
        list[Code], Field(max_length=10, description="Attributes that are stored encrypted.")
    ] = []

    def content(self) -> dict[str, Any]:
        """The row as the catalogue's file writes it."""
        every = self.model_dump(mode="json", by_alias=True)
        own = _TYPE_FIELDS if self.kind == "document_type" else _DEFINITION_FIELDS
        found = {name: every[name] for name in ("code", "title", "effectiveFrom", "source", *own)}
        if self.kind == "definition":
            more = {"proof": self.proof.stored(), "validity": self.validity.stored()}
            found |= more | {"period": "none"}
        return found


_TYPE_FIELDS = ("class", "mediaTypes", "maxBytes", "facts", "sealedFields")
_DEFINITION_FIELDS = (
    *("component", "weight", "gate", "hardWhen", "locked", "spheres", "appliesWhen"),
    *("perSubject", "recheckDays", "minAssurance", "neededAt"),
)


class CreateRequirement(Body):
    """A new requirement: your own, a tender's, or a row of the platform's catalogue."""

    organization_id: Annotated[
        UUID | None, Field(description="Your organization. Required unless `scope` is `platform`.")
    ] = None
    scope: Annotated[
        Literal["organization", "platform"],
        Field(description="`platform` adds a catalogue row. Staff only."),
    ] = "organization"
    reason: Annotated[
        Annotated[str, lines(5, 500)] | None,
        Field(description="Reason for changing the catalogue. Required with `scope: platform`."),
    ] = None
    catalogue: Annotated[
        CatalogueRow | None, Field(description="Catalogue row, with `scope: platform`.")
    ] = None
    origin: Annotated[
        Literal["own", "tender"], Field(description="Whether it is your own or a tender's.")
    ] = "own"
    title: Annotated[Title | None, Field(description="Title.")] = None
    description: Annotated[Description | None, Field(description="Description.")] = None
    component: Annotated[Component | None, Field(description="Component of readiness.")] = None
    weight: Annotated[Weight | None, Field(description="Weight within the component.")] = None
    gate: Annotated[Gate | None, Field(description="Effect if it is not met.")] = None
    proof: Annotated[ProofRule | None, Field(description="Accepted proof.")] = None
    validity: Annotated[ValidityTerms | None, Field(description="How long a proof is valid.")] = (
        None
    )
    tender_opportunity_id: Annotated[
        UUID | None, Field(description="Tender that requires it. Required for origin `tender`.")
    ] = None
    tender_requirement_ref: Annotated[
        Ref | None, Field(description="Reference of the requirement in the tender.")
    ] = None
    definition_code: Annotated[
        Code | None, Field(description="Catalogue code of the requirement.")
    ] = None
    params: Annotated[
        RequirementParams, Field(description="The tender's conditions for the proof.")
    ] = RequirementParams()
    owner_user_id: Annotated[UUID | None, Field(description="Person responsible for it.")] = None
    due_on: Annotated[Day | None, Field(description="Day by which it should be met.")] = None
    ends_on: Annotated[Day | None, Field(description="Last day on which it applies.")] = None

    def fields(self) -> dict[str, Any]:
        """The columns of the new row."""
        plain = self.model_dump(
            exclude={"organization_id", "scope", "reason", "catalogue", "proof", "validity"}
        )
        return plain | {
            "params": self.params.stored(),
            "proof": None if self.proof is None else self.proof.stored(),
            "validity": None if self.validity is None else self.validity.stored(),
        }


class ChangeRequirement(Body):
    """Fields to update. Catalogue requirements accept only an owner and a due day."""

    title: Annotated[Title, Field(description="Title.")] = "unchanged"
    description: Annotated[Description | None, Field(description="Description.")] = None
    component: Annotated[Component, Field(description="Component of readiness.")] = "standing"
    weight: Annotated[Weight, Field(description="Weight within the component.")] = 1
    gate: Annotated[Gate, Field(description="Effect if it is not met.")] = "soft"
    params: Annotated[
        RequirementParams, Field(description="The tender's conditions for the proof.")
    ] = RequirementParams()
    owner_user_id: Annotated[UUID | None, Field(description="Person responsible for it.")] = None
    due_on: Annotated[Day | None, Field(description="Day by which it should be met.")] = None
    ends_on: Annotated[Day | None, Field(description="Last day on which it applies.")] = None

    def fields(self) -> dict[str, Any]:
        """The columns that change."""
        found = self.changes()
        if "params" in found:
            found["params"] = self.params.stored()
        return found
