"""What a member may say of the company: one field a fact of the catalogue."""

from typing import Annotated, Any, Literal
from uuid import UUID

from pydantic import Field

from thenga.domains.organization.services import facts
from thenga.domains.organization.services.facts import Given
from thenga.kernel.http.bodies import Body
from thenga.kernel.values.fields import Day, Percent


class Share(Body):
    """Share of ownership and the legal basis for keeping it (ORG-17).

    About companies, not persons.
    """

    value: Percent
    basis: Annotated[
        Literal["consent", "legal_obligation"],
        Field(description="Legal basis under the Protection of Personal Information Act."),
    ]


class Facts(Body):
    """Facts that every keeper of the profile may state."""

    legal_name: facts.LegalName | None = None
    legal_form: facts.LegalForm | None = None
    registration_number: Annotated[
        facts.Identifier | None,
        Field(description="CIPC registration number, for example 2012/123456/07."),
    ] = None
    registration_status: facts.RegistrationStatus | None = None
    registration_date: Day | None = None
    financial_year_end: facts.MonthDay | None = None
    trading_name: facts.LegalName | None = None
    country_of_registration: facts.Country | None = None
    vat_registered: Annotated[bool, Field(strict=True)] | None = None
    vat_number: facts.Identifier | None = None
    vat_category: facts.VatCategory | None = None
    income_tax_number: facts.Identifier | None = None
    paye_number: facts.Identifier | None = None
    uif_number: facts.Identifier | None = None
    sdl_number: facts.Identifier | None = None
    csd_number: Annotated[
        facts.Identifier | None, Field(description="Central Supplier Database number, MAAA….")
    ] = None
    cidb_crs_number: facts.Digits | None = None
    coida_number: facts.FundNumber | None = None
    lei: facts.Identifier | None = None
    annual_turnover: facts.Turnover | None = None
    employee_count: facts.Employees | None = None
    founded_year: facts.Year | None = None
    sectors: facts.Sectors | None = None
    description: facts.About | None = None
    website: facts.Website | None = None
    logo_document_id: UUID | None = None
    languages: facts.Languages | None = None


class NewProfile(Facts):
    """First facts of the company.

    Bank account and ownership can be added once you are its owner.
    """

    legal_name: facts.LegalName
    legal_form: facts.LegalForm


class ChangeProfile(Facts):
    """Facts to update. Omitted facts stay unchanged; null withdraws your statement."""

    black_owned_percent: Share | None = None
    black_women_owned_percent: Share | None = None
    women_owned_percent: Share | None = None
    youth_owned_percent: Share | None = None
    disability_owned_percent: Share | None = None
    veteran_owned_percent: Share | None = None
    bank_account: Annotated[
        facts.BankAccount | None,
        Field(
            description=(
                "Bank account. Requires `If-Match`, recent proof of identity and its own "
                "permission. A change takes effect after a day; every owner is notified at "
                "once."
            )
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
        return Given(facts.stored(key, value.value), value.basis)
    return Given(facts.stored(key, value))
