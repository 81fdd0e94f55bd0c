"""Who invoices and who is invoiced, read at submission and kept with the document (CON-19)."""

from dataclasses import dataclass
from typing import Any

from thenga.domains.contract.tables import Workspace
from thenga.domains.organization.public import Profiles, ProfileView, RecordView
from thenga.kernel.db.reader import Reader
from thenga.kernel.errors import DependencyUnavailable, Problem, extensions
from thenga.kernel.ports.binding import within

_FACTS = {
    "legalName": "legal_name",
    "tradingName": "trading_name",
    "registrationNumber": "registration_number",
    "vatNumber": "vat_number",
}


class InvoiceTaxDataMissing(Problem):
    """A tax invoice shows the name and address of both parties and your VAT number. Add what
    `errors` lists: your own facts in the organization's profile, the buyer's in the contract."""

    code, status, title = "contract-tax-data-missing", 422, "The invoice is incomplete"
    members = extensions(missing=(list[str], "JSON pointers to the missing fields."))


@dataclass(frozen=True, slots=True)
class Seller:
    """Our own company as an invoice prints it, with the versions of what was read."""

    printed: dict[str, Any]
    refs: list[dict[str, Any]]
    is_sandbox: bool


async def seller_of(read: Reader) -> Seller:
    """Ask Organization who we are. Without an answer nothing is issued."""
    profiles = read.port(Profiles)
    mine = read.organization_id
    asked = profiles.describe(
        organization_id=mine,
        purpose="display",
        fact_keys=[*_FACTS],
        record_types=["address"],
    )
    try:
        profile = await within(profiles.port_timeout, profiles.port_name, asked)
        mode = await within(
            profiles.port_timeout, profiles.port_name, profiles.mode(organization_id=mine)
        )
    except DependencyUnavailable:
        raise
    except Problem:
        raise DependencyUnavailable() from None
    address = _registered_address(profile)
    facts = [fact for fact in profile.facts if fact.value is not None]
    printed: dict[str, Any] = {_FACTS[fact.key]: str(fact.value) for fact in facts}
    printed["address"] = None if address is None else address.summary
    cited = [fact.ref for fact in facts] + ([] if address is None else [address.ref])
    refs = [ref.model_dump(mode="json") for ref in cited]
    return Seller(printed, refs, is_sandbox=mode == "sandbox")


def _registered_address(profile: ProfileView) -> RecordView | None:
    """The registered office, else the primary address, else the first."""
    found = [record for record in profile.records if record.type == "address"]

    def rank(record: RecordView) -> tuple[bool, bool, str]:
        said = record.summary
        return not said.get("registeredOffice"), not said.get("primary"), record.ref.id

    return min(found, key=rank, default=None)


def buyer_of(workspace: Workspace) -> dict[str, Any]:
    """The buyer as an invoice prints it."""
    kept = workspace.counterparty
    return {
        "legal_name": kept.get("name"),
        "address": kept.get("address"),
        "vat_number": kept.get("vatNumber"),
    }


def check_tax_data(seller: Seller, buyer: dict[str, Any], treatment: str) -> None:
    """Refuse unless every field of a full tax invoice is known."""
    ours = seller.printed
    needed = {
        "/seller/legalName": ours.get("legal_name"),
        "/seller/address": ours.get("address"),
        "/seller/vatNumber": ours.get("vat_number") or treatment == "non_vendor",
        "/counterparty/name": buyer.get("legal_name"),
        "/counterparty/address": buyer.get("address"),
    }
    missing = [pointer for pointer, value in needed.items() if not value]
    if missing:
        errors = [
            {"pointer": pointer, "code": "missing", "detail": "A tax invoice must show this."}
            for pointer in missing
        ]
        raise InvoiceTaxDataMissing(missing=missing, errors=errors)
