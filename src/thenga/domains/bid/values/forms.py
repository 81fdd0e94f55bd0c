"""Definitions of forms, and the answers that a form of a bid keeps.

An answer by reference has no value here: the value is asked when it is shown or printed (BID-19).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from enum import StrEnum
from typing import Any

BUYERS_FORM = "BUYER"  # the code of a form that the catalogue does not know


@dataclass(frozen=True, slots=True, kw_only=True)
class Field:
    """One field of a form; `source` names the fact that it is proposed from."""

    id: str
    label: str
    type: str
    number: str | None = None
    note: str | None = None
    required: bool = False
    required_if: Mapping[str, str] | None = None
    source: str | None = None
    material: bool = False
    sealed: bool = False
    price: bool = False
    declaration: bool = False
    rule: str | None = None
    options: tuple[str, ...] = ()
    columns: tuple[Mapping[str, Any], ...] = ()

    @classmethod
    def of_row(cls, row: Mapping[str, Any]) -> "Field":
        known: dict[str, Any] = {_SNAKE.get(name, name): value for name, value in row.items()}
        known |= {name: tuple(known[name]) for name in ("options", "columns") if name in known}
        return cls(**known)


_SNAKE = {"requiredIf": "required_if"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Definition:
    """One edition of a form, with its fields and the layout it is printed in."""

    form_code: str
    edition: str
    regime: str
    title: str
    titles: tuple[str, ...]
    twin: str | None
    effective_from: date
    effective_to: date | None
    superseded_by: str | None
    stage: str
    per_bidder: bool
    signature: bool
    price: bool
    mark: str | None
    fields: tuple[Field, ...]
    layout: tuple[Mapping[str, Any], ...]

    @classmethod
    def of_row(cls, row: Mapping[str, Any]) -> "Definition":
        until = row["effectiveTo"]
        return cls(
            form_code=row["formCode"],
            edition=row["edition"],
            regime=row["regime"],
            title=row["title"],
            titles=tuple(row["titles"]),
            twin=row["twin"],
            effective_from=date.fromisoformat(row["effectiveFrom"]),
            effective_to=date.fromisoformat(until) if until else None,
            superseded_by=row["supersededBy"],
            stage=row["stage"],
            per_bidder=row["perBidder"],
            signature=row["signature"],
            price=row["price"],
            mark=row["mark"],
            fields=tuple(Field.of_row(one) for one in row["fields"]),
            layout=tuple(row["layout"]),
        )

    def field(self, field_id: str) -> Field | None:
        return next((one for one in self.fields if one.id == field_id), None)

    def in_force(self, on: date) -> bool:
        return self.effective_from <= on and (self.effective_to is None or on <= self.effective_to)


class AnswerState(StrEnum):
    """Status of an answer."""

    MISSING = "missing"
    PROPOSED = "proposed"
    CONFIRMED = "confirmed"
    STALE = "stale"


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """An answer as it is kept: a person's value, or a reference and the version confirmed."""

    value: Any = None
    ref: Mapping[str, Any] | None = None
    provenance: str | None = None
    confirmed_by: str | None = None
    confirmed_at: str | None = None

    @classmethod
    def of_row(cls, row: Mapping[str, Any]) -> "Answer":
        return cls(**row)

    def to_row(self) -> dict[str, Any]:
        row = {
            "value": self.value,
            "ref": self.ref,
            "provenance": self.provenance,
            "confirmed_by": self.confirmed_by,
            "confirmed_at": self.confirmed_at,
        }
        return {name: value for name, value in row.items() if value is not None}

    @property
    def is_confirmed(self) -> bool:
        return self.confirmed_at is not None


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """What a source says now: the value, where it comes from and in which version.

    A sealed value is not among them; `mask` stands in its place. `warning` is `conflict`, `stale`
    or `ai_suggested`.
    """

    value: Any = None
    mask: str | None = None
    ref: Mapping[str, Any] | None = None
    provenance: str | None = None
    warning: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Filled:
    """A field with its answer and what its source says now."""

    field: Field
    answer: Answer
    known: Known | None
    state: AnswerState

    @property
    def value(self) -> Any:
        """The value to show; of a reference what its source says now. Points are claimed for
        goals that the tender states, so of these both are kept."""
        if self.field.type == "goals":
            return self.answer.value
        if self.answer.ref is not None or (not self.answer.is_confirmed and self.known):
            return self.known.value if self.known is not None else None
        return self.answer.value


def fill(
    definition: Definition, answers: Mapping[str, Answer], known: Mapping[str, Known]
) -> dict[str, Filled]:
    """Every field of a form with its answer, its source and its state."""
    return {one.id: _filled(one, answers.get(one.id, Answer()), known) for one in definition.fields}


def _filled(field: Field, answer: Answer, known: Mapping[str, Known]) -> Filled:
    source = known.get(field.source) if field.source else None
    return Filled(field=field, answer=answer, known=source, state=_state(answer, source))


def _state(answer: Answer, source: Known | None) -> AnswerState:
    if not answer.is_confirmed:
        proposed = answer.ref is not None or (source is not None and source.ref is not None)
        return AnswerState.PROPOSED if proposed else AnswerState.MISSING
    moved = source is not None and source.ref is not None and not _same(answer.ref, source.ref)
    return AnswerState.STALE if answer.ref is not None and moved else AnswerState.CONFIRMED


def _same(cited: Mapping[str, Any] | None, now: Mapping[str, Any]) -> bool:
    """Whether two citations are of one content: by hash where there is one, else by version."""
    if cited is None or cited["id"] != now["id"]:
        return False
    if "sha256" in cited and "sha256" in now:
        return bool(cited["sha256"] == now["sha256"])
    return bool(cited["version"] == now["version"])
