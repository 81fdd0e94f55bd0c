"""Billing details: the recipient printed on invoices and credit notes."""

from datetime import date
from typing import Annotated, Any, Literal

from pydantic import Field

from thenga.domains.billing.services import customer
from thenga.kernel.http.bodies import Body, View
from thenga.kernel.values.fields import Name, matching, text

Part = Annotated[str, text(1, 120)]
VatNumber = Annotated[str, matching(customer.VAT_PATTERN, 13)]
RegistrationNumber = Annotated[str, matching(customer.REGISTRATION_PATTERN, 15)]
PostalCode = Annotated[str, matching("^[0-9]{4}$", 4)]
Province = Literal[
    "Eastern Cape",
    "Free State",
    "Gauteng",
    "KwaZulu-Natal",
    "Limpopo",
    "Mpumalanga",
    "North West",
    "Northern Cape",
    "Western Cape",
]
_VAT = Field(description="VAT number: ten digits that start with 4. A leading `ZA` is removed.")
_REGISTRATION = Field(
    description="Company registration number as CIPC writes it, for example 2019/123456/07."
)
_ADDRESS = Field(description="Postal address. Required before any document above R 5 000.00.")


class AddressBody(Body):
    """A postal address in South Africa."""

    line1: Annotated[Part, Field(description="Street address or PO box.")]
    line2: Annotated[Part | None, Field(description="Building, unit or suburb.")] = None
    city: Annotated[Part, Field(description="City or town.")]
    province: Annotated[Province | None, Field(description="Province.")] = None
    postal_code: Annotated[PostalCode, Field(description="Four-digit postal code.")]
    country: Annotated[Literal["ZA"], Field(description="Country. Only `ZA` is supported.")] = "ZA"


class BillTo(Body):
    """The recipient printed on invoices and credit notes."""

    legal_name: Annotated[Name, Field(description="Registered name of the company.")]
    trading_name: Annotated[
        Name | None, Field(description="Name the company trades under, if different.")
    ] = None
    vat_number: Annotated[VatNumber | None, _VAT] = None
    registration_number: Annotated[RegistrationNumber | None, _REGISTRATION] = None
    address: Annotated[AddressBody | None, _ADDRESS] = None


class ChangeAddress(Body):
    """A merge patch of the address: fields you leave out stay as they are."""

    line1: Annotated[Part, Field(description="Street address or PO box.")] = "unchanged"
    line2: Annotated[
        Part | None, Field(description="Building, unit or suburb. Null removes it.")
    ] = None
    city: Annotated[Part, Field(description="City or town.")] = "unchanged"
    province: Annotated[Province | None, Field(description="Province. Null removes it.")] = None
    postal_code: Annotated[PostalCode, Field(description="Four-digit postal code.")] = "0000"
    country: Annotated[Literal["ZA"], Field(description="Country. Only `ZA` is supported.")] = "ZA"


class ChangeBillTo(Body):
    """A merge patch of the billing details: fields you leave out stay as they are."""

    legal_name: Annotated[Name, Field(description="Registered name of the company.")] = "unchanged"
    trading_name: Annotated[
        Name | None, Field(description="Name the company trades under. Null removes it.")
    ] = None
    vat_number: Annotated[VatNumber | None, _VAT] = None
    registration_number: Annotated[RegistrationNumber | None, _REGISTRATION] = None
    address: Annotated[ChangeAddress | None, _ADDRESS] = None


class AddressView(View):
    """A postal address."""

    line1: Annotated[str, Field(description="Street address or PO box.")]
    line2: Annotated[str | None, Field(description="Building, unit or suburb.")] = None
    city: Annotated[str, Field(description="City or town.")]
    province: Annotated[str | None, Field(description="Province.")] = None
    postal_code: Annotated[str, Field(description="Four-digit postal code.")]
    country: Annotated[str, Field(description="ISO country code, always `ZA`.")]


class BillToView(View):
    """The recipient printed on documents."""

    legal_name: Annotated[str, Field(description="Registered name of the company.")]
    trading_name: Annotated[
        str | None, Field(description="Name the company trades under, if different.")
    ] = None
    vat_number: Annotated[
        str | None, Field(description="VAT number. Null if the company is not registered for VAT.")
    ] = None
    registration_number: Annotated[
        str | None, Field(description="Company registration number.")
    ] = None
    address: Annotated[AddressView | None, Field(description="Postal address.")] = None


def bill_to_fields(body: BillTo | ChangeBillTo, today: date) -> dict[str, Any]:
    """The billing details that were sent, with numbers in their stored form."""
    fields = body.changes()
    if body.vat_number is not None:
        fields["vat_number"] = customer.vat_number(body.vat_number)
    if body.registration_number is not None:
        fields["registration_number"] = customer.registration_number(
            body.registration_number, today
        )
    if body.address is not None:
        fields["address"] = body.address.changes() | {"country": "ZA"}
    return fields
