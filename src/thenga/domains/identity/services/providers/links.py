"""Links: that a person of ours is a person at a provider, found by issuer and subject alone."""

from uuid import UUID

from sqlalchemy import select

from thenga.domains.identity.tables import (
    ExternalIdentity,
    ExternalName,
    IdentityProvider,
    Password,
)
from thenga.domains.identity.values.openid import ProviderPerson
from thenga.kernel.crypto import sealing
from thenga.kernel.db import step_up
from thenga.kernel.db.paging import Paged, Slice
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.work import Work
from thenga.kernel.errors import Duplicate, NotFound, Problem
from thenga.kernel.process.host import Host
from thenga.kernel.values.ids import new_id


class LinkRequired(Problem):
    """This provider is not linked to an account.

    If you have an account, sign in to it another way and link the provider there. Otherwise
    register first.
    """

    code, status, title = "identity-link-required", 409, "Link this provider to your account first"


class LastMethod(Problem):
    """Without this provider you could no longer sign in. Set a password first."""

    code, status, title = "identity-last-method", 409, "This is your only way to sign in"


def name_of(host: Host, issuer: str, subject: str) -> bytes:
    """Keyed hash of issuer and subject; neither can hold a zero byte."""
    return sealing.mac(host.key("external"), f"{issuer}\0{subject}".encode())


async def find_linked(read: Reader, person: ProviderPerson) -> UUID | None:
    """Whose account is linked to the person at the provider."""
    key = name_of(read.host, person.issuer, person.subject)
    await read.present(key)
    name = await read.find(ExternalName, hash=key)
    return None if name is None else name.user_id


async def link(
    work: Work, user_id: UUID, provider: IdentityProvider, person: ProviderPerson
) -> None:
    """Link the person of this work; two people never share one, nor has one two of a provider."""
    known = await find_linked(work, person)
    if known == user_id:
        return
    if known is not None:
        raise Duplicate("This account at the provider is linked to somebody else.")
    if await work.find(ExternalIdentity, provider_id=provider.id) is not None:
        raise Duplicate("You already have a link to this provider. Remove it first.")
    key = name_of(work.host, person.issuer, person.subject)
    await work.present(key)
    await work.add(ExternalName(hash=key, user_id=user_id))
    await work.add(
        ExternalIdentity(
            id=new_id(),
            user_id=user_id,
            provider_id=provider.id,
            provider=provider.code,
            issuer=person.issuer,
            subject=person.subject,
            masked_email=mask(person.email),
            linked_at=work.now,
        )
    )


async def list_identities(read: Reader, paged: Paged) -> Slice[ExternalIdentity]:
    """The providers that one's account is linked to."""
    return await read.page(select(ExternalIdentity), paged)


async def unlink(work: Work, external_identity_id: UUID) -> None:
    """Remove a link, unless it is the person's only way to sign in."""
    step_up.demand(work)
    held = await work.lock(ExternalIdentity, external_identity_id)
    every = await work.all(select(ExternalIdentity))
    if len(every) == 1 and await work.find(Password) is None:
        raise LastMethod()
    key = name_of(work.host, held.issuer, held.subject)
    await work.present(key)
    name = await work.find(ExternalName, hash=key)
    if name is None:
        raise NotFound()
    await work.remove(name)
    await work.remove(held)
    work.note(
        "identity.external_identity.removed",
        ("external_identity", held.id),
        {"provider": held.provider},
    )


def mask(email: str | None) -> str | None:
    """Enough for the person to know the address again: `l***@mokoena.co.za`."""
    if email is None:
        return None
    local, _, domain = email.rpartition("@")
    return f"{local[:1]}***@{domain}"
