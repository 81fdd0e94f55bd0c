"""One-time links: sent to an address, good once and for a while (IDN-10).

Of links to reset a password or to change an address only the newest works. All links that prove the
address of a new account work until one is used: they went to the same address, and the newest
letter may still wait for room.
"""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import timedelta
from uuid import UUID

from thenga.domains.identity.tables import LinkSlot, OneTimeLink, UserAccount
from thenga.kernel.crypto import sealing, tokens
from thenga.kernel.db import sealed
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.work import Work
from thenga.kernel.declare.job import Form, job_stub
from thenga.kernel.errors import NotFound, Problem
from thenga.kernel.process.host import Host

REGISTER, KNOWN_ALREADY = "register", "known_already"
CREATED = "created"  # of an account that staff made; strangers cannot ask for this letter
RESET, CHANGE_ADDRESS = "reset_password", "change_address"
NOBODY = "nobody"  # asked for an address without account: the same work, and no letter

PROVE = frozenset({REGISTER, CREATED})
_NEWEST_ONLY = frozenset({RESET, CHANGE_ADDRESS, NOBODY})

LIVES = {
    REGISTER: timedelta(hours=24),
    CREATED: timedelta(hours=24),
    KNOWN_ALREADY: timedelta(hours=24),
    RESET: timedelta(minutes=30),
    CHANGE_ADDRESS: timedelta(hours=24),
    NOBODY: timedelta(minutes=30),
}


class LinkSpent(Problem):
    """A link works once and for a short time. Use the newest letter, or request a new one."""

    code, status, title = "identity-link-spent", 409, "This link is no longer valid"


@dataclass(frozen=True)
class LinkToDeliver:
    """What the message needs; the text is sealed again nowhere after it was handed over."""

    purpose: str
    user_id: UUID | None  # none while nobody has proved the address (SEC-66)
    email: str
    display_name: str
    text: str


deliver_link = job_stub("identity.deliver_link", form=Form.OUTSIDE, key="{link_hash}")

_TAKE_SLOT = """
    INSERT INTO identity.link_slot (id, created_at, updated_at, version, hash, link_hash)
    VALUES (gen_random_uuid(), $3, $3, 1, $1, $2)
    ON CONFLICT (hash) DO UPDATE SET link_hash = excluded.link_hash,
        updated_at = excluded.updated_at, version = identity.link_slot.version + 1
"""


async def send(
    work: Work,
    key: bytes,
    *,
    purpose: str,
    user_id: UUID,
    session_id: UUID | None = None,
    address: str | None = None,
) -> None:
    """A new link to the address of an account key, or to the new `address` of a person."""
    text = tokens.mint(tokens.Prefix.LINK)
    digest = tokens.digest(text)
    await work.present(digest)
    await work.add(
        OneTimeLink(
            hash=digest,
            purpose=purpose,
            account_key=key,
            user_id=user_id,
            sealed=sealed.seal(work.host, OneTimeLink, "sealed", text.encode(), hash=digest),
            expires_at=work.now + LIVES[purpose],
            session_id=session_id,
            address_sealed=_sealed(work.host, address, digest),
        )
    )
    if purpose in _NEWEST_ONLY:
        slot = _slot(key, purpose)
        await work.present(slot)
        await work.run(_TAKE_SLOT, slot, digest, work.now)
    work.enqueue(deliver_link, link_hash=digest.hex())


def _sealed(host: Host, address: str | None, digest: bytes) -> bytes | None:
    if address is None:
        return None
    return sealed.seal(host, OneTimeLink, "address_sealed", address.encode(), hash=digest)


async def link_to_deliver(read: Reader, link_hash: bytes) -> LinkToDeliver | None:
    """The message of a link that was not handed over yet."""
    await read.present(link_hash)
    link = await read.find(OneTimeLink, hash=link_hash)
    if link is None or link.sealed is None or link.purpose == NOBODY:
        return None
    await read.become(link.user_id)
    account = await read.get(UserAccount, link.user_id)
    text = sealed.unseal(read.host, link, "sealed").decode()
    to = account.email if link.address_sealed is None else new_address(read, link)
    proven = link.address_sealed is None and account.email_verified_at is not None
    known = account.id if proven else None
    return LinkToDeliver(link.purpose, known, to, account.display_name, text)


def sealed_facts(link: LinkToDeliver) -> dict[str, str]:
    """The code of the letter. Whoever has an account already is not sent one."""
    return {} if link.purpose == KNOWN_ALREADY else {"link": link.text}


def new_address(read: Reader, link: OneTimeLink) -> str:
    """The address that this link proves."""
    if link.address_sealed is None:
        raise LookupError("this link proves no new address")
    return sealed.unseal(read.host, link, "address_sealed").decode()


async def mark_delivered(work: Work, link_hash: bytes) -> None:
    """The message is out: the text is forgotten, only its hash stays."""
    await work.present(link_hash)
    link = await work.lock_by(OneTimeLink, hash=link_hash)
    link.sealed = None
    await work.save(link)


async def account_of(work: Work, token: str, *, purposes: Collection[str]) -> UserAccount:
    """Who the link belongs to, read aside: hashing a password must not hold a transaction."""
    digest = _digest(token)
    async with work.separate_reader() as read:
        await read.present(digest)
        link = await read.find(OneTimeLink, hash=digest)
        if link is None or link.purpose not in purposes:
            raise LinkSpent()
        await read.become(link.user_id)
        return await read.get(UserAccount, link.user_id)


async def spend(work: Work, token: str, *, purposes: Collection[str]) -> OneTimeLink:
    """Use the link up; afterwards this is the work of the person it was sent to."""
    digest = _digest(token)
    await work.present(digest)
    try:
        link = await work.lock_by(OneTimeLink, hash=digest)
    except NotFound:
        raise LinkSpent() from None
    over = link.used_at is not None or link.expires_at <= work.now
    if over or link.purpose not in purposes:
        raise LinkSpent()
    link.used_at = work.now
    await work.save(link)
    if link.purpose in _NEWEST_ONLY:
        slot = _slot(link.account_key, link.purpose)
        await work.present(slot)
        newest = await work.find(LinkSlot, hash=slot)
        if newest is None or newest.link_hash != digest:
            raise LinkSpent()
    await work.become(link.user_id)
    return link


def _slot(key: bytes, purpose: str) -> bytes:
    return sealing.mac(key, purpose.encode())


def _digest(token: str) -> bytes:
    if tokens.parse(token) is not tokens.Prefix.LINK:
        raise LinkSpent()
    return tokens.digest(token)
