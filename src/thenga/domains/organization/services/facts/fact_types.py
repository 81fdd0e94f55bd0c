"""The type of each fact's value, as people, files and machines may give it.

Numbers of authorities are taken as text here and checked by `identifiers`; they come with blanks,
strokes and prefixes.
"""

from collections.abc import Iterable
from functools import cache
from typing import Annotated, Any, Literal
from uuid import UUID

from pydantic import Field, TypeAdapter, ValidationError

from thenga.domains.organization.services.reference_data import FACTS
from thenga.kernel.errors import ERRORS, Problem, extensions
from thenga.kernel.http.bodies import Body
from thenga.kernel.values.fields import (
    CurrencyCode,
    Day,
    Matching,
    Percent,
    decimal,
    lines,
    matching,
    text,
    whole,
)

LegalName = Annotated[str, text(1, 200)]
LegalForm = Literal[
    "sole_proprietor", "partnership", "joint_venture", "close_corporation", "private_company",
    "public_company", "personal_liability_company", "non_profit_company", "state_owned_company",
    "co_operative", "trust", "external_company", "organ_of_state",
]  # fmt: skip
RegistrationStatus = Literal[
    "in_business", "deregistration_process", "deregistered", "business_rescue", "liquidation",
    "unknown",
]  # fmt: skip
VatCategory = Literal["A", "B", "C", "D", "E"]
Identifier = Annotated[str, text(1, 40)]
Digits = Annotated[str, matching("^[0-9]{1,12}$", 12)]
FundNumber = Annotated[str, matching("^[0-9A-Z/-]{4,20}$", 20)]
MonthDay = Annotated[
    str, matching("^(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])$", 5), Field(examples=["02-28"])
]
Country = Annotated[str, matching("^[A-Z]{2}$", 2), Field(examples=["ZA"])]
Sector = Annotated[str, text(1, 80)]
Sectors = Annotated[list[Sector], Field(max_length=20)]
Language = Annotated[str, matching("^[a-z]{2,3}(-[A-Z]{2})?$", 6), Field(examples=["zu-ZA"])]
Languages = Annotated[list[Language], Field(max_length=20)]
About = Annotated[str, lines(1, 4000)]
Website = Annotated[str, matching(r"^https://[a-z0-9.-]{1,200}(/[A-Za-z0-9._~/-]{0,200})?$", 410)]
Employees = Annotated[int, whole(0, 1_000_000)]
Year = Annotated[int, whole(1800, 2200)]


class Turnover(Body):
    """Turnover of one financial year."""

    amount: Annotated[Any, decimal(16, 2), Field(examples=["4830000.00"])]
    currency: CurrencyCode = "ZAR"
    year_ended: Annotated[
        Year, Field(description="Calendar year in which the financial year ended.")
    ]


class BankAccount(Body):
    """Bank account that the company is paid to. Only the last four digits are shown."""

    bank_name: Annotated[str, text(1, 80)]
    branch_code: Annotated[str, matching("^[0-9]{6}$", 6), Field(examples=["250655"])]
    account_number: Annotated[str, matching("^[0-9]{6,13}$", 13), Field(examples=["62001234567"])]
    account_type: Literal["current", "savings", "transmission", "business", "other"]
    holder: Annotated[str, text(1, 120)]


def _one_of(keys: Iterable[str]) -> Matching:
    return matching(f"^(?:{'|'.join(keys)})$", 40)


FactName = Annotated[str, _one_of(FACTS)]
# People say who owns the company and where it is paid; machines suggest the rest.
SUGGESTED = [k for k, one in FACTS.items() if one.sensitivity not in ("secret", "special")]
SuggestedName = Annotated[str, _one_of(SUGGESTED)]

TYPES: dict[str, Any] = {
    "legalName": LegalName,
    "legalForm": LegalForm,
    "registrationNumber": Identifier,
    "registrationStatus": RegistrationStatus,
    "registrationDate": Day,
    "financialYearEnd": MonthDay,
    "tradingName": LegalName,
    "countryOfRegistration": Country,
    "vatRegistered": Annotated[bool, Field(strict=True)],
    "vatNumber": Identifier,
    "vatCategory": VatCategory,
    "incomeTaxNumber": Identifier,
    "payeNumber": Identifier,
    "uifNumber": Identifier,
    "sdlNumber": Identifier,
    "csdNumber": Identifier,
    "cidbCrsNumber": Digits,
    "coidaNumber": FundNumber,
    "lei": Identifier,
    "annualTurnover": Turnover,
    "employeeCount": Employees,
    "foundedYear": Year,
    "sectors": Sectors,
    "blackOwnedPercent": Percent,
    "blackWomenOwnedPercent": Percent,
    "womenOwnedPercent": Percent,
    "youthOwnedPercent": Percent,
    "disabilityOwnedPercent": Percent,
    "veteranOwnedPercent": Percent,
    "description": About,
    "website": Website,
    "logoDocumentId": UUID,
    "languages": Languages,
    "bankAccount": BankAccount,
}


class FactValueInvalid(Problem):
    """The value does not have the type that the fact catalogue requires.

    `errors` points at what is wrong; `GET /organization-catalogues/facts` lists the types.
    """

    code, status, title = (
        "organization-fact-value-invalid",
        422,
        "This value does not fit the fact",
    )
    members = extensions(errors=ERRORS)


def read(key: str, value: Any, *, pointer: str) -> Any:
    """A value of a fact as it is stored, from whatever somebody sent."""
    try:
        return stored(key, _adapter(key).validate_python(value))
    except ValidationError as error:
        errors = [
            {
                "pointer": "/".join([pointer, *map(str, one["loc"])]),
                "code": one["type"],
                "detail": one["msg"],
            }
            for one in error.errors(include_url=False, include_input=False)
        ]
        raise FactValueInvalid(errors=errors) from None


def stored(key: str, value: Any) -> Any:
    """A typed value as JSON: what the statement keeps."""
    return _adapter(key).dump_python(value, mode="json", by_alias=True)


@cache
def _adapter(key: str) -> TypeAdapter[Any]:
    return TypeAdapter(TYPES[key])
