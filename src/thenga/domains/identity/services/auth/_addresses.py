"""Changing the address one signs in with: proved by a link, told to the old one."""

from thenga.domains.identity import public
from thenga.domains.identity.services import accounts, sessions
from thenga.domains.identity.services.accounts import account_key, find_name
from thenga.domains.identity.services.auth import _links
from thenga.domains.identity.tables import SignInName, UserAccount, UserStatus
from thenga.kernel.db.work import Work


async def ask_change(work: Work, *, email: str) -> None:
    """Send a link to the new address and a notice to the old one.

    Whether the new address has an account already is not told; a link to it would lead nowhere.
    """
    account = await work.get(UserAccount, work.user_id)
    key = account_key(work.host, account.email)
    await _links.send(
        work,
        key,
        purpose=_links.CHANGE_ADDRESS,
        user_id=account.id,
        session_id=work.actor.session_id,
        address=email,
    )
    about = f"{account.id}:{work.now.isoformat()}"
    accounts.notify(work, account.id, topic=accounts.ADDRESS_CHANGE_ASKED, about=about)


async def confirm_change(work: Work, *, token: str) -> UserAccount:
    """From now on the new address signs in; every session but the one that asked ends."""
    link = await _links.spend(work, token, purposes=[_links.CHANGE_ADDRESS])
    email = _links.new_address(work, link)
    account = await work.lock(UserAccount, link.user_id)
    key = account_key(work.host, email)
    taken = await find_name(work, key)
    if account.status is not UserStatus.ACTIVE or (taken and taken.user_id != account.id):
        raise _links.LinkSpent()
    old = account_key(work.host, account.email)
    if old != key:
        await accounts.take_name(work, key, account.id)
        await work.present(old)
        name = await work.lock_by(SignInName, hash=old)
        name.ended_at = work.now
        await work.save(name)
    account.email, account.email_verified_at = email, work.now
    await accounts.save_user(work, account)
    work.publish(public.AddressChanged(user_id=account.id))
    await sessions.end_all_sessions(work, account.id, cause="address_changed", but=link.session_id)
    return account
