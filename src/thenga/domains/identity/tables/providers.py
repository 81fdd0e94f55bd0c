"""Providers of OpenID Connect, sign-ins that are under way there, and whom they know (IDN-16)."""

from datetime import datetime
from enum import StrEnum
from typing import Any
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql as pg

from thenga.kernel.db.kinds import Kind
from thenga.kernel.db.rows import Col, Instant, Json, PersonalRow, Row, Sealed, col, status

Hash = sa.LargeBinary


class FlowPurpose(StrEnum):
    """What a sign-in at a provider is for."""

    SIGN_IN = "sign_in"
    LINK = "link"


class IdentityProvider(Row, table="identity.provider", kind=Kind.CATALOGUE):
    """A provider, under the id of its integration; its secret is sealed as it was handed out."""

    code: Col[str] = col(sa.Text)
    display_name: Col[str] = col(sa.Text)
    issuer: Col[str] = col(sa.Text)
    client_id: Col[str] = col(sa.Text)
    bound_to: Col[bytes] = col(sa.LargeBinary)
    secret_sealed: Col[bytes] = col(sa.LargeBinary, sealed=Sealed("integration", ("bound_to",)))
    scopes: Col[list[str]] = col(pg.ARRAY(sa.Text))
    algorithms: Col[list[str]] = col(pg.ARRAY(sa.Text))
    trusts_email: Col[bool] = col(sa.Boolean)
    active: Col[bool] = col(sa.Boolean)
    authorization_endpoint: Col[str] = col(sa.Text)
    token_endpoint: Col[str] = col(sa.Text)
    jwks_uri: Col[str] = col(sa.Text)
    token_auth: Col[str] = col(sa.Text)
    keys: Col[list[dict[str, Any]]] = col(Json)


class Begun(Row):
    """What a flow and its ticket have in common: whoever began it alone can end it."""

    hash: Col[bytes] = col(Hash)
    provider_id: Col[UUID] = col(pg.UUID)
    purpose: Col[FlowPurpose] = status(FlowPurpose)
    user_id: Col[UUID | None] = col(pg.UUID, nullable=True, default=None)  # who links
    session_id: Col[UUID | None] = col(pg.UUID, nullable=True, default=None)
    flow_hash: Col[bytes] = col(Hash, secret=True)  # of the flow secret
    nonce: Col[str] = col(sa.Text, secret=True)
    expires_at: Col[datetime] = col(Instant)
    used_at: Col[datetime | None] = col(Instant, nullable=True, default=None)


class ProviderFlow(Begun, table="identity.provider_flow", kind=Kind.BEARER, key=("hash",)):
    """Somebody was sent to a provider; found by the hash of `state` when they come back."""

    return_to: Col[str] = col(sa.Text)
    verifier_sealed: Col[bytes] = col(sa.LargeBinary, sealed=Sealed("provider-flow", ("hash",)))


class ProviderTicket(Begun, table="identity.provider_ticket", kind=Kind.BEARER, key=("hash",)):
    """Somebody came back with a code; found by the hash of the ticket they got for it."""

    exchange_sealed: Col[bytes | None] = col(
        sa.LargeBinary, nullable=True, default=None, sealed=Sealed("provider-flow", ("hash",))
    )  # code and verifier, until they are redeemed
    redeemed_at: Col[datetime | None] = col(Instant, nullable=True, default=None)
    person_sealed: Col[bytes | None] = col(
        sa.LargeBinary, nullable=True, default=None, sealed=Sealed("provider-flow", ("hash",))
    )  # whom the provider named; none if the code or the token was refused


class ExternalIdentity(PersonalRow, table="identity.external_identity", kind=Kind.PERSONAL):
    """That a person can sign in at a provider."""

    provider_id: Col[UUID] = col(pg.UUID)
    provider: Col[str] = col(sa.Text)
    issuer: Col[str] = col(sa.Text)
    subject: Col[str] = col(sa.Text, secret=True)
    masked_email: Col[str | None] = col(sa.Text, nullable=True, default=None, secret=True)
    linked_at: Col[datetime] = col(Instant)


class ExternalName(Row, table="identity.external_name", kind=Kind.BEARER, key=("hash",)):
    """Issuer and subject as a keyed hash; the only way from them to a person."""

    hash: Col[bytes] = col(Hash)
    user_id: Col[UUID] = col(pg.UUID)
