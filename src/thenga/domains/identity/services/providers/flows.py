"""The way to a provider and back: `state`, nonce, PKCE, and a secret of whoever began it."""

import secrets
from dataclasses import dataclass
from datetime import datetime, timedelta
from urllib.parse import urlsplit
from uuid import UUID

from authlib.common.urls import add_params_to_uri
from authlib.oauth2.rfc6749.parameters import prepare_grant_uri
from authlib.oauth2.rfc7636 import create_s256_code_challenge

from thenga.domains.identity import settings
from thenga.domains.identity.services.providers import catalogue, tickets
from thenga.domains.identity.tables import FlowPurpose, IdentityProvider, ProviderFlow
from thenga.kernel.access.actors import Actor, ActorKind
from thenga.kernel.crypto import tokens
from thenga.kernel.db import configuration, sealed, step_up
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.work import Work
from thenga.kernel.errors import NotFound, RuleViolated, Unauthenticated
from thenga.kernel.values.ids import new_id

LIVES = timedelta(minutes=10)
_CHANCE_BYTES = 32


@dataclass(frozen=True)
class StartedFlow:
    """Where the browser goes now, and the secret that the client keeps meanwhile."""

    id: UUID
    authorization_url: str
    flow_secret: str
    expires_at: datetime


async def start_flow(
    work: Work, code: str, *, return_to: str, purpose: FlowPurpose | None
) -> StartedFlow:
    """Begin a sign-in at a provider, or for somebody who is signed in a link to it."""
    provider = await catalogue.find_active(work, code)
    await _check_return(work, return_to)
    who = _linking(work, purpose)
    state, nonce, verifier = (secrets.token_urlsafe(_CHANCE_BYTES) for _ in range(3))
    flow_secret, digest = tokens.mint(tokens.Prefix.FLOW), tokens.digest(state)
    await work.present(digest)
    flow = await work.add(
        ProviderFlow(
            id=new_id(),
            hash=digest,
            provider_id=provider.id,
            purpose=FlowPurpose.SIGN_IN if who is None else FlowPurpose.LINK,
            user_id=None if who is None else who.id,
            session_id=None if who is None else who.session_id,
            flow_hash=tokens.digest(flow_secret),
            nonce=nonce,
            verifier_sealed=sealed.seal(
                work.host, ProviderFlow, "verifier_sealed", verifier.encode(), hash=digest
            ),
            return_to=return_to,
            expires_at=work.now + LIVES,
        )
    )
    url = _authorization_url(work, provider, state=state, nonce=nonce, verifier=verifier)
    return StartedFlow(flow.id, url, flow_secret, flow.expires_at)


def _linking(work: Work, purpose: FlowPurpose | None) -> Actor | None:
    """Who links the provider to their account; None if this is a sign-in."""
    signed_in = work.actor.kind is ActorKind.USER
    if purpose is FlowPurpose.SIGN_IN or (purpose is None and not signed_in):
        return None
    if not signed_in:
        raise Unauthenticated("Sign in before you link a provider to your account.")
    step_up.demand(work)  # whoever finds an open browser must not add a way in
    return work.actor


def _authorization_url(
    work: Work, provider: IdentityProvider, *, state: str, nonce: str, verifier: str
) -> str:
    url: str = prepare_grant_uri(
        provider.authorization_endpoint,
        provider.client_id,
        "code",
        redirect_uri=catalogue.redirect_uri(work.host, provider.code),
        scope=provider.scopes,
        state=state,
        nonce=nonce,
        code_challenge=create_s256_code_challenge(verifier),
        code_challenge_method="S256",
    )
    return url


async def end_flow(
    work: Work, provider_code: str, *, state: str, code: str | None, issuer: str | None
) -> str:
    """Where the browser goes on: with a ticket for the code, or with `error=refused`.

    A `state` works once. The code is redeemed by a job, because the provider may be slow.
    """
    digest = tokens.digest(state)
    await work.present(digest)
    try:
        flow = await work.lock_by(ProviderFlow, hash=digest)
    except NotFound:
        origins = await configuration.value(work, settings.PROVIDER_RETURN_ORIGINS)
        return _returning(origins[0] + "/", error="refused")
    provider = await work.get(IdentityProvider, flow.provider_id)
    over = flow.used_at is not None or flow.expires_at <= work.now
    flow.used_at = flow.used_at or work.now
    await work.save(flow)
    other = provider.code != provider_code or issuer not in (None, provider.issuer)
    if over or other or code is None or not provider.active:
        return _returning(flow.return_to, error="refused")
    verifier = sealed.unseal(work.host, flow, "verifier_sealed").decode()
    ticket = await tickets.issue(work, flow, code=code, verifier=verifier)
    return _returning(flow.return_to, ticket=ticket)


def _returning(address: str, **told: str) -> str:
    found: str = add_params_to_uri(address, list(told.items()))
    return found


async def _check_return(read: Reader, return_to: str) -> None:
    """Refuse to send a browser outside our own pages."""
    allowed = await configuration.value(read, settings.PROVIDER_RETURN_ORIGINS)
    if _origin(return_to) not in allowed:
        raise RuleViolated(
            f"`returnTo` must start with one of {', '.join(allowed)}.",
            rule="IDN-16",
            allowed=list(allowed),
        )


def _origin(address: str) -> str | None:
    """Scheme and host of an address. None if it is not valid."""
    try:
        parts = urlsplit(address)
    except ValueError:
        return None
    return f"{parts.scheme}://{parts.netloc}"
