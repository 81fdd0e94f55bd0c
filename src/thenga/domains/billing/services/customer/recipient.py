"""The recipient of a document, and what the law requires about them (BIL-26)."""

from typing import Any

from thenga.domains.billing.tables import Account
from thenga.kernel.errors import Problem, extensions
from thenga.kernel.values.money import Money

# Above this consideration a tax invoice needs the recipient's address (VAT Act, section 20).
WITHOUT_ADDRESS = 500_000
PARKED_FOR = "tax_data_missing"


class TaxDataMissing(Problem):
    """A tax invoice needs the recipient's legal name and, above R 5 000.00, their address. Add
    what `missing` lists with `PATCH /billing/accounts/{accountId}`, then try again."""

    code, status, title = "billing-tax-data-missing", 422, "Billing details are incomplete"
    members = extensions(missing=(list[str], "JSON pointers to the missing fields."))


def is_recipient_complete(account: Account) -> bool:
    """Whether a document of any amount can be issued."""
    return account.bill_to is not None and "address" in account.bill_to


def recipient_of(account: Account, gross: Money) -> dict[str, Any]:
    """The recipient as printed on a document of this amount."""
    bill_to = account.bill_to
    if bill_to is None:
        raise TaxDataMissing("Add the legal name to bill.", missing=["/billTo/legalName"])
    if gross.minor > WITHOUT_ADDRESS and "address" not in bill_to:
        raise TaxDataMissing(
            f"Add the address to bill: a tax invoice of {gross} must show it.",
            missing=["/billTo/address"],
        )
    return dict(bill_to)
