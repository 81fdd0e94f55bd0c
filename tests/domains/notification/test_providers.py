"""Providers of messages: what is sent to them, and what their answers mean."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from tests.providers import messaging
from tests.providers.messaging import MailServer, TwilioServer

from thenga.domains.notification.adapters import smtp
from thenga.domains.notification.adapters.mailgun import MailgunReports
from thenga.domains.notification.adapters.mailgun import signature as mailgun_signature
from thenga.domains.notification.adapters.provider import Call
from thenga.domains.notification.adapters.smtp import Smtp, SmtpSettings
from thenga.domains.notification.adapters.twilio import Twilio, TwilioReports, TwilioSettings
from thenga.domains.notification.adapters.twilio import signature as twilio_signature
from thenga.domains.notification.values.messages import Answer, Message
from thenga.kernel.outside.outbound import Outbound

AT = datetime.fromtimestamp(1793520000, UTC)
URL = "https://api.example.co.za/notifications/channels/sms/callbacks"
SID = "SM00000000000000000000000000000001"
NUMBER = "+27821234567"
MAIL = Message(
    to="thandi@example.co.za",
    subject="Rechnung für Sie",
    text="Good day, Thandi",
    html="<p>Good day, Thandi</p>",
    message_id="019a8e4c@thenga.example",
    sender_name="Thenga",
    sender_address="no-reply@thenga.example",
    callback_url="",
)
TEXT = replace(MAIL, to=NUMBER, text="Thenga: one", html=None, callback_url=URL)


@pytest.fixture
def relay(tmp_path: Path) -> Iterator[MailServer]:
    with MailServer(tmp_path) as server:
        yield server


def through(relay: MailServer) -> Smtp:
    return Smtp(SmtpSettings("127.0.0.1", relay.port, ca_file=relay.ca_file))


async def text(server: TwilioServer, message: Message = TEXT) -> Answer:
    settings = TwilioSettings(messaging.ACCOUNT, messaging.TOKEN, "+27600000000")
    async with server.running() as url:
        return await Twilio(Outbound(url), settings).send(message)


@pytest.mark.rule("NOT-28")
async def test_a_mail_has_text_html_and_its_own_id(relay: MailServer) -> None:
    answer = await through(relay).send(MAIL)

    (mail,) = relay.mails
    assert (answer.outcome, answer.provider_message_id) == ("accepted", "019a8e4c@thenga.example")
    assert relay.recipients == ["thandi@example.co.za"]
    assert mail["Message-ID"] == "<019a8e4c@thenga.example>"
    assert mail["Auto-Submitted"] == "auto-generated"
    assert mail["Subject"] == "Rechnung für Sie"
    assert [part.get_content_type() for part in mail.iter_parts()] == ["text/plain", "text/html"]


@pytest.mark.rule("NOT-28")
async def test_a_relay_without_starttls_gets_nothing(tmp_path: Path) -> None:
    with MailServer(tmp_path, offers_tls=False) as relay:
        answer = await through(replace_ca(relay)).send(MAIL)

    print(f"starttls_missing outcome={answer.outcome} data_bytes={relay.data_bytes}")
    assert (answer.outcome, relay.data_bytes) == ("refused_transient", 0)


def replace_ca(relay: MailServer) -> MailServer:
    relay.ca_file = ""
    return relay


@pytest.mark.rule("NOT-28")
async def test_a_certificate_that_nobody_vouches_for_is_refused(relay: MailServer) -> None:
    answer = await through(replace_ca(relay)).send(MAIL)

    assert (answer.outcome, relay.data_bytes) == ("refused_transient", 0)


async def test_a_planted_default_of_starttls_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = smtp.aiosmtplib.SMTP

    def by_default(**given: Any) -> Any:
        return made(**given | {"start_tls": None})

    monkeypatch.setattr(smtp.aiosmtplib, "SMTP", by_default)
    with MailServer(tmp_path, offers_tls=False) as relay:
        await through(replace_ca(relay)).send(MAIL)

    assert relay.data_bytes > 0


@pytest.mark.rule("NOT-30")
@pytest.mark.parametrize(
    ("reply", "outcome", "bad"),
    [
        ("450 4.2.0 Greylisted, try again", "refused_transient", False),
        ("550 5.1.1 No such mailbox", "refused_final", True),
        ("550 5.2.1 Mailbox disabled", "refused_final", True),
        ("550 5.7.1 Not from you", "refused_final", False),
    ],
)
async def test_replies_to_a_recipient(
    relay: MailServer, reply: str, outcome: str, bad: bool
) -> None:
    relay.refused = {MAIL.to: reply}

    answer = await through(relay).send(MAIL)

    assert (answer.outcome, answer.address_is_bad) == (outcome, bad)


@pytest.mark.rule("NOT-30")
@pytest.mark.parametrize(
    ("reply", "outcome"),
    [
        ("451 4.3.0 Later", "refused_transient"),
        ("554 5.6.0 Refused thandi@example.co.za", "refused_final"),
        ("cut", "unknown"),
        ("silence", "unknown"),
    ],
)
async def test_replies_after_the_final_dot(
    relay: MailServer, reply: str, outcome: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if reply == "silence":
        monkeypatch.setattr(smtp, "SECONDS", 3.0)  # room for a busy machine to come to the dot
    relay.script = [reply]

    answer = await through(relay).send(MAIL)

    assert answer.outcome == outcome
    assert "thandi@" not in (answer.text or "")


@pytest.mark.rule("NOT-30")
async def test_nobody_at_the_relay_is_tried_again() -> None:
    answer = await Smtp(SmtpSettings("127.0.0.1", 9)).send(MAIL)

    assert answer.outcome == "refused_transient"


@pytest.mark.rule("NOT-26")
@pytest.mark.parametrize("odd", ["a\r\nBcc: x@example.co.za", "a\nb", "a\rb"])
async def test_a_line_break_never_reaches_a_header(relay: MailServer, odd: str) -> None:
    answer = await through(relay).send(replace(MAIL, subject=odd))

    assert (answer.outcome, relay.mails) == ("refused_final", [])


async def test_a_mail_over_the_limit_is_refused(relay: MailServer) -> None:
    answer = await through(relay).send(replace(MAIL, text="a" * 210_000))

    assert (answer.outcome, answer.code, relay.data_bytes) == ("refused_final", "too_large", 0)


@pytest.mark.rule("NOT-32")
async def test_twilio_gets_the_text_and_our_address() -> None:
    server = TwilioServer()

    answer = await text(server)

    assert answer == Answer("accepted", server.sids[0], code="201", segments=2)
    assert server.messages == [
        {"To": NUMBER, "From": "+27600000000", "Body": "Thenga: one", "StatusCallback": URL}
    ]
    assert server.authorization[0].startswith("basic ")


@pytest.mark.rule("NOT-30")
@pytest.mark.parametrize(
    ("step", "outcome"),
    [
        ((429, {"retry-after": "30"}, {}), "refused_transient"),
        ((503, {"retry-after": "30"}, {}), "refused_transient"),
        ((503, {}, {}), "unknown"),
        ((500, {}, {}), "unknown"),
        ((400, {}, {"code": 21610, "message": "Stopped"}), "refused_final"),
        ((200, {}, {}), "unknown"),
        ("cut", "unknown"),
    ],
)
async def test_answers_of_twilio(step: Any, outcome: str) -> None:
    answer = await text(TwilioServer(script=[step]))

    assert answer.outcome == outcome
    wait = timedelta(seconds=30) if outcome == "refused_transient" else None
    assert answer.retry_after == wait


async def test_a_number_that_is_none_is_a_bad_address() -> None:
    refused = (400, {}, {"code": 21211, "message": f"The number {NUMBER} is not valid"})

    answer = await text(TwilioServer(script=[refused]))

    assert (answer.code, answer.address_is_bad) == ("21211", True)
    assert answer.text == "The number ••• is not valid"


@pytest.mark.rule("NOT-30")
async def test_nobody_at_twilio_is_tried_again() -> None:
    settings = TwilioSettings(messaging.ACCOUNT, messaging.TOKEN, "+27600000000")

    answer = await Twilio(Outbound("http://127.0.0.1:9"), settings).send(TEXT)

    assert answer.outcome == "refused_transient"


@pytest.mark.rule("NOT-33")
def test_the_vectors_of_the_signatures() -> None:
    fields = [
        ("To", NUMBER),
        ("AccountSid", messaging.ACCOUNT),
        ("MessageSid", SID),
        ("From", "+27600000000"),
        ("MessageStatus", "delivered"),
    ]
    token = "a1b2c3d4e5f6a7b8c9d0e1f2a3b4c5d6e7f8a9b0c1d2e3f4a5"

    assert twilio_signature("twilio-auth-token", URL, fields) == b"lt0OuXH48MN40r2W28XNr+61V7I="
    assert mailgun_signature("mailgun-signing-key", "1793520000", token) == (
        b"0329150e94602e8a045dfc5617a9a332e7305ae80472f8e536c263b8372f5f19"
    )


@pytest.mark.rule("NOT-33")
@pytest.mark.parametrize("url", [URL, URL.replace(".za/", ".za:443/")])
def test_twilio_signs_with_or_without_the_port(url: str) -> None:
    sent = messaging.twilio(url, SID, "delivered", NUMBER)

    found = TwilioReports().verify(Call(sent.body, sent.headers, URL, AT), [messaging.TOKEN])

    assert found == f"{SID}:delivered"


@pytest.mark.rule("NOT-33")
@pytest.mark.parametrize(("off", "is_good"), [(299, True), (-299, True), (301, False)])
def test_mailgun_signs_a_time_that_must_be_near(off: int, is_good: bool) -> None:
    sent = messaging.mailgun("x@thenga.example", "delivered", "a@b.co.za", at=AT)
    call = Call(sent.body, sent.headers, URL, AT + timedelta(seconds=off))

    assert (MailgunReports().verify(call, [messaging.MAILGUN_KEY]) is not None) == is_good


@pytest.mark.rule("NOT-32")
@pytest.mark.parametrize(
    ("event", "more", "status", "bad"),
    [
        ("delivered", {}, "delivered", False),
        ("accepted", {}, "sent", False),
        ("failed", {"severity": "temporary"}, "sent", False),
        (
            "failed",
            {"severity": "permanent", "delivery-status": {"enhanced-code": "5.1.1"}},
            "bounced",
            True,
        ),
        (
            "failed",
            {"severity": "permanent", "delivery-status": {"enhanced-code": "5.7.1", "code": 550}},
            "bounced",
            False,
        ),
        ("rejected", {}, "undelivered", False),
        ("opened", {}, None, False),
    ],
)
def test_events_of_mailgun(event: str, more: dict[str, Any], status: str | None, bad: bool) -> None:
    sent = messaging.mailgun("<x@thenga.example>", event, "a@b.co.za", at=AT, **more)

    report = MailgunReports().report(sent.body)

    assert (report.status, report.address_is_bad) == (status, bad)
    assert (report.provider_message_id, report.address) == ("x@thenga.example", "a@b.co.za")
    assert report.occurred_at == AT
