"""The fingerprint of a secret: shows whether it changed, and tells nothing else (ADM-38)."""

import hashlib
import hmac

from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

_INFO = b"thenga/administration/fingerprint/v1"


def fingerprint(root: bytes, name: str, secret: str) -> str:
    """Six bytes as three groups, the same as long as the platform's root key is."""
    key = HKDF(algorithm=SHA256(), length=32, salt=None, info=_INFO).derive(root)
    digest = hmac.new(key, name.encode() + b"\x00" + secret.encode(), hashlib.sha256).hexdigest()
    return f"{digest[:4]}-{digest[4:8]}-{digest[8:12]}"
