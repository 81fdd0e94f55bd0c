"""A provider of OpenID Connect on loopback: PKCE, codes that work once, keys that rotate.

It signs with `cryptography` alone, so nothing of the code under test signs what that code verifies.
"""

import base64
import hashlib
import hmac
import json
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from functools import cache
from typing import Any
from urllib.parse import parse_qsl, urlsplit
from uuid import uuid4

from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import padding, rsa
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

CLIENT_ID, CLIENT_SECRET = "thenga-web", "s3cret-of-the-client"


@cache
def key(number: int) -> rsa.RSAPrivateKey:
    """The keys that providers of this run sign with; making one takes a moment."""
    return rsa.generate_private_key(public_exponent=65537, key_size=2048)


def jwk(number: int, kid: str) -> dict[str, Any]:
    public = key(number).public_key().public_numbers()
    parts = {"n": _number(public.n), "e": _number(public.e)}
    return {"kty": "RSA", "use": "sig", "alg": "RS256", "kid": kid} | parts


@dataclass
class OpenIdServer:
    """One provider; tests turn `claims`, `sign_with` and the keys to make it lie."""

    now: Callable[[], datetime]
    issuer: str = ""
    number: int = 0  # the key it signs with
    kid: str = "first"
    sign_with: str = "RS256"
    claims: dict[str, Any] = field(default_factory=dict)
    dropped: tuple[str, ...] = ()
    away: bool = False
    asked_for_keys: int = 0
    exchanged: int = 0
    codes: dict[str, dict[str, Any]] = field(default_factory=dict)

    @property
    def app(self) -> Starlette:
        return Starlette(
            routes=[
                Route("/.well-known/openid-configuration", self._describe),
                Route("/keys", self._keys),
                Route("/token", self._token, methods=["POST"]),
            ]
        )

    def rotate(self) -> None:
        self.number, self.kid = 1, "second"

    def authorize(self, authorization_url: str, **person: Any) -> dict[str, str]:
        """What a browser brings back from the page where somebody signs in and agrees."""
        asked = dict(parse_qsl(urlsplit(authorization_url).query))
        assert asked["client_id"] == CLIENT_ID and asked["response_type"] == "code"
        assert asked["code_challenge_method"] == "S256" and "openid" in asked["scope"].split()
        code = uuid4().hex
        self.codes[code] = {"asked": asked, "person": person}
        return {"state": asked["state"], "code": code, "scope": asked["scope"], "prompt": "none"}

    async def _describe(self, request: Request) -> Response:
        return JSONResponse(
            {
                "issuer": self.issuer,
                "authorization_endpoint": f"{self.issuer}/authorize",
                "token_endpoint": f"{self.issuer}/token",
                "jwks_uri": f"{self.issuer}/keys",
            }
        )

    async def _keys(self, request: Request) -> Response:
        self.asked_for_keys += 1
        return JSONResponse({"keys": [jwk(self.number, self.kid)]})

    async def _token(self, request: Request) -> Response:
        if self.away:
            return JSONResponse({}, 503)
        form = dict(parse_qsl((await request.body()).decode()))
        known = self.codes.pop(form.get("code", ""), None)
        basic = base64.b64encode(f"{CLIENT_ID}:{CLIENT_SECRET}".encode()).decode()
        if request.headers.get("authorization") != f"Basic {basic}" or known is None:
            return JSONResponse({"error": "invalid_grant"}, 400)
        asked = known["asked"]
        digest = hashlib.sha256(form["code_verifier"].encode()).digest()
        if (
            _text(digest) != asked["code_challenge"]
            or form["redirect_uri"] != asked["redirect_uri"]
        ):
            return JSONResponse({"error": "invalid_grant"}, 400)
        self.exchanged += 1
        now = int(self.now().timestamp())
        claims = {
            "iss": self.issuer,
            "aud": CLIENT_ID,
            "nonce": asked["nonce"],
            "iat": now,
            "exp": now + 300,
            **known["person"],
            **self.claims,
        }
        said = {name: value for name, value in claims.items() if name not in self.dropped}
        return JSONResponse({"token_type": "Bearer", "id_token": self._signed(said)})

    def _signed(self, claims: dict[str, Any]) -> str:
        header = {"alg": self.sign_with, "kid": self.kid, "typ": "JWT"}
        head = ".".join(_text(json.dumps(one).encode()) for one in (header, claims))
        return f"{head}.{_text(self._signature(head.encode()))}"

    def _signature(self, signed: bytes) -> bytes:
        signer = key(self.number)
        if self.sign_with == "none":
            return b""
        if self.sign_with == "HS256":  # the public key, taken for a shared secret
            public = signer.public_key().public_bytes(
                serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
            )
            return hmac.new(public, signed, hashlib.sha256).digest()
        return signer.sign(signed, padding.PKCS1v15(), hashes.SHA256())


def _text(octets: bytes) -> str:
    return base64.urlsafe_b64encode(octets).rstrip(b"=").decode()


def _number(number: int) -> str:
    return _text(number.to_bytes((number.bit_length() + 7) // 8, "big"))
