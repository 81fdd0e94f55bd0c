"""Registration: whoever proves the address sets the password (IDN-9)."""

from thenga.domains.identity import public
from thenga.domains.identity.lifecycles import UserLifecycle
from thenga.domains.identity.services import accounts, sessions
from thenga.domains.identity.services.accounts import account_key, find_name
from thenga.domains.identity.services.auth import _hashing, _links
from thenga.domains.identity.services.auth._results import SignedIn
from thenga.domains.identity.tables import Password, UserAccount, UserStatus
from thenga.kernel.db.work import Work


async def register(work: Work, *, email: str, display_name: str, locale: str) -> None:
    """Send a link to the address; the answer is the same whoever it belongs to (IDN-52)."""
    key = account_key(work.host, email)
    name = await find_name(work, key)
    if name is None:
        account = await accounts.add_user(
            work, key, email=email, display_name=display_name, locale=locale
        )
    else:
        await work.become(name.user_id)
        account = await work.lock(UserAccount, name.user_id)
        if _is_pending(account) and not account.staff:
            # Whoever asks last is heard: a stranger who was first leaves no name behind.
            account.display_name, account.locale = display_name, locale
            await accounts.save_user(work, account)
    pending = _is_pending(account)
    purpose = _links.REGISTER if pending else _links.KNOWN_ALREADY
    await _links.send(work, key, purpose=purpose, user_id=account.id)


def _is_pending(account: UserAccount) -> bool:
    return account.status is UserStatus.PENDING_VERIFICATION


async def invite(work: Work, key: bytes, account: UserAccount) -> None:
    """Send the link of an account that staff have made."""
    await _links.send(work, key, purpose=_links.CREATED, user_id=account.id)


async def verify_address(work: Work, *, token: str, password: str) -> SignedIn:
    """Prove the address by the link, set the password, and be signed in."""
    account = await _links.account_of(work, token, purposes=_links.PROVE)
    phc = await _hashing.hashed(password, known=[account.display_name, account.email])
    await _links.spend(work, token, purposes=_links.PROVE)
    held = await work.lock(UserAccount, account.id)
    if not _is_pending(held):
        raise _links.LinkSpent()
    UserLifecycle.verify(held, at=work.now)
    held.email_verified_at = held.last_sign_in_at = work.now
    await accounts.save_user(work, held)
    await work.add(Password(user_id=held.id, phc=phc))
    work.publish(public.UserRegistered(user_id=held.id))
    device = await sessions.remember_device(work, held.id)
    started = await sessions.start_session(
        work,
        held.id,
        methods=["password"],
        lives=sessions.session_lifetimes(held),
        device=device.device,
    )
    return SignedIn(started.session, started.pair, device.token)
