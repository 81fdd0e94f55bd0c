"""Which providers can be used, and where customers can return to (BIL-29, BIL-30)."""

from urllib.parse import urlsplit

from thenga.domains.billing import settings
from thenga.domains.billing.services import invoicing, pricing
from thenga.domains.billing.tables import Account, Book
from thenga.kernel.db import configuration
from thenga.kernel.db.reader import Reader
from thenga.kernel.errors import Problem, RuleViolated, extensions
from thenga.kernel.values.calendar import local_day

SANDBOX, EFT = "sandbox", "eft"


class ProviderNotAllowed(Problem):
    """This organization cannot pay with this provider. Use one that `allowed` lists. Sandbox
    organizations can only use `sandbox`."""

    code, status, title = "billing-provider-not-allowed", 422, "This provider is not available"
    members = extensions(allowed=(list[str], "Providers you can use."))


async def check(read: Reader, account: Account, provider: str) -> None:
    """Live organizations never use the sandbox provider, and sandboxes only that one (BIL-29)."""
    _check_among(await allowed(read, account), provider)


async def check_charging(read: Reader, account: Account, provider: str) -> None:
    """As `check`, without bank transfer, which cannot be charged later."""
    those = await allowed(read, account)
    _check_among([name for name in those if name != EFT], provider)


def _check_among(those: list[str], provider: str) -> None:
    if provider not in those:
        raise ProviderNotAllowed(
            f"You cannot pay with {provider} here. Use {' or '.join(those)}.", allowed=those
        )


async def allowed(read: Reader, account: Account) -> list[str]:
    """The providers that the organization can use today."""
    configured = await configuration.value(read, settings.PROVIDERS)
    return list(configured.live if account.book is Book.LIVE else configured.sandbox)


async def check_return(read: Reader, return_url: str | None) -> None:
    """Refuse a return address outside our own pages."""
    if return_url is None:
        return
    allowed = await configuration.value(read, settings.RETURN_ORIGINS)
    if _origin(return_url) not in allowed:
        raise RuleViolated(
            f"`returnUrl` must start with one of {', '.join(allowed)}.",
            rule="return-origin",
            allowed=list(allowed),
        )


def _origin(url: str) -> str | None:
    """Scheme and host of an address. None if it is not valid."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return None
    return f"{parts.scheme}://{parts.netloc}"


async def bank(read: Reader, book: Book) -> dict[str, str]:
    """The bank details for a transfer, from the current seller. Never the sample's (BIL-56)."""
    today = local_day(read.now)
    code = await configuration.value(read, settings.SELLER)
    await invoicing.check_seller(read, code, book)
    return (await pricing.seller_on(read, code, today)).bank
