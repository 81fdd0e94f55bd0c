"""Hostile texts and values: none is evaluated, none becomes markup, none opens a header."""

from collections.abc import Iterator
from email import message_from_bytes, policy
from email.message import EmailMessage
from html.parser import HTMLParser
from zoneinfo import ZoneInfo

import pytest
from tests.planting import plant

from thenga.domains.notification.services import templates
from thenga.domains.notification.services.templates import Content, Locale, language
from thenga.domains.notification.services.templates.contents import faults_of
from thenga.domains.notification.services.templates.rendering import HeaderRefused, header_value

LOCALE = Locale("en-ZA", ZoneInfo("Africa/Johannesburg"))
HOSTS = frozenset({"app.thenga.example"})
SENTINEL = "5764801"  # 7 to the power of 8: whoever evaluates a payload prints it

_EXPRESSIONS = (
    *("{{7**8}}", "{{ 7**8 }}", "{{7**8|safe}}", "{{=7**8}}", "{{{7**8}}}", "{%print(7**8)%}"),
    *("{% if 1 %}7**8{% endif %}", "${7**8}", "$7**8", "#{7**8}", "<%= 7**8 %>", "<% 7**8 %>"),
    *("{{x.__class__.__mro__}}", "{{config}}", "{{self}}", "{{y}}", "{{x}}{{x}}", "{0.__class__}"),
    *("%(x)s", "%s%s%n", "{x!r}", "{x:>99999999}", "{#7**8#}", "*{7**8}", "@(7**8)", "~{7**8}"),
    *("{{range(99999999)}}", "{{''.join(x)}}", "{{constructor.constructor('7**8')()}}", "`7**8`"),
)
_MARKUP = (
    *("<script>7**8</script>", "<img src=x onerror=alert(1)>", "<svg/onload=alert(1)>", "</p><h1>"),
    *("<a href='https://evil.example'>x</a>", "[x](https://evil.example)", "[x](javascript:1)"),
    *("![x](https://evil.example/p.gif)", "<https://evil.example>", "&lt;b&gt;", "&#60;b&#62;"),
    *("**x** _y_", "- x", "# x", "| a | b |", "<!-- x -->", "<![CDATA[x]]>", "[x][1]", "\\[x\\]"),
)
_HEADERS = (
    *("x\r\nBcc: a@evil.example", "x\nBcc: a@evil.example", "x\rBcc: a@evil.example"),
    *("x\r\n\r\n<b>body</b>", "x\0y", "x\u2028Bcc: a@evil.example", "x\x0bBcc: a", "x\x85Bcc: a"),
    *("x%0d%0aBcc: a@evil.example", "=?utf-8?q?x=0d=0aBcc:_a?=", "x\u560d\u560aBcc: a"),
)
_AROUND = ("{0}", "a {0} b", "{0}{0}", "({0})", " {0}")


def payloads() -> list[str]:
    return [
        around.replace("{0}", one)
        for one in (*_EXPRESSIONS, *_MARKUP, *_HEADERS)
        for around in _AROUND
    ]


class Tags(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.seen: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen |= {tag, *(name for name, _ in attrs)}


def tags(html: str) -> set[str]:
    parser = Tags()
    parser.feed(html)
    return parser.seen


def content(text: str) -> Content:
    mail = {"subject": text, "body": text}
    return Content.model_validate(
        {
            "variables": [{"name": "x", "example": "x", "max_length": 500}],
            "texts": {"en-ZA": {"email": mail, "sms": {"body": text}}},
        }
    )


def header_lines(subject: str) -> list[str]:
    """The headers that a receiver reads of a mail with this subject."""
    mail = EmailMessage(policy=policy.SMTP)
    mail["Subject"] = header_value(subject)
    mail.set_content("text")
    return message_from_bytes(mail.as_bytes(), policy=policy.default).keys()


def rendered(made: Content, value: str) -> Iterator[templates.Rendered]:
    for channel in ("email", "sms"):
        yield templates.render(made, channel, {"x": value}, LOCALE)  # type: ignore[arg-type]


def measure() -> dict[str, int]:
    """Every payload once as a value and once as a text, where the checks let it pass."""
    own = content("Hello **{{x}}**").model_copy()
    own_tags = tags(templates.render(content("Hello x"), "email", {"x": ""}, LOCALE).html or "")
    usual = set(header_lines("x"))
    counts = {"evaluated": 0, "markup": 0, "header_injected": 0}
    for payload in payloads():
        found: list[templates.Rendered] = []
        if not templates.check_facts(own.variables, {"x": payload}, hosts=HOSTS):
            found += rendered(content("Hello {{x}}"), payload)
        if not faults_of(content(payload), ("email", "sms")):
            found += rendered(content(payload), "value")
        for one in found:
            counts["evaluated"] += SENTINEL in one.subject + one.text + (one.html or "")
            allowed = own_tags | {"strong", "em", "ul", "li"}
            counts["markup"] += bool(tags(one.html or "") - allowed)
            counts["header_injected"] += set(header_lines(one.subject)) != usual
    return counts


@pytest.mark.rule("NOT-22")
@pytest.mark.rule("NOT-26")
def test_hostile_payloads_stay_text() -> None:
    counts = measure()

    print(f"payloads={len(payloads())} {' '.join(f'{n}={v}' for n, v in counts.items())}")
    assert len(payloads()) >= 300
    assert counts == {"evaluated": 0, "markup": 0, "header_injected": 0}


def test_values_put_in_before_parsing_are_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    def to_html(body: str, values: dict[str, str]) -> str:
        made: str = language._markdown.enable("html_inline").render(language.fill(body, values))
        return made

    plant(monkeypatch, language, "to_html", to_html)

    assert measure()["markup"] > 0


@pytest.mark.rule("NOT-26")
@pytest.mark.parametrize("text", ["a\rb", "a\nb", "a\0b", "a\r\nBcc: x@y.example"])
def test_a_header_value_has_one_line(text: str) -> None:
    with pytest.raises(HeaderRefused):
        header_value(text)


@pytest.mark.rule("NOT-26")
def test_an_encoded_word_opens_no_header() -> None:
    encoded = "=?utf-8?q?x=0d=0aBcc:_a@evil.example?="

    assert "Bcc" not in header_lines(encoded)
    assert header_value("Offer = ? Yes") == "Offer = ? Yes"
