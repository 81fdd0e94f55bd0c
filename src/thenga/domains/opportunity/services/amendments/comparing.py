"""Comparing two documents of a tender: what changed, and how much it matters (OPP-44)."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from difflib import SequenceMatcher
from typing import Any

from thenga.domains.opportunity.settings import Materiality

_NUMBERS = re.compile(r"\d+")
_LONG = 1000  # characters from which words are compared instead of letters
CRITICAL, MATERIAL, MINOR = "critical", "material", "minor"

_TEXTS = ("title", "description", "specialConditions")
_PLACE = ("provinces", "municipalityCode", "deliveryText")
_METHOD = ("method", "methodDetails")
_TERMS = ("validityDays", "preference", "submission", "functionality", "forms")
_WEIGHTY_DOCUMENTS = ("addendum", "biddingDocuments", "billOfQuantity", "clarifications")
_WEIGHTY_CLASSES = ("mandatory", "scored")
_BRIEFING = ("startsAt", "kind", "venue", "compulsory", "status")
_LISTS = ("briefings", "documents", "requirements")
# What matching reads (OPP-33).
_MATCHED = (
    *("/title", "/description", "/classifications", "/mainCategory", "/categoryText", "/value"),
    *("/provinces", "/municipalityCode", "/closingAt", "/closingPrecision", "/method"),
    *("/buyer/sphere", "/briefings", "/requirements"),
)


@dataclass(frozen=True)
class Change:
    """One difference; `rule` says why it has its level."""

    path: str
    kind: str
    old: Any
    new: Any
    level: str
    rule: str

    def to_row(self) -> dict[str, Any]:
        """The change as it is stored and shown."""
        return {
            "path": self.path,
            "kind": self.kind,
            "old": self.old,
            "new": self.new,
            "level": self.level,
            "rule": self.rule,
        }


def compare(old: Mapping[str, Any], new: Mapping[str, Any], rules: Materiality) -> list[Change]:
    """Every difference between two documents."""
    changes = []
    for name in sorted({*old, *new} - {*_LISTS, "terms", "buyer"}):
        changes += _field(name, old.get(name), new.get(name), rules)
    for group, level in (("buyer", MINOR), ("terms", MATERIAL)):
        before, after = old.get(group) or {}, new.get(group) or {}
        for name in sorted({*before, *after}):
            weight = level if group == "buyer" or name in _TERMS else MINOR
            changes += _change(f"/{group}/{name}", before.get(name), after.get(name), weight, group)
    for name in _LISTS:
        changes += _list(name, old.get(name) or {}, new.get(name) or {})
    return changes


def level_of(changes: list[Change]) -> str:
    """The weightiest level among them."""
    levels = {one.level for one in changes}
    return next(level for level in (CRITICAL, MATERIAL, MINOR) if level in levels)


def moves_match(changes: list[Change]) -> bool:
    """Whether a field changed that matching reads."""
    return any(one.path.startswith(_MATCHED) for one in changes)


def _field(name: str, old: Any, new: Any, rules: Materiality) -> list[Change]:
    path = f"/{name}"
    if name == "closingAt":
        return _change(path, old, new, _closing(old, new), "closing")
    if name == "closingPrecision":
        return _change(path, old, new, MATERIAL, "closing")
    if name in _TEXTS:
        return _change(path, old, new, _text(old, new, rules), "text")
    if name in _PLACE:
        return _change(path, old, new, MATERIAL, "place")
    if name in _METHOD:
        return _change(path, old, new, MATERIAL, "method")
    if name == "value":
        return _change(path, old, new, _value(old, new, rules), "value")
    return _change(path, old, new, MINOR, "other")


def _change(path: str, old: Any, new: Any, level: str, rule: str) -> list[Change]:
    if old == new:
        return []
    kind = "added" if old in (None, []) else "removed" if new in (None, []) else "changed"
    return [Change(path, kind, old, new, level, rule)]


def _closing(old: str | None, new: str | None) -> str:
    if old is None or new is None:
        return MATERIAL
    return CRITICAL if datetime.fromisoformat(new) < datetime.fromisoformat(old) else MATERIAL


def _text(old: str | None, new: str | None, rules: Materiality) -> str:
    before, after = old or "", new or ""
    if _NUMBERS.findall(before) != _NUMBERS.findall(after):
        return MATERIAL
    return MATERIAL if likeness(before, after) < rules.text_likeness else MINOR


def likeness(before: str, after: str) -> Decimal:
    """How alike two texts are, in percent."""
    if max(len(before), len(after)) > _LONG:
        ratio = SequenceMatcher(None, before.split(), after.split(), autojunk=False).ratio()
    else:
        ratio = SequenceMatcher(None, before, after, autojunk=False).ratio()
    return Decimal(str(ratio)) * 100


def _value(old: dict[str, str] | None, new: dict[str, str] | None, rules: Materiality) -> str:
    if old is None or new is None or old["currency"] != new["currency"]:
        return MATERIAL
    before, after = Decimal(old["amount"]), Decimal(new["amount"])
    return MATERIAL if abs(after - before) * 100 > rules.value_percent * before else MINOR


def _list(name: str, old: Mapping[str, Any], new: Mapping[str, Any]) -> list[Change]:
    changes: list[Change] = []
    for key in [*old, *(key for key in new if key not in old)]:
        before, after = old.get(key), new.get(key)
        path = f"/{name}/{key}"
        if before is None or after is None:
            level = _item(name, before or after or {})
            changes += _change(path, before, after, level, name)
            continue
        for part in sorted({*before, *after}):
            was, now = before.get(part), after.get(part)
            if part == "sha256" and was is None:
                continue  # the document was fetched; the notice says the same
            level = _part(name, part, after)
            changes += _change(f"{path}/{part}", was, now, level, name)
    return changes


def _item(name: str, item: Mapping[str, Any]) -> str:
    if name == "briefings":
        return MATERIAL
    if name == "requirements":
        return MATERIAL if item["class"] in _WEIGHTY_CLASSES else MINOR
    return MATERIAL if item["documentType"] in _WEIGHTY_DOCUMENTS else MINOR


def _part(name: str, part: str, item: Mapping[str, Any]) -> str:
    if name == "briefings":
        return MATERIAL if part in _BRIEFING else MINOR
    if name == "documents":
        weighty = part in ("sha256", "url") and item["documentType"] in _WEIGHTY_DOCUMENTS
        return MATERIAL if weighty else MINOR
    return _item(name, item)
