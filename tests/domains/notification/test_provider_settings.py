"""Settings of providers: an active integration counts, otherwise the settings of the process."""

from base64 import b64encode
from datetime import timedelta
from uuid import UUID, uuid4

import pytest
from tests.conftest import Time
from tests.factories import notification_deliveries as factory

from thenga.domains.administration.public import (
    Integrations,
    SealedIntegration,
    SealedSecret,
)
from thenga.domains.administration.public.integrations import Environment
from thenga.domains.notification.adapters.provider_settings import ProviderSettings
from thenga.kernel.errors import DependencyUnavailable
from thenga.kernel.ports.binding import Bindings
from thenga.kernel.process.host import Host

TOKENS = ["f" * 32, "e" * 32]


class Administration(Integrations):
    """Hands out what a test has stored, or does not answer."""

    def __init__(self, *stored: SealedIntegration) -> None:
        self.stored = stored
        self.is_silent = False

    async def sealed(
        self, *, target_domain: str, kind: str, environment: Environment
    ) -> list[SealedIntegration]:
        if self.is_silent:
            raise DependencyUnavailable()
        return [one for one in self.stored if one.kind == kind]


def secret(host: Host, of: UUID, name: str, version: int, value: str) -> SealedSecret:
    aad = f"administration/integration/{of}/{name}/{version}"
    made = host.ring("integration").seal(value.encode(), aad=aad.encode())
    return SealedSecret(name=name, version=version, sealed=b64encode(made).decode(), aad=aad)


def twilio(host: Host) -> SealedIntegration:
    made = uuid4()
    return SealedIntegration(
        id=made,
        kind="notification.twilio",
        name="Main account",
        settings={"accountSid": "AC" + "1" * 32, "fromNumber": "+27600000001"},
        settings_version=1,
        secrets=[
            secret(host, made, "authToken", 1, TOKENS[1]),
            secret(host, made, "authToken", 2, TOKENS[0]),
        ],
    )


def smtp(host: Host) -> SealedIntegration:
    made = uuid4()
    return SealedIntegration(
        id=made,
        kind="notification.smtp",
        name="Relay",
        settings={
            "host": "relay.example.co.za",
            "port": 465,
            "username": "thenga",
            "fromAddress": "post@thenga.co.za",
            "fromName": None,
            "security": "tls",
        },
        settings_version=1,
        secrets=[secret(host, made, "password", 1, "correct horse 7")],
    )


def asking(host: Host, port: Integrations) -> ProviderSettings:
    made = factory.with_ports(host)
    made.bindings = Bindings()
    made.bindings.bind(Integrations, port)
    made.clock = host.clock
    return ProviderSettings(made)


async def test_an_integration_counts_before_the_process(host: Host) -> None:
    settings = asking(host, Administration(twilio(host), smtp(host)))

    sms, mail = await settings.twilio(), await settings.smtp()

    assert sms is not None
    assert (sms.account_sid, sms.sender, sms.token) == ("AC" + "1" * 32, "+27600000001", TOKENS[0])
    assert await settings.callback_keys("twilio") == TOKENS
    assert (mail.host, mail.port, mail.is_tls_at_once) == ("relay.example.co.za", 465, True)
    assert (mail.password, mail.from_address) == ("correct horse 7", "post@thenga.co.za")


async def test_without_an_integration_the_process_counts(host: Host) -> None:
    settings = asking(host, Administration())

    sms, mail = await settings.twilio(), await settings.smtp()

    assert sms is not None
    assert (sms.token, sms.sender) == ("twilio-auth-token", "+27600000000")
    assert await settings.callback_keys("mailgun") == ["mailgun-signing-key"]
    assert (mail.host, mail.port) == (host.settings.smtp_host, host.settings.smtp_port)


@pytest.mark.rule("NOT-28")
@pytest.mark.parametrize(
    ("name", "value", "is_plain"),
    [
        ("HOST", "127.0.0.1", True),
        ("HOST", "relay.example.co.za", False),
        ("CA", "/etc/ssl/relay.pem", False),
    ],
)
async def test_mail_without_tls_goes_only_to_this_machine(
    host: Host, monkeypatch: pytest.MonkeyPatch, name: str, value: str, is_plain: bool
) -> None:
    assert host.settings.smtp_security == "none"  # as in development
    monkeypatch.setenv(f"THENGA_SMTP_{name}_NOTIFICATION", value)

    mail = await asking(host, Administration()).smtp()
    relay = await asking(host, Administration(smtp(host))).smtp()

    assert (mail.is_plain, relay.is_plain) == (is_plain, False)


async def test_the_last_known_integration_is_valid_for_15_minutes(host: Host, clock: Time) -> None:
    clock.set(factory.NOON)
    port = Administration(twilio(host))
    settings = asking(host, port)
    first = await settings.twilio()
    port.is_silent = True

    clock.set(factory.NOON + timedelta(minutes=15))
    settings._host.clock = host.clock
    known = await settings.twilio()
    clock.set(factory.NOON + timedelta(minutes=15, seconds=1))
    settings._host.clock = host.clock

    assert known == first
    with pytest.raises(DependencyUnavailable):
        await settings.twilio()
