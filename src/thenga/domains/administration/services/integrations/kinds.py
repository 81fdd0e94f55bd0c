"""The kinds of integration, each with the settings it takes and the names of its secrets."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated, Any, Literal
from urllib.parse import urlsplit

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    StringConstraints,
    ValidationError,
)
from pydantic.alias_generators import to_camel

from thenga.kernel.errors import Problem, ValidationFailed, extensions
from thenga.kernel.values.fields import Email, text, whole


class SettingsInvalid(Problem):
    """This kind of integration does not accept these settings. `errors` says where and why; the
    values are not repeated."""

    code, status, title = "administration-settings-invalid", 422, "These settings are not valid"
    members = extensions(**ValidationFailed.members)


def _is_plain_https(value: str) -> str:
    parts = urlsplit(value)
    if parts.scheme != "https" or not parts.hostname or parts.username or parts.password:
        raise ValueError("an address begins with https and names no user")
    return value


Hostname = Annotated[
    str, StringConstraints(pattern=r"^[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])$", max_length=253)
]
Word = Annotated[str, StringConstraints(pattern=r"^[\x21-\x7e]+$", max_length=200)]
Label = Annotated[str, text(1, 100)]
Address = Annotated[
    str,
    StringConstraints(pattern=r"^[\x21-\x7e]+$", max_length=300),
    AfterValidator(_is_plain_https),
]
PhoneSender = Annotated[str, StringConstraints(pattern=r"^\+[1-9][0-9]{6,14}$", max_length=16)]


class _Settings(BaseModel):
    model_config = ConfigDict(
        extra="forbid", frozen=True, alias_generator=to_camel, populate_by_name=False
    )


class SmtpSettings(_Settings):
    """A mail server that messages are handed to."""

    host: Hostname
    port: Annotated[int, whole(1, 65535)]
    username: Word
    from_address: Email
    from_name: Label | None = None
    security: Literal["starttls", "tls"] = "starttls"


class TwilioSettings(_Settings):
    """A Twilio account that sends text messages."""

    account_sid: Annotated[str, StringConstraints(pattern=r"^AC[0-9a-f]{32}$", max_length=34)]
    from_number: PhoneSender


class MailgunSettings(_Settings):
    """A Mailgun domain that reports what became of messages."""

    domain: Hostname
    region: Literal["eu", "us"] = "eu"


class ProviderSettings(_Settings):
    """An OpenID Connect provider that people sign in with."""

    issuer: Address
    client_id: Word
    display_name: Label
    scopes: tuple[Word, ...] = ("openid", "email", "profile")
    trusts_email: bool = False
    algorithms: tuple[Literal["RS256", "PS256", "ES256", "EdDSA"], ...] = ("RS256",)


class KindCode(StrEnum):
    """Kinds of integration; the first part is the domain that uses it."""

    SMTP = "notification.smtp"
    TWILIO = "notification.twilio"
    MAILGUN = "notification.mailgun"
    PROVIDER = "identity.provider"


@dataclass(frozen=True)
class Kind:
    """What an integration of this kind consists of."""

    settings: type[_Settings]
    required: tuple[str, ...]  # secrets without which it cannot be activated
    optional: tuple[str, ...] = ()

    @property
    def secrets(self) -> tuple[str, ...]:
        return (*self.required, *self.optional)


KINDS = {
    KindCode.SMTP: Kind(SmtpSettings, ("password",)),
    KindCode.TWILIO: Kind(TwilioSettings, ("authToken",)),
    KindCode.MAILGUN: Kind(MailgunSettings, ("signingKey",), ("apiKey",)),
    KindCode.PROVIDER: Kind(ProviderSettings, ("clientSecret",)),
}


def checked_settings(kind: KindCode, sent: dict[str, Any]) -> dict[str, Any]:
    """The settings as they are stored, with defaults."""
    try:
        parsed = KINDS[kind].settings.model_validate(sent)
    except ValidationError as error:
        raise SettingsInvalid(
            f"`{kind.value}` does not accept these settings.",
            errors=[
                {
                    "pointer": "/settings" + "".join(f"/{part}" for part in one["loc"]),
                    "code": one["type"],
                    "detail": "This kind of integration does not allow this value here.",
                }
                for one in error.errors(
                    include_url=False, include_context=False, include_input=False
                )[:20]
            ],
        ) from None
    stored: dict[str, Any] = parsed.model_dump(mode="json", by_alias=True)
    return stored
