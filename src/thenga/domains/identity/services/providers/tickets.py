"""Tickets: what a browser brings back from a provider, redeemed by a job, used once."""

from dataclasses import asdict
from datetime import timedelta

import orjson

from thenga.domains.identity.services.providers import catalogue
from thenga.domains.identity.tables import IdentityProvider, ProviderFlow, ProviderTicket
from thenga.domains.identity.values.openid import CodeExchange, ProviderPerson, Redeemed
from thenga.kernel.crypto import tokens
from thenga.kernel.db import sealed
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.work import Work
from thenga.kernel.declare.job import Form, job_stub
from thenga.kernel.values.ids import new_id

LIVES = timedelta(minutes=1)

# A code works once and a ticket lives a minute, so there is no use in trying for long.
redeem_ticket = job_stub(
    "identity.redeem_ticket", form=Form.OUTSIDE, key="{ticket_hash}", retries=2
)


async def issue(work: Work, flow: ProviderFlow, *, code: str, verifier: str) -> str:
    """A ticket for the browser; the code waits sealed for the job that redeems it."""
    text = tokens.mint(tokens.Prefix.TICKET)
    digest = tokens.digest(text)
    exchange = orjson.dumps({"code": code, "verifier": verifier})
    await work.present(digest)
    await work.add(
        ProviderTicket(
            id=new_id(),
            hash=digest,
            provider_id=flow.provider_id,
            purpose=flow.purpose,
            user_id=flow.user_id,
            session_id=flow.session_id,
            flow_hash=flow.flow_hash,
            nonce=flow.nonce,
            exchange_sealed=sealed.seal(
                work.host, ProviderTicket, "exchange_sealed", exchange, hash=digest
            ),
            expires_at=work.now + LIVES,
        )
    )
    work.enqueue(redeem_ticket, ticket_hash=digest.hex())
    return text


async def exchange_of(read: Reader, digest: bytes) -> CodeExchange | None:
    """What to ask the provider; None if the ticket was redeemed or its time is over."""
    await read.present(digest)
    ticket = await read.find(ProviderTicket, hash=digest)
    if ticket is None or ticket.exchange_sealed is None or ticket.expires_at <= read.now:
        return None
    provider = await read.get(IdentityProvider, ticket.provider_id)
    asked = orjson.loads(sealed.unseal(read.host, ticket, "exchange_sealed"))
    return CodeExchange(
        provider=catalogue.settings_of(read.host, provider),
        code=asked["code"],
        verifier=asked["verifier"],
        nonce=ticket.nonce,
        redirect_uri=catalogue.redirect_uri(read.host, provider.code),
        at=read.now,
    )


async def record_redeemed(work: Work, digest: bytes, redeemed: Redeemed) -> None:
    """Keep whom the provider named, and forget the code; new keys of the provider are fetched."""
    await work.present(digest)
    ticket = await work.lock_by(ProviderTicket, hash=digest)
    ticket.exchange_sealed, ticket.redeemed_at = None, work.now
    if redeemed.person is not None:
        person = orjson.dumps(asdict(redeemed.person))
        ticket.person_sealed = sealed.seal(
            work.host, ProviderTicket, "person_sealed", person, hash=digest
        )
    await work.save(ticket)
    if redeemed.rotated:
        work.enqueue(catalogue.follow_integration, integration_id=ticket.provider_id)


def person_of(read: Reader, ticket: ProviderTicket) -> ProviderPerson | None:
    """Whom the provider named; None if it refused the code, or its token was not good."""
    if ticket.person_sealed is None:
        return None
    return ProviderPerson(**orjson.loads(sealed.unseal(read.host, ticket, "person_sealed")))
