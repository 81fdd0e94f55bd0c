"""Sealing (AES-256-GCM), keys derived from keys (HKDF), and message codes (HMAC), all SHA-256.

A `Ring` holds the keys of one purpose while they rotate: the first seals, all of them open.
"""

import hmac
import secrets
from collections.abc import Sequence

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

KEY_BYTES = 32
_VERSION = b"\x01"
_NAMED = b"\x02"  # followed by the id of the key, then by what `seal` makes
_ID_BYTES = 4
_NONCE_BYTES = 12
_TAG_BYTES = 16
_SHORTEST = len(_VERSION) + _NONCE_BYTES + _TAG_BYTES


class BrokenSeal(Exception):
    """The bytes were changed, or were sealed under another key or for another purpose."""


def seal(key: bytes, plaintext: bytes, *, aad: bytes) -> bytes:
    """Version byte, random nonce, ciphertext; `aad` says what it is for and must be given again.

    A nonce is random, so one key is good for some four thousand million seals: derive a key per
    purpose instead of sealing everything under one.
    """
    nonce = secrets.token_bytes(_NONCE_BYTES)
    return _VERSION + nonce + _cipher(key).encrypt(nonce, plaintext, _VERSION + aad)


def unseal(key: bytes, sealed: bytes, *, aad: bytes) -> bytes:
    cipher = _cipher(key)
    if len(sealed) < _SHORTEST or sealed[:1] != _VERSION:
        raise BrokenSeal
    nonce, ciphertext = sealed[1 : 1 + _NONCE_BYTES], sealed[1 + _NONCE_BYTES :]
    try:
        return cipher.decrypt(nonce, ciphertext, _VERSION + aad)
    except InvalidTag:
        raise BrokenSeal from None


class Ring:
    """The keys of one purpose, derived from the master keys: the first seals, all open (SEC-62).

    What it seals names its key, so a row tells whether it must be sealed again.
    """

    def __init__(self, masters: Sequence[bytes], info: bytes) -> None:
        self._keys = {key_id(master): derive(master, info) for master in masters}
        if not self._keys:
            raise ValueError("a ring has at least one key")
        if len(self._keys) != len(masters):
            raise ValueError("two keys of a ring have the same id")
        self.prefix = _NAMED + next(iter(self._keys))  # how everything begins that it seals now

    def seal(self, plaintext: bytes, *, aad: bytes) -> bytes:
        key = self._keys[self.prefix[1:]]
        return self.prefix + seal(key, plaintext, aad=self.prefix + aad)

    def unseal(self, sealed: bytes, *, aad: bytes) -> bytes:
        head = sealed[: 1 + _ID_BYTES]
        if head[:1] == _VERSION:
            return self._unseal_unnamed(sealed, aad)
        key = self._keys.get(head[1:])
        if head[:1] != _NAMED or key is None:
            raise BrokenSeal
        return unseal(key, sealed[len(head) :], aad=head + aad)

    def _unseal_unnamed(self, sealed: bytes, aad: bytes) -> bytes:
        """What was sealed before keys had ids: whichever key opens it."""
        for key in self._keys.values():
            try:
                return unseal(key, sealed, aad=aad)
            except BrokenSeal:
                continue
        raise BrokenSeal


def key_id(master: bytes) -> bytes:
    """What names a key in the bytes it sealed; it tells nothing about the key."""
    if len(master) != KEY_BYTES:
        raise ValueError("a sealing key has 32 bytes")
    return derive(master, b"thenga/key-id/v1")[:_ID_BYTES]


def derive(key: bytes, info: bytes, salt: bytes = b"") -> bytes:
    """A key of 32 bytes for one purpose, which tells nothing about the key it comes from."""
    return HKDF(algorithm=SHA256(), length=KEY_BYTES, salt=salt, info=info).derive(key)


def mac(key: bytes, message: bytes) -> bytes:
    return hmac.digest(key, message, "sha256")


def equal(a: bytes, b: bytes) -> bool:
    """Compared in a time that does not tell where they differ."""
    return hmac.compare_digest(a, b)


def _cipher(key: bytes) -> AESGCM:
    # The library would take 16 or 24 bytes too and then quietly be another cipher.
    if len(key) != KEY_BYTES:
        raise ValueError("a sealing key has 32 bytes")
    return AESGCM(key)
