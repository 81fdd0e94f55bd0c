"""What keeps a content from being saved, and what keeps a version from being approved."""

from collections.abc import Iterable

from thenga.domains.notification.services.templates.contents import (
    Content,
    ContentFault,
    faults_of,
    platform_content,
    worst_case,
)
from thenga.domains.notification.services.templates.topic_catalogue import ChannelKind, Topic
from thenga.domains.notification.services.templates.variables import Variable, check_facts
from thenga.kernel.errors import ERRORS, FieldError, Problem, extensions

# A mail has its text twice, and a value can grow when it is escaped: 64 KiB stay below 200 KB.
# An SMS has at most 1,600 characters.
MOST_BYTES: dict[ChannelKind, int] = {"in_app": 16 * 1024, "email": 64 * 1024, "sms": 6400}
_INCOMPLETE = ("language_missing", "channel_missing")
_DETAILS = {
    "placeholder": "Use only `{{name}}` with a declared name here.",
    "undeclared": "This text uses a variable that is not declared.",
    "html": "Write Markdown. HTML is not allowed.",
    "link": "A link can only point to a variable of type `url`.",
    "line_break": "Write this on one line.",
    "control_character": "Control characters are not allowed.",
    "language_unknown": "This language is not supported.",
    "language_missing": "The English text is missing.",
    "channel_missing": "The English text of this channel is missing.",
    "name": "Start a name with a lower-case letter, then up to 39 letters or digits.",
    "variable_twice": "This variable is declared twice.",
    "variable_missing": "The platform's template declares this variable, so declare it too.",
    "variable_differs": "The platform's template declares this variable differently.",
    "variable_required": "Make a variable that only your template has optional, or set a default.",
    "example": "The example or the default is not a valid value of this type.",
}


class TemplateSyntax(Problem):
    """The text or the variables of a template are not valid. `errors` points at each place.

    Write declared variables as `{{name}}`. Bodies are Markdown without HTML; a link can only point
    to a variable of type `url`.
    """

    code, status, title = "notification-template-syntax", 422, "The template is not valid"
    members = extensions(errors=ERRORS)


class TemplateTooLong(Problem):
    """With the longest possible values, a text is too long for its channel. Shorten it."""

    code, status, title = "notification-template-too-long", 422, "A text is too long"
    members = extensions(errors=ERRORS)


class LanguageMissing(Problem):
    """Every channel of the topic needs an English text. Add it before the version is approved."""

    code, status, title = "notification-language-missing", 422, "The English text is incomplete"
    members = extensions(errors=ERRORS)


def check_saving(topic: Topic, content: Content) -> None:
    """Refuse a content that could not be rendered; a draft may still be incomplete (NOT-22)."""
    faults = [one for one in faults_of(content, ()) if one.code not in _INCOMPLETE]
    faults += _faults_of_variables(content, platform_content(topic.template_key))
    if faults:
        raise TemplateSyntax(errors=_errors(faults))
    long = [
        {
            "pointer": _pointer(f"/texts/{tag}/{kind}"),
            "code": "too_long",
            "detail": f"The {tag} text can reach {size} bytes; the limit is {MOST_BYTES[kind]}.",
        }
        for (tag, kind), size in worst_case(content).items()
        if size > MOST_BYTES[kind]
    ]
    if long:
        raise TemplateTooLong(errors=long)


def check_complete(topic: Topic, content: Content) -> None:
    """Refuse a version whose English text lacks a channel of the topic."""
    faults = [one for one in faults_of(content, topic.allowed_channels) if one.code in _INCOMPLETE]
    if faults:
        raise LanguageMissing(errors=_errors(faults))


def _faults_of_variables(content: Content, platform: Content) -> list[ContentFault]:
    """Senders give the facts of the platform's template, so an own one must accept them."""
    faults: list[ContentFault] = []
    seen: set[str] = set()
    for number, one in enumerate(content.variables):
        where, theirs = f"/variables/{number}", platform.declared.get(one.name)
        if one.name in seen:
            faults.append(ContentFault(where, "variable_twice"))
        elif theirs is None and one.required and not one.default:
            faults.append(ContentFault(where, "variable_required"))
        elif theirs is not None and not _accepts(one, theirs):
            faults.append(ContentFault(where, "variable_differs"))
        if not _has_sound_values(one):
            faults.append(ContentFault(f"{where}/example", "example"))
        seen.add(one.name)
    missing = platform.declared.keys() - seen
    return faults + [ContentFault("/variables", "variable_missing") for _ in missing]


def _accepts(own: Variable, theirs: Variable) -> bool:
    is_optional = not own.required or theirs.required
    return own.type == theirs.type and own.max_length >= theirs.max_length and is_optional


def _has_sound_values(variable: Variable) -> bool:
    if variable.type == "url":  # its host is known to a deployment only
        return True
    given = [one for one in (variable.example, variable.default) if one]
    return not any(
        check_facts([variable], {variable.name: one}, hosts=frozenset()) for one in given
    )


def _errors(faults: Iterable[ContentFault]) -> list[FieldError]:
    return [
        {
            "pointer": _pointer(one.pointer),
            "code": one.code,
            "detail": _DETAILS[one.code],
        }
        for one in faults
    ]


def _pointer(inside: str) -> str:
    """Where a fault is in the request body."""
    outside = inside.replace("/texts", "/content", 1)
    return outside.replace("in_app", "inApp").replace("action_label", "actionLabel")
