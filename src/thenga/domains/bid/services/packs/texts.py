"""The text of a proposal as PDF: Markdown becomes a tree of plain data, never markup (BID-23)."""

import asyncio
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.token import Token

from thenga.kernel.files import printing

TEMPLATE = Path(__file__).parents[2] / "content" / "proposal.typ"
RENDERER = "typst 0.15, proposal.typ 1"
_PARSER = MarkdownIt("commonmark", {"html": False}).enable("table")
_WRAPPERS = {
    "bullet_list_open": "bullets",
    "ordered_list_open": "numbers",
    "blockquote_open": "quote",
    "list_item_open": "item",
    "table_open": "table",
    "tr_open": "row",
}
_SKIPPED = ("thead_open", "thead_close", "tbody_open", "tbody_close", "html_block")


async def print_draft(
    title: str, sections: Sequence[tuple[str, str]], *, bidder: str, made_at: datetime
) -> bytes:
    """A draft with its sections, each with title and Markdown."""
    sheet = {
        "title": title,
        "bidder": bidder,
        "sections": [{"title": name, "blocks": tree(content)} for name, content in sections],
    }
    made = await asyncio.to_thread(printing.typeset, TEMPLATE, sheet, made_at=made_at)
    return made.content


def tree(content: str) -> list[dict[str, Any]]:
    """The blocks of a Markdown text as plain data."""
    top: list[dict[str, Any]] = []
    stack = [top]
    tokens = iter(_PARSER.parse(content))
    for token in tokens:
        if token.type in _SKIPPED:
            continue
        if token.type in _WRAPPERS:
            inner: list[dict[str, Any]] = []
            stack[-1].append({"kind": _WRAPPERS[token.type], "blocks": inner})
            stack.append(inner)
        elif token.type in ("heading_open", "paragraph_open", "th_open", "td_open"):
            inline = next(tokens)
            stack[-1].append(_block(token, inline))
            next(tokens)
        elif token.nesting < 0:
            stack.pop()
        elif token.type in ("fence", "code_block"):
            stack[-1].append({"kind": "code", "text": token.content})
        elif token.type == "hr":
            stack[-1].append({"kind": "rule"})
    return top


def _block(token: Token, inline: Token) -> dict[str, Any]:
    kinds = {"heading_open": "heading", "paragraph_open": "paragraph"}
    block: dict[str, Any] = {"kind": kinds.get(token.type, "cell"), "runs": _runs(inline)}
    if token.type == "heading_open":
        block["level"] = int(token.tag[1:])
    return block


def _runs(inline: Token) -> list[dict[str, Any]]:
    """Pieces of a line with their emphasis; a link or a picture is its text."""
    runs: list[dict[str, Any]] = []
    strong, emphasis = 0, 0
    for child in inline.children or ():
        if child.type in ("strong_open", "strong_close"):
            strong += child.nesting
        elif child.type in ("em_open", "em_close"):
            emphasis += child.nesting
        elif child.type in ("softbreak", "hardbreak"):
            runs.append({"text": "\n" if child.type == "hardbreak" else " ", "style": ""})
        elif child.content:
            code = "code" if child.type == "code_inline" else ""
            style = code or ("strong" if strong else "emphasis" if emphasis else "")
            runs.append({"text": child.content, "style": style})
    return runs
