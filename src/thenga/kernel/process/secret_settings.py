"""The secrets of a deployment: which there are, which are too weak, and passwords made of them."""

import hmac
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple, Protocol
from urllib.parse import urlsplit

from pydantic import SecretStr

from thenga.kernel.crypto.sealing import KEY_BYTES
from thenga.kernel.declare.variable import Variable
from thenga.kernel.process.settings import SettingRefused, Settings

_LEAST_DISTINCT = 8  # different bytes; of 32 random ones about 30 differ, of 32 hex digits 14
_LEAST_GIVEN = 8  # bytes of a secret that a provider made, such as the passphrase of PayFast


class HasSecrets(Protocol):
    """A domain, as far as its secrets are concerned."""

    @property
    def name(self) -> str: ...

    @property
    def environment(self) -> Sequence[Variable]: ...


class WeakSecret(SettingRefused):
    """A secret that is none; the text has the name of the setting and never its value."""


class Secret(NamedTuple):
    """One secret of this process, by the name of its setting."""

    setting: str
    value: str
    is_key: bool = False  # 32 bytes in hex
    least: int = KEY_BYTES


def sealing_keys(settings: Settings) -> list[bytes]:
    """The key that seals, then those that only open."""
    former = [one.strip() for one in settings.sealing_keys_former.get_secret_value().split(",")]
    return [
        _key("THENGA_SEALING_KEY", settings.sealing_key.get_secret_value()),
        *(_key("THENGA_SEALING_KEYS_FORMER", one) for one in former if one),
    ]


def lookup_key(settings: Settings) -> bytes:
    return _key("THENGA_LOOKUP_KEY", settings.lookup_key.get_secret_value())


def check(settings: Settings, domains: Sequence[HasSecrets]) -> None:
    """Refuse weak secrets (SEC-62): in production all of them, elsewhere keys that are no keys."""
    sealing_keys(settings)
    lookup_key(settings)
    for name in ("database", "system_database", "nats"):
        secret = getattr(settings, f"{name}_secret").get_secret_value()
        if "{password}" in getattr(settings, name) and not secret:
            raise WeakSecret(f"{_setting(name)}_SECRET: not set, and the passwords are made of it")
    if not settings.production:
        return
    known: dict[str, str] = {}
    for secret in held(settings, domains):
        check_one(secret)
        value = secret.value.lower()  # hex is the same in either case
        if (other := known.get(value)) is not None:
            raise WeakSecret(f"{secret.setting}: equal to {other}; each needs its own value")
        known[value] = secret.setting


def check_one(secret: Secret) -> None:
    if (fault := _fault(secret)) is not None:
        raise WeakSecret(f"{secret.setting}: {fault}")


def held(settings: Settings, domains: Sequence[HasSecrets]) -> Iterator[Secret]:
    """The secrets that this process was given, and those that none can do without."""
    for name in ("sealing_key", "sealing_keys_former", "lookup_key", "internal_secret"):
        value = getattr(settings, name).get_secret_value()
        if name == "sealing_keys_former":
            yield from _several(name, value, is_key=True)
        else:
            yield Secret(_setting(name), value, is_key=True)
    for name in ("database", "system_database", "nats"):
        yield from _of_logins(settings, name, domains)
    if admin := settings.admin_database.get_secret_value():
        yield Secret("THENGA_ADMIN_DATABASE", urlsplit(admin).password or "")
    if settings.files_access_key.get_secret_value():  # without one the machine has a role
        yield Secret("THENGA_FILES_SECRET_KEY", settings.files_secret_key.get_secret_value())
    for domain in domains:
        for variable in domain.environment:
            value = settings.of_domain(variable.name, domain.name) if variable.is_secret else ""
            yield from _several(f"{variable.name}_{domain.name}", value, least=_LEAST_GIVEN)


def _of_logins(settings: Settings, name: str, domains: Sequence[HasSecrets]) -> Iterator[Secret]:
    """The secret that the passwords of one kind of login are made of, or a password by itself."""
    secret = getattr(settings, f"{name}_secret").get_secret_value()
    if template := getattr(settings, name):
        if "{password}" not in template:
            raise WeakSecret(f"{_setting(name)}: must have {{password}} in place of a password")
        yield Secret(_setting(f"{name}_secret"), secret)
    for domain in domains:
        address = settings.of_domain(name, domain.name)
        if address and "{password}" not in address:
            password = urlsplit(address.replace("{login}", "login")).password
            yield Secret(_setting(f"{name}_{domain.name}"), password or "")


def _several(
    name: str, values: str, *, is_key: bool = False, least: int = KEY_BYTES
) -> Iterator[Secret]:
    """The secrets of a setting that may hold several, comma separated; none where it is empty."""
    for one in values.split(",") if values else ():
        yield Secret(_setting(name), one.strip(), is_key, least)


def _setting(name: str) -> str:
    return f"THENGA_{name}".upper()


def address(template: str, secret: SecretStr, login: str) -> str:
    """Where a login connects, with the password that is its own."""
    filled = template.replace("{login}", login)
    if "{password}" not in filled:
        return filled
    if not secret.get_secret_value():
        raise WeakSecret("an address has {password}, and the secret for it is not set")
    return filled.replace("{password}", password(secret.get_secret_value(), login))


def password(secret: str, login: str) -> str:
    """The password of one login; it reveals neither the secret nor any other password."""
    return hmac.digest(secret.encode(), f"thenga/login/{login}".encode(), "sha256").hex()


def _key(setting: str, text: str) -> bytes:
    key = _from_hex(text)
    if len(key) != KEY_BYTES:
        raise WeakSecret(f"{setting}: must be {KEY_BYTES} bytes in hex")
    return key


def _fault(secret: Secret) -> str | None:
    hidden = _from_hex(secret.value)
    if secret.is_key and len(hidden) != KEY_BYTES:
        return f"must be {KEY_BYTES} bytes in hex"
    if len(secret.value.encode()) < secret.least:
        return f"must have at least {secret.least} bytes"
    if _is_plain(secret.value.encode()) or (hidden and _is_plain(hidden)):
        return "is constant or follows a pattern; use random bytes"
    return None


def _from_hex(text: str) -> bytes:
    """The bytes that a text is the hex of; empty where it is no hex."""
    try:
        return bytes.fromhex(text)
    except ValueError:
        return b""


def _is_plain(value: bytes) -> bool:
    return len(set(value)) < _LEAST_DISTINCT or _repeats(value) or _counts(value)


def _repeats(value: bytes) -> bool:
    """Whether it is one part, at most half as long, over and over."""
    return any(
        value == (value[:length] * (len(value) // length + 1))[: len(value)]
        for length in range(1, len(value) // 2 + 1)
    )


def _counts(value: bytes) -> bool:
    """Whether each byte is the one before plus the same step."""
    return len({(b - a) % 256 for a, b in pairwise(value)}) == 1
