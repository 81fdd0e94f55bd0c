"""What is sent about a director."""

from typing import Annotated, Literal
from uuid import UUID

from pydantic import Field

from thenga.domains.organization.api.checked import VerificationBody
from thenga.domains.organization.api.facts import CheckSource
from thenga.domains.organization.api.records import Country
from thenga.domains.organization.services import people
from thenga.kernel.http.bodies import Body
from thenga.kernel.values.fields import Day, Email, Percent, lines, text

Names = Annotated[str, text(1, 100)]
Short = Annotated[str, text(1, 80)]
Phone = Annotated[str, text(4, 30)]
IdNumber = Annotated[str, text(5, 40)]
IdType = Literal["za_id", "passport", "other"]
Role = Literal[
    "director", "member", "trustee", "partner", "proprietor", "shareholder",
    "prescribed_officer", "company_secretary",
]  # fmt: skip
Flag = Literal["publicServant", "restricted", "politicallyExposed"]
Sealed = Annotated[
    IdNumber, Field(description="Written only: what is shown later is `idNumberMasked`.")
]


class AddDirector(Body):
    given_names: Names
    surname: Names
    role: Role
    id_type: IdType
    id_number: Sealed
    id_country: Annotated[
        Country | None, Field(description="Who issued it; needed for a passport.")
    ] = None
    nationality: Country | None = None
    shareholding_percent: Annotated[
        Percent | None, Field(description="Of active directors, 100.00 at most together.")
    ] = None
    beneficial_owner: bool = False
    appointed_on: Day | None = None
    user_id: Annotated[
        UUID | None, Field(description="The person's account, if they belong to the organization.")
    ] = None
    email: Email | None = None
    phone: Phone | None = None


class ParticularsBody(Body):
    institution: Annotated[
        Short | None, Field(description="Where the person serves; needed for a public servant.")
    ] = None
    position: Short | None = None
    employee_number: Annotated[Short | None, Field(description="Written only; shown masked.")] = (
        None
    )
    note: Annotated[str, lines(1, 500)] | None = None


class FlagStatementBody(Body):
    flag: Flag
    value: Annotated[
        Literal["yes", "no", "possible"],
        Field(description="`possible` is for verifiers: a name on a list, not yet decided."),
    ]
    particulars: ParticularsBody | None = None
    source: CheckSource | None = None
    until: Annotated[Day | None, Field(description="The last day on which it counts.")] = None

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
    """A merge patch: what is left out stays, null empties what may be empty."""

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
    phone: Phone | None = None
    verification: Annotated[
        VerificationBody | None, Field(description="Asks for `organization:director:verify`.")
    ] = None
    flag_statement: Annotated[
        FlagStatementBody | None,
        Field(description="What is declared by the company, or found by a verifier."),
    ] = None


class ResignDirector(Body):
    resigned_on: Annotated[Day | None, Field(description="Today if left out.")] = None


class ReappointDirector(Body):
    appointed_on: Annotated[Day | None, Field(description="Today if left out.")] = None
