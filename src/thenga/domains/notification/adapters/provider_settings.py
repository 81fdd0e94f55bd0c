"""Settings of providers: from Administration's integrations, otherwise from this process."""

from collections.abc import Sequence
from datetime import datetime, timedelta

import structlog

from thenga.domains.administration.public import Integrations, SealedIntegration, open_secret
from thenga.domains.notification.adapters.smtp import SmtpSettings
from thenga.domains.notification.adapters.twilio import TwilioSettings
from thenga.kernel.errors import Problem
from thenga.kernel.process.host import Host

_DOMAIN = "notification"
_KNOWN_FOR = timedelta(minutes=15)

log = structlog.get_logger()


class ProviderSettings:
    """Where an integration of a kind is active, its settings and secrets count."""

    def __init__(self, host: Host) -> None:
        self._host = host
        self._known: dict[str, tuple[datetime, SealedIntegration | None]] = {}

    async def smtp(self) -> SmtpSettings:
        settings, found = self._host.settings, await self._integration("smtp")
        if found is not None:
            return SmtpSettings(
                host=_text(found, "host"),
                port=int(_text(found, "port") or 587),
                username=_text(found, "username") or None,
                password=next(iter(self._secrets(found, "password")), None),
                ca_file=self._own("smtp_ca") or None,
                is_tls_at_once=_text(found, "security") == "tls",
                from_address=_text(found, "fromAddress") or None,
                from_name=_text(found, "fromName") or None,
            )
        host, authority = self._own("smtp_host") or settings.smtp_host, self._own("smtp_ca") or None
        return SmtpSettings(
            host=host,
            port=int(self._own("smtp_port") or settings.smtp_port),
            username=self._own("smtp_user") or None,
            password=self._own("smtp_password") or None,
            ca_file=authority,
            is_tls_at_once=settings.smtp_security == "tls",
            # The process was checked to name this machine; a host of our own may be another.
            is_plain=settings.smtp_security == "none"
            and host == settings.smtp_host
            and authority is None,
        )

    async def twilio(self) -> TwilioSettings | None:
        found = await self._integration("twilio")
        if found is not None:
            tokens = self._secrets(found, "authToken")
            account, sender = _text(found, "accountSid"), _text(found, "fromNumber")
        else:
            tokens = _listed(self._own("twilio_tokens"))
            account, sender = self._own("twilio_account"), self._own("twilio_from")
        if not (tokens and account and sender):
            return None
        return TwilioSettings(account, tokens[0], sender)

    async def callback_keys(self, status_from: str) -> Sequence[str]:
        """The keys that can sign a provider's callbacks, the current one first."""
        if status_from == "twilio":
            found = await self._integration("twilio")
            own, name = "twilio_tokens", "authToken"
        else:
            found = await self._integration("mailgun")
            own, name = "mailgun_keys", "signingKey"
        keys = self._secrets(found, name) if found is not None else _listed(self._own(own))
        return keys[:2]

    def twilio_url(self) -> str:
        return self._own("twilio_url") or "https://api.twilio.com"

    async def _integration(self, kind: str) -> SealedIntegration | None:
        """The active integration of a kind. The last known one is valid for 15 minutes."""
        try:
            port = self._host.bindings.of(Integrations)
        except LookupError:
            return None
        now = self._host.now()
        try:
            active = await port.sealed(
                target_domain=_DOMAIN, kind=f"{_DOMAIN}.{kind}", environment="live"
            )
        except Problem:
            at, known = self._known.get(kind, (now - 2 * _KNOWN_FOR, None))
            if now - at > _KNOWN_FOR:
                raise
            log.warning("notification.integration.last_known", kind=kind)
            return known
        found = active[0] if active else None
        self._known[kind] = (now, found)
        return found

    def _secrets(self, found: SealedIntegration, name: str) -> list[str]:
        """The versions of a secret that are valid now, newest first. Opened only here (ADM-39)."""
        now = self._host.now()
        valid = [
            one
            for one in found.secrets
            if one.name == name and (one.until is None or one.until > now)
        ]
        return [open_secret(self._host, one) for one in sorted(valid, key=lambda one: -one.version)]

    def _own(self, name: str) -> str:
        return self._host.settings.of_domain(name, _DOMAIN)


def _text(found: SealedIntegration, name: str) -> str:
    value = found.settings.get(name)
    return str(value) if isinstance(value, str | int) else ""


def _listed(given: str) -> list[str]:
    return [one for part in given.split(",") if (one := part.strip())]
