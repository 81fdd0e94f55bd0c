"""The first staff of an installation, invited at the console of the machine (IDN-53).

People who run commands there have the secrets of the database, so the console needs no sign-in. It
gives staff accounts their roles only until staff can do it themselves.
"""

from pydantic import TypeAdapter, ValidationError

from thenga.domains.identity.services import accounts, auth, roles
from thenga.domains.identity.tables import UserAccount, UserStatus
from thenga.kernel.access.actors import SYSTEM, Scope
from thenga.kernel.access.origin import at_console
from thenga.kernel.db.work import Work
from thenga.kernel.errors import RuleViolated
from thenga.kernel.process.host import Host
from thenga.kernel.values.fields import Email

_ADDRESS: TypeAdapter[str] = TypeAdapter(Email)


async def invite(host: Host, *, address: str, role_codes: list[str]) -> str:
    """Invite a person as staff with these platform roles; again, it sends another letter."""
    if not await roles.roles_without_holder(host):
        raise RuleViolated(
            "Every platform role has a holder with a second factor, so only staff invite staff: "
            "use `POST /identity/users` and `POST /identity/role-assignments`.",
            rule="IDN-53",
        )
    origin = at_console("identity.staff.invite")
    work = Work(host, "identity", Scope(actor=SYSTEM, platform=True), origin)
    try:
        is_letter_due = await _invite(work, _checked(address), role_codes)
        await work.finish()
    finally:
        await work.close()
    sent = "A worker sends the letter." if is_letter_due else "The person signs in as before."
    vacant = ", ".join(await roles.roles_without_holder(host)) or "none"
    return (
        f"{address} has the roles {', '.join(role_codes)}. {sent} "
        f"Roles without a holder who has a second factor: {vacant}."
    )


async def _invite(work: Work, email: str, role_codes: list[str]) -> bool:
    """Make the account and give the roles; whether the person must still prove the address."""
    key = accounts.account_key(work.host, email)
    name = await accounts.find_name(work, key)
    if name is None:
        display_name = email.partition("@")[0]
        account = await accounts.add_user(
            work, key, email=email, display_name=display_name, locale="en-ZA", staff=True
        )
    else:
        await work.switch_scope(user_id=name.user_id)
        account = await work.lock(UserAccount, name.user_id)
        await _make_staff(work, account)
    is_pending = account.status is UserStatus.PENDING_VERIFICATION
    if is_pending:
        await auth.invite(work, key, account)
    await work.switch_scope()  # what the platform gives stands in its own trail
    reason = work.origin.reason or ""
    for code in role_codes:
        await roles.assign_first_role(work, user_id=account.id, role_code=code, reason=reason)
    work.note(
        "identity.staff.invited",
        ("user_account", account.id),
        {"roles": role_codes, "reason": reason},
    )
    return is_pending


async def _make_staff(work: Work, account: UserAccount) -> None:
    """Accept a staff account, or one that nobody ever proved: a stranger can have begun that."""
    if account.status not in (UserStatus.PENDING_VERIFICATION, UserStatus.ACTIVE):
        raise RuleViolated("This account is closed. Use another address.", rule="IDN-53")
    if account.staff:
        return
    if account.status is UserStatus.ACTIVE:
        raise RuleViolated(
            "This address belongs to a customer, and staff accounts belong to no organization. "
            "Use another address.",
            rule="IDN-18",
        )
    account.staff, account.display_name = True, account.email.partition("@")[0]
    await accounts.save_user(work, account)


def _checked(address: str) -> str:
    try:
        return _ADDRESS.validate_python(address)
    except ValidationError:
        raise RuleViolated(
            f"{address} is not an email address. Write it like name@company.co.za.", rule="IDN-53"
        ) from None
