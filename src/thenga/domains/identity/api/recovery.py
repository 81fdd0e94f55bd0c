"""Ways back in by a link: a forgotten password, another address. Public: the link is the secret."""

from typing import Annotated, Literal

from pydantic import Field

from thenga.domains.identity.api.auth import LinkSent, NewPassword, Token, by_address, by_link
from thenga.domains.identity.services import accounts, auth
from thenga.domains.identity.services.auth import LinkSpent, PasswordWeak
from thenga.kernel.db.work import Work
from thenga.kernel.http.bodies import Body, View
from thenga.kernel.http.doors import router as make_router
from thenga.kernel.http.entrances import anyone
from thenga.kernel.http.reference import problems
from thenga.kernel.http.shared import Sharing
from thenga.kernel.values.fields import Email

router = make_router("Identity / Authentication")


class AskReset(Body):
    email: Email


class ConfirmReset(Body):
    token: Annotated[Token, Field(description="The code of the message.")]
    new_password: NewPassword


class PasswordSet(View):
    outcome: Literal["password_set"] = "password_set"


class ConfirmAddress(Body):
    token: Annotated[Token, Field(description="The code of the message to the new address.")]


class AddressConfirmed(View):
    outcome: Literal["address_changed"] = "address_changed"


@router.post("/identity/auth/password-resets", status_code=202)
async def ask_password_reset(
    body: AskReset, work: Annotated[Work, anyone(by_address)], shared: Sharing
) -> LinkSent:
    """Ask for a link to set a new password. The answer is the same for every address."""
    await shared.limits.hit(shared.rules.mail_account, accounts.limit_key(work, body.email))
    await auth.ask_reset(work, email=body.email)
    return LinkSent()


@router.post("/identity/auth/password-resets/confirm", responses=problems(LinkSpent, PasswordWeak))
async def confirm_password_reset(
    body: ConfirmReset, work: Annotated[Work, anyone(by_link)], shared: Sharing
) -> PasswordSet:
    """Set a new password with the code of the message. Every session of yours ends.

    It signs nobody in; a lock is lifted. A second factor stays as it is.
    """
    await shared.limits.hit(shared.rules.hashing)
    await auth.confirm_reset(work, token=body.token, new_password=body.new_password)
    return PasswordSet()


@router.post("/identity/auth/address-changes/confirm", responses=problems(LinkSpent))
async def confirm_address_change(
    body: ConfirmAddress, work: Annotated[Work, anyone(by_link)]
) -> AddressConfirmed:
    """Sign in with the new address from now on. Every session ends but the one that asked."""
    await auth.confirm_change(work, token=body.token)
    return AddressConfirmed()
