"""What a member may say of the company: one field a fact of the catalogue."""

from typing import Annotated, Any, Literal
from uuid import UUID

from pydantic import Field

from thenga.domains.organization.services import fact_types
from thenga.domains.organization.services.facts import Given
from thenga.kernel.fields import Day, Percent
from thenga.kernel.http.bodies import Body


class Share(Body):
    """A share of ownership, and on which basis it is kept (ORG-17); companies only, no persons."""

    value: Percent
    basis: Annotated[
        Literal["consent", "legal_obligation"],
        Field(description="The ground of the Protection of Personal Information Act."),
    ]


class Facts(Body):
    """Facts that every keeper of the profile may state."""

    legal_name: fact_types.LegalName | None = None
    legal_form: fact_types.LegalForm | None = None
    registration_number: Annotated[
        fact_types.Identifier | None, Field(description="Of the CIPC, for example 2012/123456/07.")
    ] = None
    registration_status: fact_types.RegistrationStatus | None = None
    registration_date: Day | None = None
    financial_year_end: fact_types.MonthDay | None = None
    trading_name: fact_types.LegalName | None = None
    country_of_registration: fact_types.Country | None = None
    vat_registered: Annotated[bool, Field(strict=True)] | None = None
    vat_number: fact_types.Identifier | None = None
    income_tax_number: fact_types.Identifier | None = None
    paye_number: fact_types.Identifier | None = None
    uif_number: fact_types.Identifier | None = None
    sdl_number: fact_types.Identifier | None = None
    csd_number: Annotated[
        fact_types.Identifier | None, Field(description="Of the Central Supplier Database, MAAA….")
    ] = None
    cidb_crs_number: fact_types.Digits | None = None
    coida_number: fact_types.FundNumber | None = None
    lei: fact_types.Identifier | None = None
    annual_turnover: fact_types.Turnover | None = None
    employee_count: fact_types.Employees | None = None
    founded_year: fact_types.Year | None = None
    sectors: fact_types.Sectors | None = None
    description: fact_types.About | None = None
    website: fact_types.Website | None = None
    logo_document_id: UUID | None = None
    languages: fact_types.Languages | None = None


class NewProfile(Facts):
    """The first facts; bank account and ownership follow when the owner's rights are there."""

    legal_name: fact_types.LegalName
    legal_form: fact_types.LegalForm


class ChangeProfile(Facts):
    """A merge patch of facts: what is left out stays, null withdraws your statement."""

    black_owned_percent: Share | None = None
    black_women_owned_percent: Share | None = None
    women_owned_percent: Share | None = None
    youth_owned_percent: Share | None = None
    disability_owned_percent: Share | None = None
    veteran_owned_percent: Share | None = None
    bank_account: Annotated[
        fact_types.BankAccount | None,
        Field(
            description="Needs `If-Match`, a fresh proof and its own permission. A change takes "
            "effect after a day, and every owner is told at once."
        ),
    ] = None


def stated(body: Facts) -> dict[str, Given]:
    """The facts of a body that have a value, by their keys in the catalogue."""
    return {key: one for key, one in sent(body).items() if one is not None}


def sent(body: Facts) -> dict[str, Given | None]:
    """The facts that a body names, by their keys in the catalogue; null where it takes one back."""
    aliases = {name: str(field.alias) for name, field in type(body).model_fields.items()}
    return {
        aliases[name]: _given(aliases[name], getattr(body, name))
        for name in aliases
        if name in body.model_fields_set
    }


def _given(key: str, value: Any) -> Given | None:
    if value is None:
        return None
    if isinstance(value, Share):
        return Given(fact_types.stored(key, value.value), value.basis)
    return Given(fact_types.stored(key, value))
