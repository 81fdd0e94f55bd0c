"""The providers of this deployment by name (NOT-32), and how much one recipient can receive."""

from collections.abc import Sequence
from datetime import timedelta
from typing import Literal

from thenga.domains.notification.adapters.mailgun import MailgunReports
from thenga.domains.notification.adapters.provider import Reporter, Sender
from thenga.domains.notification.adapters.provider_settings import ProviderSettings
from thenga.domains.notification.adapters.smtp import Smtp
from thenga.domains.notification.adapters.twilio import Twilio, TwilioReports
from thenga.domains.notification.values.messages import Budget
from thenga.kernel.errors import RateLimited
from thenga.kernel.http.limits import Limits, Rule
from thenga.kernel.outside.outbound import Outbound
from thenga.kernel.process.host import Host

# Over all causes and organizations (SEC-66). Strangers cause the messages to addresses that
# nobody has proved, so these have less room. A letter that finds none waits, so the longest window
# must have room again well before the code in the letter expires, which is after a day.
UNPROVEN = (Rule("letters_unproven", 6, 3600), Rule("letters_unproven_half_day", 8, 43_200))
EVERY = (Rule("letters", 20, 3600), Rule("letters_day", 60, 86_400))
# Every kind of security letter has this for itself; what may ask for one has limits of its own.
SECURITY = (Rule("letters_security", 20, 3600), Rule("letters_security_day", 100, 86_400))
# A published tender is an alert to everyone it fits, so alerts take no room of other letters. Their
# window is short, so that what waits is not sent a day late.
ALERTS = Rule("letters_alerts_quarter_day", 10, 21_600)

REPORTERS: dict[str, Reporter] = {"twilio": TwilioReports(), "mailgun": MailgunReports()}


class Senders:
    """Finds the sender of a provider."""

    def __init__(self, host: Host) -> None:
        self._settings = ProviderSettings(host)
        self._limits = Limits(host.settings.redis, secret=host.key("letters"))
        host.closing.append(self._limits.close)

    async def of(self, provider: str | None) -> Sender | None:
        """The sender of a provider; None if it is not configured."""
        match provider:
            case "smtp":
                return Smtp(await self._settings.smtp())
            case "twilio":
                settings = await self._settings.twilio()
                if settings is None:
                    return None
                return Twilio(Outbound(self._settings.twilio_url()), settings)
        return None

    async def wait_for_room(
        self, address: str, budget: Budget, *, is_proven: bool
    ) -> timedelta | None:
        """How long to wait until an address can receive one more message (NOT-50).

        None if it can now; the message is counted then.
        """
        for rule in _rules(budget) if is_proven else (*UNPROVEN, *_rules(budget)):
            try:
                await self._limits.hit(rule, address.casefold(), budget.topic)
            except RateLimited as refused:
                return timedelta(seconds=min(refused.facts["retryAfterSeconds"], rule.seconds))
        return None


def _rules(budget: Budget) -> tuple[Rule, ...]:
    match budget.kind:
        case "security":
            return SECURITY
        case "alerts":
            return (ALERTS,)
        case "ordinary":
            return EVERY


class CallbackKeys:
    """The keys that verify callbacks."""

    def __init__(self, host: Host) -> None:
        self.host = host
        self._settings = ProviderSettings(host)

    async def of(self, status_from: Literal["twilio", "mailgun"]) -> Sequence[str]:
        return await self._settings.callback_keys(status_from)
