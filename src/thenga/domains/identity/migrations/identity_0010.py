"""Sign-in by a provider of OpenID Connect."""

from typing import Any

import sqlalchemy as sa

from thenga.kernel.db.columns import flag, ident, instant, json, octets, text, texts
from thenga.kernel.db.kinds import Kind
from thenga.kernel.db.migrating import make_table

revision = "identity_0010"
down_revision = "identity_0009"
branch_labels = None
depends_on = None


def upgrade() -> None:
    make_table(
        "identity.provider",
        Kind.CATALOGUE,
        text("code"),
        text("display_name"),
        text("issuer"),
        text("client_id"),
        octets("bound_to"),
        octets("secret_sealed"),
        texts("scopes"),
        texts("algorithms"),
        flag("trusts_email"),
        flag("active"),
        text("authorization_endpoint"),
        text("token_endpoint"),
        text("jwks_uri"),
        text("token_auth"),
        json("keys"),
        unique=[("code",)],
    )
    make_table(
        "identity.provider_flow",
        Kind.BEARER,
        *_begun(),
        text("return_to"),
        octets("verifier_sealed"),
        indexes=[("expires_at",)],
    )
    make_table(
        "identity.provider_ticket",
        Kind.BEARER,
        *_begun(),
        octets("exchange_sealed", nullable=True),
        instant("redeemed_at", nullable=True),
        octets("person_sealed", nullable=True),
        indexes=[("expires_at",)],
    )
    make_table(
        "identity.external_identity",
        Kind.PERSONAL,
        ident("provider_id"),
        text("provider"),
        text("issuer"),
        text("subject"),
        text("masked_email", nullable=True),
        instant("linked_at"),
        unique=[("user_id", "provider_id")],
        deletes=True,
    )
    make_table("identity.external_name", Kind.BEARER, ident("user_id"), deletes=True)


def _begun() -> list[sa.Column[Any]]:
    return [
        ident("provider_id"),
        text("purpose"),
        ident("user_id", nullable=True),
        ident("session_id", nullable=True),
        octets("flow_hash"),
        text("nonce"),
        instant("expires_at"),
        instant("used_at", nullable=True),
    ]
