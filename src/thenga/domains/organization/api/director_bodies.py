"""What is sent about a director."""

from typing import Annotated, Literal
from uuid import UUID

from pydantic import Field

from thenga.domains.organization.api.checked import VerificationBody
from thenga.domains.organization.api.facts import CheckSource
from thenga.domains.organization.api.records import Country
from thenga.domains.organization.services import people
from thenga.kernel.http.bodies import Body
from thenga.kernel.values.fields import Day, Email, Percent, PhoneNumber, lines, text

Names = Annotated[str, text(1, 100)]
Short = Annotated[str, text(1, 80)]
IdNumber = Annotated[str, text(5, 40)]
IdType = Literal["za_id", "passport", "other"]
Role = Literal[
    "director", "member", "trustee", "partner", "proprietor", "shareholder",
    "prescribed_officer", "company_secretary",
]  # fmt: skip
Flag = Literal["publicServant", "restricted", "politicallyExposed"]
Sealed = Annotated[
    IdNumber,
    Field(description="Identity or passport number. It is never returned; see `idNumberMasked`."),
]


class AddDirector(Body):
    """Director to add."""

    given_names: Names
    surname: Names
    role: Role
    id_type: IdType
    id_number: Sealed
    id_country: Annotated[
        Country | None,
        Field(description="Country that issued the document. Required for a passport."),
    ] = None
    nationality: Country | None = None
    shareholding_percent: Annotated[
        Percent | None,
        Field(description="Shareholding in percent. Active directors can total at most 100.00."),
    ] = None
    beneficial_owner: bool = False
    appointed_on: Day | None = None
    user_id: Annotated[
        UUID | None, Field(description="User account of the person, if they are a member.")
    ] = None
    email: Email | None = None
    phone: PhoneNumber | None = None


class ParticularsBody(Body):
    """Particulars of a flag."""

    institution: Annotated[
        Short | None,
        Field(description="Institution that employs the person. Required for a public servant."),
    ] = None
    position: Short | None = None
    employee_number: Annotated[
        Short | None, Field(description="Employee number. It is always returned masked.")
    ] = None
    note: Annotated[str, lines(1, 500)] | None = None


class FlagStatementBody(Body):
    """Statement about a flag of a director."""

    flag: Flag
    value: Annotated[
        Literal["yes", "no", "possible"],
        Field(
            description=(
                "Value of the flag. `possible` is for verifiers: a name on a list, not yet decided."
            )
        ),
    ]
    particulars: ParticularsBody | None = None
    source: CheckSource | None = None
    until: Annotated[Day | None, Field(description="Last day on which the flag applies.")] = None

    def said(self) -> people.Given:
        source, particulars = self.source, self.particulars
        return people.Given(
            flag=self.flag,
            value=self.value,
            until=self.until,
            source=None if source is None else source.model_dump(by_alias=True, exclude_none=True),
            particulars=None if particulars is None else particulars.model_dump(),
        )


class ChangeDirector(Body):
    """Fields to update. Omitted fields stay unchanged; null clears optional fields."""

    given_names: Names = "unchanged"
    surname: Names = "unchanged"
    role: Role = "director"
    id_type: IdType = "za_id"
    id_number: Sealed = "unchanged"
    id_country: Country | None = None
    nationality: Country | None = None
    shareholding_percent: Percent | None = None
    beneficial_owner: bool = False
    appointed_on: Day | None = None
    user_id: UUID | None = None
    email: Email | None = None
    phone: PhoneNumber | None = None
    verification: Annotated[
        VerificationBody | None,
        Field(description="Result of a verification. Requires `organization:director:verify`."),
    ] = None
    flag_statement: Annotated[
        FlagStatementBody | None,
        Field(description="Flag declared by the company or found by a verifier."),
    ] = None


class ResignDirector(Body):
    """Date of the resignation."""

    resigned_on: Annotated[Day | None, Field(description="Date. Defaults to today.")] = None


class ReappointDirector(Body):
    """Date of the reappointment."""

    appointed_on: Annotated[Day | None, Field(description="Date. Defaults to today.")] = None
