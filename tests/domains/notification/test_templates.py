"""Texts of messages: facts are checked, formatted by language, and never become markup."""

from zoneinfo import ZoneInfo

import pytest

from thenga.domains.notification.services import templates
from thenga.domains.notification.services.templates import Content, Locale, Variable
from thenga.domains.notification.services.templates.language import fill, to_html, to_text

HOSTS = frozenset({"app.thenga.example"})
JOHANNESBURG = ZoneInfo("Africa/Johannesburg")


def one(kind: str, *, required: bool = True) -> Variable:
    return Variable.model_validate(
        {"name": "x", "type": kind, "example": "x", "required": required}
    )


@pytest.mark.rule("NOT-2")
def test_missing_and_unknown_facts_are_both_named() -> None:
    found = templates.check_facts([one("text")], {"y": "1"}, hosts=HOSTS)

    assert {(fault.pointer, fault.code) for fault in found} == {
        ("/facts/x", "missing"),
        ("/facts/y", "unknown"),
    }


@pytest.mark.rule("NOT-2")
@pytest.mark.parametrize(
    ("kind", "good", "bad"),
    [
        ("integer", "12", "1.5"),
        ("decimal", "1.5", "NaN"),
        ("money", "ZAR 1234.50", "R1234.50"),
        ("date", "2026-12-31", "2026-02-31"),
        ("instant", "2026-11-14T08:30:00Z", "2026-11-14T08:30:00"),
        ("url", "https://app.thenga.example/x", "https://evil.example/x"),
        ("text", "one line", "two\nlines"),
    ],
)
def test_a_fact_must_have_its_type(kind: str, good: str, bad: str) -> None:
    assert templates.check_facts([one(kind)], {"x": good}, hosts=HOSTS) == []
    assert len(templates.check_facts([one(kind)], {"x": bad}, hosts=HOSTS)) == 1


@pytest.mark.rule("NOT-24")
@pytest.mark.parametrize(
    ("language", "kind", "value", "expected"),
    [
        ("en-ZA", "money", "ZAR 1234567.50", "R1\xa0234\xa0567,50"),
        ("zu-ZA", "money", "ZAR 1234567.50", "R1,234,567.50"),
        ("en-ZA", "instant", "2026-12-03T09:00:00Z", "3 December 2026 11:00 SAST"),
        ("zu-ZA", "date", "2026-12-03", "3 Disemba 2026"),
    ],
)
def test_facts_are_shown_in_the_language(
    language: str, kind: str, value: str, expected: str
) -> None:
    content = _content("{{x}}", one(kind), language)

    made = templates.render(content, "sms", {"x": value}, Locale(language, JOHANNESBURG))

    assert made.text == expected


def _content(text: str, variable: Variable, language: str = "en-ZA") -> Content:
    return Content.model_validate(
        {"variables": [variable.model_dump()], "texts": {language: {"sms": {"body": text}}}}
    )


@pytest.mark.rule("NOT-22")
@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("{{y}}", "undeclared"),
        ("{{ x }}", "placeholder"),
        ("{{x.__class__}}", "placeholder"),
        ("{% if x %}", "placeholder"),
        ("${x}", "placeholder"),
        ("<% x %>", "placeholder"),
        ("<b>x</b>", "html"),
        ("&lt;b&gt;", "html"),
        ("[x](https://evil.example)", "link"),
        ("[x]({{x}})", "link"),
    ],
)
def test_a_body_with_foreign_syntax_is_refused(text: str, code: str) -> None:
    content = Content.model_validate(
        {
            "variables": [one("text").model_dump()],
            "texts": {"en-ZA": {"email": {"subject": "x", "body": text}}},
        }
    )

    assert code in {fault.code for fault in templates.faults_of(content, ("email",))}


@pytest.mark.rule("NOT-22")
def test_a_value_is_never_markup() -> None:
    values = {"x": "**bold** [a](https://evil.example) <script>alert(1)</script> {{x}}"}

    assert "<script>" not in to_html("Hello {{x}}", values)
    assert "<strong>" not in to_html("Hello {{x}}", values)
    assert "<a" not in to_html("Hello {{x}}", values)
    assert fill("{{x}}", values) == values["x"]
    assert fill("Good day {{x}},", {"x": ""}) == "Good day,"


def test_a_body_becomes_text_and_html() -> None:
    values = {"name": "Thandi & Sons", "link": "https://app.thenga.example/i"}
    body = "Good day **{{name}}**,\n\n- one\n- two\n\nSee [your invoice]({{link}})."

    assert to_text(body, values) == (
        "Good day Thandi & Sons,\n\n- one\n- two\n\nSee your invoice (https://app.thenga.example/i).\n"
    )
    assert "<p>Good day <strong>Thandi &amp; Sons</strong>,</p>" in to_html(body, values)
    assert '<a href="https://app.thenga.example/i"' in to_html(body, values)


@pytest.mark.rule("NOT-27")
def test_secret_facts_are_hidden_in_history() -> None:
    secret = Variable(name="x", type="code", example="1", secret=True)
    content = _content("Code {{x}}", secret)
    locale = Locale("en-ZA", JOHANNESBURG)

    assert templates.render(content, "sms", {"x": "482913"}, locale).text == "Code 482913"
    assert templates.render_for_history(content, "sms", {"x": "482913"}, locale).text == "Code •••"


@pytest.mark.parametrize("topic", templates.topics().values(), ids=lambda topic: topic.code)
def test_every_platform_template_is_complete(topic: templates.Topic) -> None:
    content = templates.platform_content(topic.template_key)
    examples = {one.name: one.example for one in content.variables}

    assert templates.faults_of(content, topic.allowed_channels) == []
    assert templates.check_facts(content.variables, examples, hosts=HOSTS) == []
    for channel in topic.allowed_channels:
        language = templates.choose_language(content, channel, ())
        assert (
            "{{"
            not in templates.render(content, channel, examples, Locale(language, JOHANNESBURG)).text
        )
