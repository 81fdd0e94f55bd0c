"""The HTML of the pages for people, and of problems and events, each from what the code says."""

import json
import re
from collections.abc import Sequence
from html import escape
from inspect import cleandoc
from typing import Any

from thenga.kernel.declare.event import Event
from thenga.kernel.declare.manifest import Domain
from thenga.kernel.errors import Problem
from thenga.kernel.events import catalogue

_LINK = re.compile(r"\[([^\]]+)\]\((/[^)\s]*)\)")  # only to pages of our own
_NAVIGATION = (
    '<nav><a href="/docs">Reference</a><a href="/problems">Problems</a>'
    '<a href="/events">Events</a></nav>'
)


def page(title: str, body: str, aside: str = "") -> str:
    """A whole page; `aside` stands beside the text where the window is wide enough."""
    main = f"<main><h1>{escape(title)}</h1>{body}</main>"
    shown = f'<div class="columns">{aside}{main}</div>' if aside else main
    wide = ' class="with-aside"' if aside else ""
    return (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>{escape(title)}'
        '</title><meta name="viewport" content="width=device-width, initial-scale=1">'
        '<link rel="stylesheet" href="/docs/assets/page.css"></head>'
        f"<body{wide}>{_NAVIGATION}{shown}</body></html>\n"
    )


def prose(text: str) -> str:
    """A docstring as paragraphs, with what stands in backticks as code."""
    paragraphs = cleandoc(text).split("\n\n")
    return "".join(f"<p>{inline(paragraph)}</p>" for paragraph in paragraphs)


def problem_page(kind: type[Problem]) -> str:
    meaning = prose(kind.__doc__ or kind.title)
    facts = f"<p>Status {kind.status}, code <code>{escape(kind.code)}</code></p>"
    return page(kind.title, facts + meaning)


def problem_list(kinds: Sequence[type[Problem]]) -> str:
    rows = "".join(
        f'<tr><td>{kind.status}</td><td><a href="/problems/{escape(kind.code)}">'
        f"<code>{escape(kind.code)}</code></a></td><td>{escape(kind.title)}</td></tr>"
        for kind in kinds
    )
    said = (
        "<p>Every refusal has a code. Programs decide by the code; "
        "people read the <code>detail</code>.</p>"
    )
    return page("Problems", said + table(("Status", "Code", "Title"), rows))


def event_list(domains: Sequence[Domain]) -> str:
    told = catalogue.events(domains)
    listed = "".join(
        f'<li><a href="#{escape(event.type)}"><code>{escape(event.type)}</code></a></li>'
        for event in told
    )
    said = "<p>Ask for <code>application/json</code> to get the AsyncAPI document.</p>"
    return page("Events", f"{said}<ul>{listed}</ul>{''.join(_event(each) for each in told)}")


def _event(event: type[Event]) -> str:
    schema = catalogue.data_schema(event)
    required = schema.get("required", [])
    rows = "".join(
        f"<tr><td><code>{escape(name)}</code></td><td>{escape(_kind(field))}</td>"
        f"<td>{'always' if name in required else ''}</td>"
        f"<td>{inline(field.get('description', ''))}</td></tr>"
        for name, field in schema.get("properties", {}).items()
    )
    example = json.dumps(catalogue.example(event), indent=2, ensure_ascii=False)
    return (
        f'<section><h2 id="{escape(event.type)}">{escape(event.type)}</h2>'
        f"{prose(catalogue.description(event))}"
        f"{table(('Field of data', 'Kind', 'Present', 'Meaning'), rows)}"
        f"<pre>{escape(example)}</pre></section>"
    )


def _kind(field: dict[str, Any]) -> str:
    if "$ref" in field:
        return str(field["$ref"]).rpartition("/")[2]
    if "anyOf" in field:
        return " or ".join(_kind(each) for each in field["anyOf"])
    if "enum" in field:
        return ", ".join(str(each) for each in field["enum"])
    if field.get("type") == "array":
        return f"list of {_kind(field.get('items', {}))}"
    return str(field.get("format") or field.get("const") or field.get("type", "any"))


def article(text: str) -> str:
    """The Markdown of our own texts: headings, paragraphs, code blocks, code and links."""
    shown = []
    for number, part in enumerate(text.split("```")):
        if number % 2:
            shown.append(f"<pre>{escape(part.strip())}</pre>")
            continue
        for block in filter(None, (each.strip() for each in part.split("\n\n"))):
            heading = block.removeprefix("## ")
            name = "h3" if heading != block else "p"
            shown.append(f"<{name}>{inline(heading)}</{name}>")
    return "".join(shown)


def table(heads: Sequence[str], rows: str) -> str:
    """Rows that are written already, under their heads."""
    head = "".join(f"<th>{escape(each)}</th>" for each in heads)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"


def inline(text: str) -> str:
    """A sentence with its code and its links."""
    parts = escape(text.replace("\n", " ")).split("`")
    return "".join(
        f"<code>{part}</code>" if odd % 2 else _LINK.sub(r'<a href="\2">\1</a>', part)
        for odd, part in enumerate(parts)
    )
