"""From an address to its account key: no dot or plus folding, nothing a stranger can reverse."""

from thenga.domains.identity.tables import SignInName
from thenga.kernel import sealing
from thenga.kernel.db.reader import Reader
from thenga.kernel.host import Host


def account_key(host: Host, email: str) -> bytes:
    """HMAC of the case-folded address, so unknown addresses are counted and limited alike."""
    local, _, domain = email.rpartition("@")
    return sealing.mac(host.key("account"), f"{local.casefold()}@{domain.lower()}".encode())


async def find_name(read: Reader, key: bytes) -> SignInName | None:
    """The name of an address, found only by who presents its key."""
    await read.present(key)
    return await read.find(SignInName, hash=key)


def limit_key(read: Reader, email: str) -> str:
    """Whom a limit counts: known and unknown addresses alike (IDN-6)."""
    return account_key(read.host, email).hex()
