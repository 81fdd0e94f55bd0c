"""The language of templates: `{{name}}` in Markdown without HTML, and nothing else (NOT-22).

A body is parsed before any value is put in, and each value is escaped for its channel, so a value
can be neither markup nor code.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Literal

import nh3
from markdown_it import MarkdownIt
from markdown_it.token import Token

from thenga.domains.notification.services.templates.variables import NAME, Variable

Syntax = Literal["placeholder", "undeclared", "html", "link", "line_break", "control_character"]

_PLACEHOLDER = re.compile(r"\{\{(" + NAME.pattern + r")\}\}")
_SPACED = re.compile(r"( ?)" + _PLACEHOLDER.pattern)
_HREF = re.compile(r"%7B%7B(" + NAME.pattern + r")%7D%7D")
_CODE = re.compile(r"\{\{|\}\}|\{%|%\}|\$\{|<%|%>|\{#")
_HTML = re.compile(r"<[A-Za-z/!?]|&[A-Za-z#][A-Za-z0-9]*;")
_LINE_BREAK = re.compile(r"[\n\r\x0b\x0c\x1c-\x1e\x85\u2028\u2029]")
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u2028\u2029]")
# What a body may consist of; a heading, a table or a picture stays text.
_RULES = ["emphasis", "list", "link", "newline", "balance_pairs", "fragments_join"]
_TAGS = {"p", "strong", "em", "ul", "ol", "li", "a", "br"}

_markdown = MarkdownIt("zero", {"html": False}).enable(_RULES)


def faults_of_line(text: str, variables: Mapping[str, Variable]) -> list[Syntax]:
    """What is wrong with a subject, a title or an SMS."""
    found: list[Syntax] = ["line_break"] if _LINE_BREAK.search(text) else []
    return found + list(_faults(text, variables))


def faults_of_body(text: str, variables: Mapping[str, Variable]) -> list[Syntax]:
    """What is wrong with a Markdown body."""
    found = list(_faults(text, variables))
    for token in _inline(text):
        if token.type == "link_open" and not _is_url(token, variables):
            found.append("link")
    return found


def names_in(text: str) -> list[str]:
    """The variables that a text names, as often as it names them."""
    return _PLACEHOLDER.findall(text)


def _faults(text: str, variables: Mapping[str, Variable]) -> Iterator[Syntax]:
    for name in _PLACEHOLDER.findall(text):
        if name not in variables:
            yield "undeclared"
    if _CODE.search(_PLACEHOLDER.sub("", text)):
        yield "placeholder"
    if _CONTROL.search(text):
        yield "control_character"
    if _HTML.search(text):
        yield "html"


def _is_url(token: Token, variables: Mapping[str, Variable]) -> bool:
    found = _HREF.fullmatch(str(token.attrs.get("href", "")))
    return found is not None and found[1] in variables and variables[found[1]].type == "url"


def _inline(text: str) -> Iterator[Token]:
    for block in _parsed(text):
        yield from block.children or ()


@lru_cache(maxsize=2048)
def _parsed(text: str) -> Sequence[Token]:
    return tuple(_markdown.parse(text))


def fill(text: str, values: Mapping[str, str]) -> str:
    """One line, or plain text, with its values; an empty one takes the blank before it along."""

    def value(found: re.Match[str]) -> str:
        return found[1] + values[found[2]] if values[found[2]] else ""

    return _SPACED.sub(value, text)


def to_html(body: str, values: Mapping[str, str]) -> str:
    """A body as HTML. What is not one of our own tags is removed once more at the end."""
    made = _markdown.renderer.render(_with_values(body, values), _markdown.options, {})
    return nh3.clean(made, tags=_TAGS, attributes={"a": {"href"}}, url_schemes={"https"})


def to_text(body: str, values: Mapping[str, str]) -> str:
    """A body as plain text: lists with hyphens, links with their address."""
    parts: list[str] = []
    for block in _with_values(body, values):
        if block.type == "inline":
            parts += _plain(block.children or [])
        elif block.type == "list_item_open":
            parts.append("- ")
        elif block.type == "paragraph_close":
            parts.append("\n" if block.hidden else "\n\n")
        elif block.type in ("bullet_list_close", "ordered_list_close"):
            parts.append("\n")
    return "".join(parts).strip() + "\n"


def _plain(tokens: Sequence[Token]) -> Iterator[str]:
    address = ""
    for token in tokens:
        if token.type == "text":
            yield token.content
        elif token.type == "softbreak":
            yield "\n"
        elif token.type == "link_open":
            address = str(token.attrs["href"])
        elif token.type == "link_close":
            yield f" ({address})"


def _with_values(body: str, values: Mapping[str, str]) -> list[Token]:
    """The parsed body with its values; text is escaped by whoever writes the tokens."""
    return [
        block.copy(children=[_with_value(one, values) for one in block.children])
        if block.children
        else block
        for block in _parsed(body)
    ]


def _with_value(token: Token, values: Mapping[str, str]) -> Token:
    if token.type == "text":
        return token.copy(content=fill(token.content, values))
    if token.type == "link_open":
        found = _HREF.fullmatch(str(token.attrs["href"]))
        return token.copy(attrs={"href": values[found[1]] if found else ""})
    return token
