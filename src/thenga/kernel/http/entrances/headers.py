"""What entrances read from the headers of a request."""

import hashlib
import re
from base64 import b64decode
from urllib.parse import unquote
from uuid import UUID

from fastapi import Request

from thenga.kernel.crypto import sealing
from thenga.kernel.db.idempotency import Key
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.work import Work
from thenga.kernel.errors import MalformedRequest, ValidationFailed
from thenga.kernel.http.observe import RequestFacts
from thenga.kernel.http.shared import Shared

_NOWHERE = UUID(int=0)  # an organization that nobody belongs to
_KEY = re.compile(r"[!-~]{1,255}")
_DIGEST = re.compile(r"(?:^|[,\s])sha-256=:([A-Za-z0-9+/]{43}=):")
# Percent-encoded UTF-8 without control characters, 10 to 500 characters, no blank at the ends.
_HEX, _MORE = "[0-9A-F]", "%[89AB][0-9A-F]"
_INK = (
    rf"[!-$&-~]|%2[1-9A-F]|%[3-6]{_HEX}|%7[0-9A-E]|%C2%[AB]{_HEX}|%(?:C[3-9A-F]|D{_HEX}){_MORE}"
    rf"|%E0%[AB]{_HEX}{_MORE}|%E[1-9A-CEF]{_MORE}{_MORE}|%ED%[89]{_HEX}{_MORE}"
    rf"|%F0%[9AB]{_HEX}{_MORE}{_MORE}|%F[1-3]{_MORE}{_MORE}{_MORE}|%F4%8{_HEX}{_MORE}{_MORE}"
)
REASON_PATTERN = rf"^(?:{_INK})(?:{_INK}| |%20){{8,498}}(?:{_INK})$"
_REASON = re.compile(REASON_PATTERN)
_TAG = re.compile(r'(?:W/)?"([0-9]{1,18})(?:-[0-9a-f]{16})?"')


def organization_asked(request: Request, facts: RequestFacts) -> UUID | None:
    """The path names it, else the header; both must agree, and another's is answered with 404.

    What cannot be anybody's is asked of the gate like the rest: who is unknown hears 401 first.
    """
    in_path = request.path_params.get("organizationId")
    header = facts.headers.get(b"x-organization-id")
    in_header = None if header is None else header.decode("latin-1")
    if in_path is not None and in_header is not None and in_path.lower() != in_header.lower():
        return _NOWHERE
    asked = in_path or in_header
    if asked is None:
        return None
    try:
        return UUID(asked)
    except ValueError:
        return _NOWHERE


def digest_of(content_digest: str | None) -> str | None:
    """The SHA-256 in hex that the sender promises (RFC 9530); other algorithms are passed over."""
    found = None if content_digest is None else _DIGEST.search(content_digest)
    return None if found is None else b64decode(found[1]).hex()


def version_of(if_match: str | None) -> int | None:
    if if_match is None or if_match.strip() == "*":
        return None
    written = _TAG.fullmatch(if_match.strip())
    if written is None:
        told = 'Send the ETag exactly as you received it, or the version in quotes: "3".'
        raise _unfit("If-Match", "version", told)
    return int(written[1])


def reason_of(facts: RequestFacts, *, required: bool) -> str | None:
    """Why staff look at what is a customer's, in percent-encoded UTF-8."""
    sent = facts.headers.get(b"x-admin-reason")
    if sent is None:
        if not required:
            return None
        raise _unfit("X-Admin-Reason", "missing", _SAY_WHY)
    written = sent.decode("latin-1")
    if _REASON.fullmatch(written) is None:
        raise _unfit("X-Admin-Reason", "reason", _SAY_WHY)
    return unquote(written)


_SAY_WHY = "Say why you need to see this, in 10 to 500 characters of percent-encoded UTF-8."


def _unfit(header: str, code: str, detail: str) -> ValidationFailed:
    return ValidationFailed(
        errors=[{"pointer": f"/header/{header}", "code": code, "detail": detail}]
    )


async def note_key(request: Request, shared: Shared, unit: Reader) -> None:
    """Note the `Idempotency-Key`, once the body is there that it is compared with."""
    key = request.headers.get("idempotency-key")
    if key is not None and isinstance(unit, Work):
        unit.idempotency = _key_of(request, shared, key, unit)


def _key_of(request: Request, shared: Shared, key: str, work: Work) -> Key:
    if _KEY.fullmatch(key) is None:
        raise MalformedRequest("An Idempotency-Key consists of 1 to 255 visible ASCII characters.")
    path = request.scope["path"]
    parts = (work.actor.id, work._scope.organization_id, request.method, path, key)
    digest = hashlib.sha256("\n".join(map(str, parts)).encode()).digest()
    # Bodies can hold secrets, so their hash is keyed.
    body = request.scope["thenga"].body or b""
    return Key(digest, sealing.mac(shared.host.key("idempotency"), body))
