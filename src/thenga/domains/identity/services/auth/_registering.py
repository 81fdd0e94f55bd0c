"""Registration: whoever proves the address sets the password (IDN-9, IDN-10)."""

from dataclasses import dataclass
from datetime import timedelta
from uuid import UUID

from thenga.domains.identity import public
from thenga.domains.identity.lifecycles import UserLifecycle
from thenga.domains.identity.services import sessions
from thenga.domains.identity.services.auth import _hashing
from thenga.domains.identity.services.auth._names import account_key, find_name
from thenga.domains.identity.tables import (
    OneTimeLink,
    Password,
    SignInName,
    UserAccount,
    UserStatus,
)
from thenga.kernel import sealing, tokens
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.work import Work
from thenga.kernel.errors import NotFound, Problem
from thenga.kernel.ids import new_id
from thenga.kernel.jobs.declare import Form, errand

LINK_LIVES = timedelta(hours=24)
REGISTER, KNOWN_ALREADY = "register", "known_already"


class LinkSpent(Problem):
    """A link works once and for a day; a newer one kills the older. Ask for a new one."""

    code, status, title = "identity-link-spent", 409, "This link no longer works"


@dataclass(frozen=True)
class LinkToDeliver:
    """What the message needs; the text is sealed again nowhere after it was handed over."""

    purpose: str
    email: str
    display_name: str
    text: str


deliver_link = errand("identity.deliver_link", form=Form.OUTSIDE, key="{link_hash}")


async def register(work: Work, *, email: str, display_name: str, locale: str) -> None:
    """Send a link to the address; the answer is the same whoever it belongs to (IDN-52)."""
    key = account_key(work.host, email)
    name = await find_name(work, key)
    if name is None:
        user_id = new_id()
        await work.add(SignInName(hash=key, user_id=user_id))
        await work.become(user_id)
        account = await work.add(
            UserAccount(
                id=user_id,
                user_id=user_id,
                email=email,
                display_name=display_name,
                locale=locale,
                time_zone="Africa/Johannesburg",
                status=UserStatus.PENDING_VERIFICATION,
            )
        )
    else:
        await work.become(name.user_id)
        account = await work.get(UserAccount, name.user_id)
    pending = account.status is UserStatus.PENDING_VERIFICATION
    await _new_link(work, key, account, REGISTER if pending else KNOWN_ALREADY)


async def _new_link(work: Work, key: bytes, account: UserAccount, purpose: str) -> None:
    text = tokens.mint(tokens.Prefix.LINK)
    digest = tokens.digest(text)
    await work.present(digest)
    await work.add(
        OneTimeLink(
            hash=digest,
            purpose=purpose,
            account_key=key,
            user_id=account.id,
            sealed=sealing.seal(work.host.key("link"), text.encode(), aad=digest),
            expires_at=work.now + LINK_LIVES,
        )
    )
    await work.present(key)
    name = await work.lock_by(SignInName, hash=key)
    name.link_hash = digest
    await work.save(name)
    work.enqueue(deliver_link, link_hash=digest.hex())


async def link_to_deliver(read: Reader, link_hash: bytes) -> LinkToDeliver | None:
    """The message of a link that was not handed over yet."""
    await read.present(link_hash)
    link = await read.find(OneTimeLink, hash=link_hash)
    if link is None or link.sealed is None:
        return None
    await read.become(link.user_id)
    account = await read.get(UserAccount, link.user_id)
    text = sealing.unseal(read.host.key("link"), link.sealed, aad=link_hash).decode()
    return LinkToDeliver(link.purpose, account.email, account.display_name, text)


async def mark_delivered(work: Work, link_hash: bytes) -> None:
    """The message is out: the text is forgotten, only its hash stays."""
    await work.present(link_hash)
    link = await work.lock_by(OneTimeLink, hash=link_hash)
    link.sealed = None
    await work.save(link)


async def verify_address(work: Work, *, token: str, password: str) -> sessions.SignedIn:
    """Prove the address by the link, set the password, and be signed in."""
    account = await _account_of(work, token)
    phc = await _hashing.hashed(password, known=[account.display_name, account.email])
    await _spend(work, token)
    await work.become(account.id)
    held = await work.lock(UserAccount, account.id)
    UserLifecycle.verify(held, at=work.now)
    held.email_verified_at = held.last_sign_in_at = work.now
    await work.save(held)
    await work.add(Password(user_id=held.id, phc=phc))
    work.publish(public.UserRegistered(user_id=held.id))
    return await sessions.start(work, held.id, methods=["password"])


async def _account_of(work: Work, token: str) -> UserAccount:
    """Who the link belongs to, read aside: hashing a password must not hold a transaction."""
    digest = _digest(token)
    async with work.aside() as read:
        await read.present(digest)
        link = await read.find(OneTimeLink, hash=digest)
        if link is None or link.purpose != REGISTER:
            raise LinkSpent()
        await read.become(link.user_id)
        return await read.get(UserAccount, link.user_id)


async def _spend(work: Work, token: str) -> UUID:
    digest = _digest(token)
    await work.present(digest)
    try:
        link = await work.lock_by(OneTimeLink, hash=digest)
    except NotFound:
        raise LinkSpent() from None
    if link.used_at is not None or link.expires_at <= work.now:
        raise LinkSpent()
    link.used_at = work.now
    await work.save(link)
    await work.present(link.account_key)
    name = await work.find(SignInName, hash=link.account_key)
    if name is None or name.link_hash != digest:
        raise LinkSpent()
    return link.user_id


def _digest(token: str) -> bytes:
    if tokens.parse(token) is not tokens.Prefix.LINK:
        raise LinkSpent()
    return tokens.digest(token)
