"""What keeps a content from being saved, and what keeps a version from being approved."""

from collections.abc import Iterable

from thenga.domains.notification.services.templates.contents import (
    Content,
    ContentFault,
    faults_of,
    platform_content,
    worst_case,
)
from thenga.domains.notification.services.templates.topics import ChannelKind, Topic
from thenga.domains.notification.services.templates.variables import Variable, check_facts
from thenga.kernel.errors import ERRORS, FieldError, Problem, extensions

# A mail has its text twice, and a value can grow when it is escaped: 64 KiB stay below 200 KB.
# An SMS has at most 1,600 characters. How many parts it has is not looked at yet (NOT-25).
MOST_BYTES: dict[ChannelKind, int] = {"in_app": 16 * 1024, "email": 64 * 1024, "sms": 6400}
_INCOMPLETE = ("language_missing", "channel_missing")
_DETAILS = {
    "placeholder": "Only `{{name}}` with a declared name is possible here.",
    "undeclared": "This text names a variable that is not declared.",
    "html": "Write Markdown; HTML is not possible.",
    "link": "A link leads to a variable of type `url` only.",
    "line_break": "Write this on one line.",
    "control_character": "Control characters are not possible.",
    "language_unknown": "This language is not supported.",
    "language_missing": "The English text is missing.",
    "channel_missing": "The English text of this channel is missing.",
    "name": "A name is a lower-case letter and up to 39 letters or digits.",
    "variable_twice": "This variable is declared twice.",
    "variable_missing": "The platform's template declares this variable, so declare it too.",
    "variable_differs": "The platform's template declares this variable differently.",
    "variable_required": "A variable that the platform's template does not have is optional.",
    "example": "The example or the default is no value of this type.",
}


class TemplateSyntax(Problem):
    """The text or the variables of a template are not valid. `errors` points at each place.

    Texts name declared variables as `{{name}}`. Bodies are Markdown without HTML; a link leads to
    a variable of type `url`.
    """

    code, status, title = "notification-template-syntax", 422, "The template is not valid"
    members = extensions(errors=ERRORS)


class TemplateTooLong(Problem):
    """A text is too long for its channel with the longest possible values. Shorten it."""

    code, status, title = "notification-template-too-long", 422, "A text is too long"
    members = extensions(errors=ERRORS)


class LanguageMissing(Problem):
    """The English text must exist for every channel of the topic before a version is approved."""

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
            "pointer": f"/content/{tag}/{kind}",
            "code": "too_long",
            "detail": f"The {tag} text can have {size} bytes, at most {MOST_BYTES[kind]} fit.",
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
    return inside.replace("/texts", "/content", 1).replace("action_label", "actionLabel")
