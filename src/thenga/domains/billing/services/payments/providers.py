"""Which providers may be paid with, and where the customer may come back to (BIL-29, BIL-30)."""

from urllib.parse import urlsplit

from thenga.domains.billing import settings
from thenga.domains.billing.services import pricing
from thenga.domains.billing.tables import Account, Book
from thenga.kernel import configuration
from thenga.kernel.db.reader import Reader
from thenga.kernel.errors import Problem, RuleViolated, told
from thenga.kernel.values.calendar import local_day

SANDBOX, EFT = "sandbox", "eft"


class ProviderNotAllowed(Problem):
    """This organization cannot pay with this provider. Use one that `allowed` lists. Sandbox
    organizations can only use `sandbox`."""

    code, status, title = "billing-provider-not-allowed", 422, "This provider is not available"
    members = told(allowed=(list[str], "Providers you can use."))


async def check(read: Reader, account: Account, provider: str) -> None:
    """Real money never meets the sandbox, and the sandbox never real money (BIL-29)."""
    _check_among(await allowed(read, account), provider)


async def check_charging(read: Reader, account: Account, provider: str) -> None:
    """As `check`, where what can be charged later must stay: a transfer leaves nothing."""
    those = await allowed(read, account)
    _check_among([one for one in those if one != EFT], provider)


def _check_among(those: list[str], provider: str) -> None:
    if provider not in those:
        raise ProviderNotAllowed(
            f"You cannot pay with {provider} here. Use {' or '.join(those)}.", allowed=those
        )


async def allowed(read: Reader, account: Account) -> list[str]:
    """Those that the organization can pay with today."""
    configured = await configuration.value(read, settings.PROVIDERS)
    return list(configured.live if account.book is Book.LIVE else configured.sandbox)


async def check_return(read: Reader, return_url: str | None) -> None:
    """A customer is sent back to our own pages only."""
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
    """Scheme and host as they are written; none where it is no address at all."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return None
    return f"{parts.scheme}://{parts.netloc}"


async def bank(read: Reader) -> dict[str, str]:
    """Where a bank transfer goes, as the seller's documents say it today."""
    today = local_day(read.now)
    code = await configuration.value(read, settings.SELLER)
    return (await pricing.seller_on(read, code, today)).bank
