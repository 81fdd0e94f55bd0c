"""The content of a template: its texts by language and channel, and the checks before it is kept.

Platform templates are files, `content/templates/<topic>.toml`; an organization's own are rows.
"""

import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Literal, get_args

from pydantic import BaseModel, ConfigDict

from thenga.domains.notification.services.templates import language
from thenga.domains.notification.services.templates.language import Syntax
from thenga.domains.notification.services.templates.topics import ChannelKind
from thenga.domains.notification.services.templates.variables import NAME, Variable

Language = Literal[
    "en-ZA",
    "af-ZA",
    "zu-ZA",
    "xh-ZA",
    "st-ZA",
    "nso-ZA",
    "tn-ZA",
    "ts-ZA",
    "ss-ZA",
    "ve-ZA",
    "nr-ZA",
]
LANGUAGES: tuple[Language, ...] = get_args(Language)
FALLBACK: Language = "en-ZA"
MOST_BYTES_OF_A_CHARACTER = 4
MOST_BYTES_OF_A_NUMBER = 80
CHANNEL_KINDS: tuple[ChannelKind, ...] = get_args(ChannelKind)
_FOLDER = Path(__file__).parents[2] / "content" / "templates"
_PARTS = ConfigDict(frozen=True, extra="forbid")


class InAppText(BaseModel):
    """What the inbox shows."""

    model_config = _PARTS

    title: str
    body: str
    action_label: str | None = None


class EmailText(BaseModel):
    """What a mail says."""

    model_config = _PARTS

    subject: str
    preheader: str = ""
    body: str


class SmsText(BaseModel):
    """What an SMS says."""

    model_config = _PARTS

    body: str


class Texts(BaseModel):
    """The texts of one language, by channel."""

    model_config = _PARTS

    in_app: InAppText | None = None
    email: EmailText | None = None
    sms: SmsText | None = None


class Content(BaseModel):
    """A template's variables and texts."""

    model_config = _PARTS

    variables: tuple[Variable, ...] = ()
    texts: dict[str, Texts]

    @property
    def declared(self) -> dict[str, Variable]:
        return {one.name: one for one in self.variables}


ContentCode = Literal[
    "language_unknown",
    "language_missing",
    "channel_missing",
    "name",
    "variable_twice",
    "variable_missing",
    "variable_differs",
    "variable_required",
    "example",
]


@dataclass(frozen=True, slots=True)
class ContentFault:
    """What is wrong with a content: where, and in which way."""

    pointer: str
    code: Syntax | ContentCode


def faults_of(content: Content, channels: tuple[str, ...]) -> list[ContentFault]:
    """Everything that keeps a content from being saved; English must be complete."""
    faults = [
        ContentFault(f"/variables/{number}/name", "name")
        for number, one in enumerate(content.variables)
        if not NAME.fullmatch(one.name)
    ]
    if FALLBACK not in content.texts:
        faults.append(ContentFault("/texts", "language_missing"))
    for tag, texts in content.texts.items():
        where = f"/texts/{tag}"
        if tag not in LANGUAGES:
            faults.append(ContentFault(where, "language_unknown"))
        if tag == FALLBACK:
            faults += [
                ContentFault(f"{where}/{channel}", "channel_missing")
                for channel in channels
                if getattr(texts, channel) is None
            ]
        faults += _faults(texts, where, content.declared)
    return faults


def _faults(texts: Texts, where: str, declared: Mapping[str, Variable]) -> Iterator[ContentFault]:
    for channel, parts in texts:
        for name, text in parts or ():
            if not text:
                continue
            is_markdown = name == "body" and channel != "sms"
            check = language.faults_of_body if is_markdown else language.faults_of_line
            for code in check(text, declared):
                yield ContentFault(f"{where}/{channel}/{name}", code)


def worst_case(content: Content) -> dict[tuple[str, ChannelKind], int]:
    """The most bytes of each language and channel, with the longest possible values."""
    longest = {one.name: _longest(one) for one in content.variables}
    return {
        (tag, kind): sum(
            len(text.encode()) + sum(longest.get(name, 0) for name in language.names_in(text))
            for _, text in parts
            if text
        )
        for tag, texts in content.texts.items()
        for kind in CHANNEL_KINDS
        if (parts := getattr(texts, kind)) is not None
    }


def _longest(variable: Variable) -> int:
    """The most bytes of a value; formatted numbers and dates are short."""
    is_text = variable.type in ("text", "url", "code")
    return variable.max_length * MOST_BYTES_OF_A_CHARACTER if is_text else MOST_BYTES_OF_A_NUMBER


@cache
def platform_content(key: str) -> Content:
    """The platform's own template of a topic."""
    return Content.model_validate(tomllib.loads((_FOLDER / f"{key}.toml").read_text()))
