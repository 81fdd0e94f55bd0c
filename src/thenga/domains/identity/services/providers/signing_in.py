"""Signing in with a ticket and the secret of whoever began the flow (IDN-16)."""

from typing import Never
from uuid import UUID

from thenga.domains.identity.services import accounts, auth, sessions
from thenga.domains.identity.services.auth import HalfSignedIn, SignedIn, SignInRefused
from thenga.domains.identity.services.providers import links, tickets
from thenga.domains.identity.services.providers.links import LinkRequired
from thenga.domains.identity.tables import (
    FlowPurpose,
    IdentityProvider,
    ProviderTicket,
    Session,
    SessionStatus,
    UserStatus,
)
from thenga.domains.identity.values.openid import ProviderPerson
from thenga.kernel.crypto import sealing, tokens
from thenga.kernel.db.work import Work
from thenga.kernel.errors import NotFound, Problem

METHOD = "provider"


class ProviderPending(Problem):
    """The provider has not answered yet. Send the same request again in a second."""

    code, status, title = "identity-provider-pending", 409, "The provider has not answered yet"


async def sign_in(work: Work, *, ticket: str, flow_secret: str) -> SignedIn | HalfSignedIn:
    """A session for whoever brings a ticket and began its flow; the ticket works once.

    A ticket of a link also makes the link.
    """
    held = await _take(work, ticket, flow_secret)
    provider = await work.get(IdentityProvider, held.provider_id)
    person = tickets.person_of(work, held)
    if person is None or not provider.active:
        _refuse(work, provider, SignInRefused())
    if held.purpose is FlowPurpose.LINK:
        user_id = await _link(work, held, provider, person)
    else:
        user_id = await links.find_linked(work, person) or await _register(work, provider, person)
    return await auth.admit(work, user_id, method=METHOD)


async def _take(work: Work, ticket: str, flow_secret: str) -> ProviderTicket:
    """Use the ticket up, if it is whole, in time and of whoever began the flow."""
    digest = tokens.digest(ticket)
    await work.present(digest)
    try:
        held = await work.lock_by(ProviderTicket, hash=digest)
    except NotFound:
        raise SignInRefused() from None
    if not sealing.equal(held.flow_hash, tokens.digest(flow_secret)):
        raise SignInRefused()
    if held.used_at is not None or held.expires_at <= work.now:
        raise SignInRefused()
    if held.redeemed_at is None:
        raise ProviderPending()
    held.used_at = work.now
    return await work.save(held)


async def _link(
    work: Work, ticket: ProviderTicket, provider: IdentityProvider, person: ProviderPerson
) -> UUID:
    """Link whoever began the flow, if the session that began it still lives (IDN-4)."""
    assert ticket.user_id is not None  # noqa: S101  # a flow to link names who links
    await work.become(ticket.user_id)
    session = await work.find(Session, id=ticket.session_id)
    if session is None or sessions.session_status(session, work.now) is not SessionStatus.ACTIVE:
        _refuse(work, provider, SignInRefused())
    await links.link(work, ticket.user_id, provider, person)
    return ticket.user_id


async def _register(work: Work, provider: IdentityProvider, person: ProviderPerson) -> UUID:
    """An account for somebody new whose address the provider proves; nobody is linked by it.

    Who has an account is told the same as who cannot get one, so the answer tells nobody whether
    an address is known (IDN-52).
    """
    email = person.email
    if email is None or not (provider.trusts_email and person.email_verified):
        _refuse(work, provider, LinkRequired())
    if await _has_account(work, email):
        _refuse(work, provider, LinkRequired())
    name = person.name or email.partition("@")[0]
    account = await auth.newcomer(work, email=email, display_name=name, phc=None)
    await links.link(work, account.id, provider, person)
    return account.id


async def _has_account(work: Work, email: str) -> bool:
    """Whether the address is somebody's; an account that nobody ever proved is not."""
    name = await accounts.find_name(work, accounts.account_key(work.host, email))
    if name is None:
        return False
    one = await accounts.account_standing(work, name.user_id)
    return one is None or one.staff or one.account.status is not UserStatus.PENDING_VERIFICATION


def _refuse(work: Work, provider: IdentityProvider, problem: Problem) -> Never:
    """Refuse and keep that the ticket was used; refused sign-ins are in the trail (IDN-49)."""
    work.note(
        "identity.sign_in.refused",
        ("provider", provider.id),
        {"method": METHOD},
        outcome="refused",
        reason_code=problem.code.replace("-", "_"),
    )
    raise problem.keeping()
