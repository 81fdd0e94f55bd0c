"""OpenID Connect through the outbound client: discovery, keys, code exchange, ID token (IDN-16)."""

from typing import Annotated, Any
from urllib.parse import urlsplit

from authlib.oauth2.auth import ClientAuth
from authlib.oauth2.rfc6749.parameters import prepare_token_request
from joserfc import jwt
from joserfc.errors import InvalidKeyIdError, JoseError
from joserfc.jwk import KeySet
from pydantic import TypeAdapter, ValidationError

from thenga.domains.identity.values.openid import (
    ALGORITHMS,
    CodeExchange,
    OpenIdClient,
    ProviderDocument,
    ProviderPerson,
    Redeemed,
)
from thenga.kernel.crypto import sealing
from thenga.kernel.outside.outbound import Outbound, Reply, Silence
from thenga.kernel.process.host import Host
from thenga.kernel.values.fields import Email, text

LEEWAY_SECONDS = 60
_LONGEST_SUBJECT = 255
_FORM = {"Content-Type": "application/x-www-form-urlencoded", "Accept": "application/json"}
_PUBLIC = ("RSA", "EC", "OKP")
_AUTH = ("client_secret_basic", "client_secret_post")
_READ_EMAIL: TypeAdapter[str] = TypeAdapter(Email)
_READ_NAME: TypeAdapter[str] = TypeAdapter(Annotated[str, text(1, 120)])


class OpenId(OpenIdClient):
    """Every provider that follows the standard."""

    def __init__(self, host: Host) -> None:
        self._host = host

    async def describe(self, issuer: str) -> ProviderDocument:
        """The provider's own description; one that names another issuer counts as silence."""
        address = f"{issuer.rstrip('/')}/.well-known/openid-configuration"
        found = (await _get(address)).json
        if found.get("issuer") != issuer:
            raise Silence("another issuer")
        known = found.get("token_endpoint_auth_methods_supported") or _AUTH[:1]
        jwks_uri = _endpoint(found, "jwks_uri", issuer)
        return ProviderDocument(
            authorization_endpoint=_endpoint(found, "authorization_endpoint", issuer),
            token_endpoint=_endpoint(found, "token_endpoint", issuer),
            jwks_uri=jwks_uri,
            token_auth=next((one for one in _AUTH if one in known), _AUTH[0]),
            keys=await _fetch_keys(jwks_uri),
        )

    async def redeem(self, exchange: CodeExchange) -> Redeemed:
        """Exchange the code and verify the ID token; an unknown key is looked for once."""
        token = await _exchange(exchange)
        if token is None:
            return Redeemed(None)
        document = exchange.provider.document
        try:
            return Redeemed(verify(exchange, token, document.keys))
        except InvalidKeyIdError:
            keys = await _fetch_keys(document.jwks_uri)
        try:
            return Redeemed(verify(exchange, token, keys), rotated=True)
        except InvalidKeyIdError:
            return Redeemed(None)


def verify(exchange: CodeExchange, token: str, keys: list[dict[str, Any]]) -> ProviderPerson | None:
    """The person of an ID token; None if anything about it is wrong."""
    provider = exchange.provider
    allowed = sorted(ALGORITHMS & {*provider.algorithms})
    if not allowed:  # the library would take its own list for an empty one
        return None
    claimed = jwt.JWTClaimsRegistry(
        now=int(exchange.at.timestamp()),
        leeway=LEEWAY_SECONDS,
        iss={"essential": True, "value": provider.issuer},
        aud={"essential": True, "value": provider.client_id},
        sub={"essential": True},
        exp={"essential": True},
        iat={"essential": True},
    )
    try:
        claims = jwt.decode(token, KeySet.import_key_set({"keys": keys}), allowed).claims
        claimed.validate(claims)
    except InvalidKeyIdError:
        raise
    except (JoseError, ValueError):
        return None
    if not (is_own_nonce(claims, exchange.nonce) and _is_for_us(claims, provider.client_id)):
        return None
    if len(claims["sub"]) > _LONGEST_SUBJECT:
        return None
    return ProviderPerson(
        issuer=provider.issuer,
        subject=claims["sub"],
        email=_read(_READ_EMAIL, claims.get("email")),
        email_verified=claims.get("email_verified") is True,
        name=_read(_READ_NAME, claims.get("name")),
    )


def is_own_nonce(claims: dict[str, Any], nonce: str) -> bool:
    """Whether the token answers the request that we made, and no other."""
    return sealing.equal(str(claims.get("nonce", "")).encode(), nonce.encode())


def _is_for_us(claims: dict[str, Any], client_id: str) -> bool:
    """A token for several clients names the one that it was issued to."""
    several = isinstance(claims["aud"], list) and len(claims["aud"]) > 1
    return bool(claims.get("azp", None if several else client_id) == client_id)


def _read(adapter: TypeAdapter[str], claim: object) -> str | None:
    try:
        return adapter.validate_python(claim)
    except ValidationError:
        return None


async def _exchange(exchange: CodeExchange) -> str | None:
    """The ID token for a code, or None if the provider refuses the code."""
    provider = exchange.provider
    body = prepare_token_request(
        "authorization_code",
        code=exchange.code,
        redirect_uri=exchange.redirect_uri,
        code_verifier=exchange.verifier,
    )
    known_by = ClientAuth(provider.client_id, provider.client_secret, provider.document.token_auth)
    address, headers, body = known_by.prepare(
        "POST", provider.document.token_endpoint, dict(_FORM), body
    )
    reply = await _call("POST", address, headers, body.encode())
    token = reply.json.get("id_token") if reply.status == 200 else None
    return token if isinstance(token, str) else None


async def _fetch_keys(address: str) -> list[dict[str, Any]]:
    """The provider's public keys for signatures; a symmetric one is never among them."""
    found = (await _get(address)).json.get("keys")
    if not isinstance(found, list):
        raise Silence("no keys")
    return [
        one
        for one in found
        if isinstance(one, dict) and one.get("kty") in _PUBLIC and one.get("use") != "enc"
    ]


async def _get(address: str) -> Reply:
    reply = await _call("GET", address, {"Accept": "application/json"}, None)
    if reply.status != 200:
        raise Silence(f"status {reply.status}")
    return reply


async def _call(method: str, address: str, headers: dict[str, str], body: bytes | None) -> Reply:
    parts = urlsplit(address)
    path = f"{parts.path}?{parts.query}" if parts.query else parts.path
    way_out = Outbound(f"{parts.scheme}://{parts.netloc}")
    return await way_out.send(method, path, headers=headers, content=body)


def _endpoint(found: dict[str, Any], name: str, issuer: str) -> str:
    """An address of the description; only a provider on loopback can name others there."""
    address = found.get(name)
    schemes = {"https", urlsplit(issuer).scheme}
    if not isinstance(address, str) or urlsplit(address).scheme not in schemes:
        raise Silence(f"no {name}")
    return address
