"""From an address to its account key: no dot or plus folding, nothing a stranger can reverse."""

from dataclasses import dataclass
from uuid import UUID

from thenga.domains.identity.tables import Password, SignInName, UserAccount
from thenga.kernel.crypto import sealing
from thenga.kernel.db.reader import Reader
from thenga.kernel.process.host import Host


@dataclass(frozen=True)
class FoundAccount:
    """Who an address belongs to; for an unknown one the same look-ups found nothing."""

    user_id: UUID
    account: UserAccount | None
    phc: str | None


def account_key(host: Host, email: str) -> bytes:
    """HMAC of the case-folded address, so unknown addresses are counted and limited alike."""
    local, _, domain = email.rpartition("@")
    return sealing.mac(host.key("account"), f"{local.casefold()}@{domain.lower()}".encode())


def limit_key(read: Reader, email: str) -> str:
    """Whom a limit counts: known and unknown addresses alike (IDN-6)."""
    return account_key(read.host, email).hex()


async def find_name(read: Reader, key: bytes) -> SignInName | None:
    """The name of an address, found only by who presents its key."""
    await read.present(key)
    name = await read.find(SignInName, hash=key)
    return None if name is None or name.ended_at is not None else name


async def find_account(read: Reader, key: bytes) -> FoundAccount:
    """Account and password of an address, by the same statements whether there are any (IDN-52)."""
    name = await find_name(read, key)
    user_id = nobody(key) if name is None else name.user_id
    await read.become(user_id)
    account = await read.find(UserAccount, id=user_id)
    password = await read.find(Password)
    return FoundAccount(user_id, account, password.phc if password else None)


def nobody(key: bytes) -> UUID:
    """The identifier that an unknown address is looked up under; no row has it."""
    return UUID(bytes=key[:16], version=4)
