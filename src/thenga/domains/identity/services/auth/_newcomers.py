"""Somebody new, whose address a letter or a trusted provider proved (IDN-9, IDN-16, IDN-21)."""

from thenga.domains.identity import public
from thenga.domains.identity.lifecycles import UserLifecycle
from thenga.domains.identity.services import accounts
from thenga.domains.identity.services.accounts import account_key, find_name
from thenga.domains.identity.tables import Password, UserAccount
from thenga.kernel.db.work import Work


async def newcomer(work: Work, *, email: str, display_name: str, phc: str | None) -> UserAccount:
    """An account for the address; one that somebody began and never proved is taken over.

    Without `phc` it has no password, and another way to sign in.
    """
    key = account_key(work.host, email)
    name = await find_name(work, key)
    if name is None:
        begun = await accounts.add_user(
            work, key, email=email, display_name=display_name, locale="en-ZA"
        )
        user_id = begun.id
    else:
        user_id = name.user_id
        await work.become(user_id)
    account = await work.lock(UserAccount, user_id)
    UserLifecycle.verify(account, at=work.now)
    account.display_name = display_name
    account.email_verified_at = account.last_sign_in_at = work.now
    await accounts.save_user(work, account)
    if phc is not None:
        await work.add(Password(user_id=user_id, phc=phc))
    work.publish(public.UserRegistered(user_id=user_id))
    return account
