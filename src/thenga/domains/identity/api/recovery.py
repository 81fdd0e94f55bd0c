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
    """Request for a link to set a new password."""

    email: Email


class ConfirmReset(Body):
    """New password with the code from the letter."""

    token: Annotated[Token, Field(description="Code from the letter.")]
    new_password: NewPassword


class PasswordSet(View):
    """The new password is set."""

    outcome: Literal["password_set"] = "password_set"


class ConfirmAddress(Body):
    """Confirmation of a new email address."""

    token: Annotated[Token, Field(description="Code from the letter to the new address.")]


class AddressConfirmed(View):
    """The new email address is confirmed."""

    outcome: Literal["address_changed"] = "address_changed"


@router.post("/identity/auth/password-resets", status_code=202)
async def ask_password_reset(
    body: AskReset, work: Annotated[Work, anyone(by_address)], shared: Sharing
) -> LinkSent:
    """Request a link to set a new password. The answer is the same for every address."""
    await shared.limits.hit(shared.rules.reset_account, accounts.limit_key(work, body.email))
    await auth.ask_reset(work, email=body.email)
    return LinkSent()


@router.post("/identity/auth/password-resets/confirm", responses=problems(LinkSpent, PasswordWeak))
async def confirm_password_reset(
    body: ConfirmReset, work: Annotated[Work, anyone(by_link)], shared: Sharing
) -> PasswordSet:
    """Set a new password with the code from the letter. All your sessions end.

    It does not sign you in. It lifts a lock and leaves second factors unchanged.
    """
    await shared.limits.hit(shared.rules.hashing)
    await auth.confirm_reset(work, token=body.token, new_password=body.new_password)
    return PasswordSet()


@router.post("/identity/auth/address-changes/confirm", responses=problems(LinkSpent))
async def confirm_address_change(
    body: ConfirmAddress, work: Annotated[Work, anyone(by_link)]
) -> AddressConfirmed:
    """Confirm the new email address for sign-in. All sessions end except the one that asked."""
    await auth.confirm_change(work, token=body.token)
    return AddressConfirmed()
