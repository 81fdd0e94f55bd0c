"""A form as the sheet that is printed: every value in its place, as text and never as markup."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date
from typing import Any

from thenga.domains.bid.values.forms import Definition, Field, Filled

_BLANK = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Plain:
    """Values that are printed and kept nowhere: sealed numbers by field, identity numbers by
    director, and the names of the directors."""

    by_field: Mapping[str, str] = field(default_factory=dict)
    id_numbers: Mapping[str, str] = field(default_factory=dict)
    names: Mapping[str, str] = field(default_factory=dict)


def sheet_of(
    definition: Definition,
    filled: Mapping[str, Filled],
    plain: Plain,
    *,
    leave_out_prices: bool = False,
) -> dict[str, Any]:
    """The sheet of a form; what is not answered is a blank line for a pen."""
    shown = {
        one.field.id: "" if leave_out_prices and one.field.price else _shown(one, plain)
        for one in filled.values()
    }
    return {
        "code": definition.form_code,
        "title": definition.title,
        "edition": definition.edition,
        "bidder": _bidder(filled),
        "blocks": [_block(block, definition, filled, shown, plain) for block in definition.layout],
    }


def _bidder(filled: Mapping[str, Filled]) -> str:
    named = [one.value for one in filled.values() if one.field.source == "fact.legalName"]
    return str(named[0]) if named and named[0] else _BLANK


def _shown(one: Filled, plain: Plain) -> str:
    kind, value = one.field.type, one.value
    if one.field.sealed and kind == "text":
        return plain.by_field.get(one.field.id, _BLANK)
    if value is None or isinstance(value, list | dict):
        return _BLANK
    if kind == "yes_no":
        return str(value)
    if kind == "date":
        return _day(str(value))
    if kind == "money":
        return f"R {spaced(str(value))}"
    return str(value)


def spaced(amount: str) -> str:
    """Thousands with blanks, as South African forms are written: 494 041.60."""
    whole, _, cents = amount.partition(".")
    return f"{int(whole):,}".replace(",", " ") + (f".{cents}" if cents else "")


def _day(text: str) -> str:
    try:
        return date.fromisoformat(text).strftime("%d %B %Y").lstrip("0")
    except ValueError:
        return text


def _block(
    block: Mapping[str, Any],
    definition: Definition,
    filled: Mapping[str, Filled],
    shown: Mapping[str, str],
    plain: Plain,
) -> dict[str, Any]:
    def cell(field_id: str) -> dict[str, Any]:
        known = _known(definition, field_id)
        return {
            "number": known.number or "",
            "label": known.label,
            "note": known.note or "",
            "value": shown[field_id],
        }

    if "rows" in block:
        return {"rows": [[cell(one) for one in row] for row in block["rows"]]}
    if "columns" in block:
        return {
            "columns": [
                {"title": one["title"], "cells": [cell(name) for name in one["fields"]]}
                for one in block["columns"]
            ]
        }
    if "ask" in block:
        return {"ask": [cell(one) for one in block["ask"]]}
    if "tick" in block:
        known = _known(definition, block["tick"])
        ticked = shown[known.id]
        options = [{"label": one, "on": one == ticked} for one in known.options]
        return {"tick": {**cell(known.id), "options": options}}
    if "table" in block:
        return {"table": _table(_known(definition, block["table"]), filled, plain)}
    return dict(block)


def _known(definition: Definition, field_id: str) -> Field:
    found = definition.field(field_id)
    if found is None:
        raise LookupError(f"{definition.form_code} has no field {field_id}")
    return found


def _table(known: Field, filled: Mapping[str, Filled], plain: Plain) -> dict[str, Any]:
    one = filled[known.id]
    rows: list[list[str]] = []
    if known.type == "price_lines":
        rows = [
            [line["key"], line["quantity"], line["description"], line["price"]]
            for line in one.value or []
        ]
    elif known.type == "goals":
        rows = _goal_rows(one)
    elif known.type == "directors":
        rows = [
            [
                plain.names.get(row["directorId"], _BLANK),
                plain.id_numbers.get(row["directorId"], _BLANK),
                row["institution"],
            ]
            for row in one.answer.value or []
        ]
    blank = [[_BLANK] * len(known.columns)] * 3
    return {
        "number": known.number or "",
        "label": known.label if known.type != "price_lines" else "",
        "heads": [column["label"] for column in known.columns],
        "widths": [column.get("width", 1) for column in known.columns],
        "right": [bool(column.get("right")) for column in known.columns],
        "rows": rows or blank,
    }


def _goal_rows(one: Filled) -> list[list[str]]:
    """The buyer's goals with their points, and what the bidder claims of them, in numbers."""
    goals = one.known.value if one.known is not None else None
    claims = one.answer.value or {}
    rows = []
    for goal in goals or []:
        claim = claims.get(goal["key"], {})
        rows.append(
            [
                goal["text"],
                goal["points_9010"] or _BLANK,
                goal["points_8020"] or _BLANK,
                claim.get("claim9010") or _BLANK,
                claim.get("claim8020") or _BLANK,
            ]
        )
    return rows
