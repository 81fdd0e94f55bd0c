"""What is wrong with the answers of a form, and what makes it incomplete (BID-18 to 20)."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from typing import Any

from thenga.domains.bid.values.findings import Class, Finding
from thenga.domains.bid.values.forms import AnswerState, Definition, Field, Filled

_DIGITS = re.compile(r"[0-9]{10}")
_YES_NO = ("yes", "no")
_LONGEST = {"text": 300, "lines": 4000}
_MOST_DIRECTORS = 50


class AnswerFault(ValueError):
    """An answer that its field does not take; says what would be right."""


@dataclass(frozen=True, slots=True)
class DirectorFlags:
    """What Organization knows of a director, for the declarations of a form (BID-20)."""

    name: str
    public_servant: str
    restricted: str


def checked_value(field: Field, value: Any, goals: Mapping[str, Mapping[str, Any]]) -> Any:
    """A person's answer in the form it is kept in; `AnswerFault` where the field refuses it."""
    if field.type == "yes_no":
        return _one_of(value, _YES_NO)
    if field.type == "choice":
        return _one_of(value, field.options)
    if field.type == "accept":
        if value is not True:
            raise AnswerFault("Send true to accept.")
        return True
    if field.type == "directors":
        return _directors(value)
    if field.type == "goals":
        return _claims(value, goals)
    if field.type in ("text", "lines", "date"):
        return _text(field, value)
    raise AnswerFault("This field is filled in from the price and cannot be answered.")


def _one_of(value: Any, options: Sequence[str]) -> str:
    if not isinstance(value, str) or value not in options:
        raise AnswerFault(f"Answer with one of: {', '.join(options)}.")
    return value


def _text(field: Field, value: Any) -> str:
    most = _LONGEST.get(field.type, 300)
    if not isinstance(value, str) or not value.strip() or len(value) > most:
        raise AnswerFault(f"Write between 1 and {most} characters.")
    if field.rule == "vat_number" and not _DIGITS.fullmatch(value):
        raise AnswerFault("A VAT number has ten digits.")
    return value.strip()


def _directors(value: Any) -> list[dict[str, Any]]:
    """Rows that name a director; identity numbers are never taken here (BID-24)."""
    if not isinstance(value, list) or len(value) > _MOST_DIRECTORS:
        raise AnswerFault("Send a list of directors.")
    rows = []
    for row in value:
        extra = set(row) - {"directorId", "institution"} if isinstance(row, dict) else {"row"}
        if extra or not isinstance(row.get("directorId"), str):
            raise AnswerFault("Each row needs exactly `directorId` and `institution`.")
        institution = row.get("institution")
        if not isinstance(institution, str) or not 1 <= len(institution.strip()) <= 200:
            raise AnswerFault("Name the state institution of each director.")
        rows.append({"directorId": row["directorId"], "institution": institution.strip()})
    return rows


def _claims(value: Any, goals: Mapping[str, Mapping[str, Any]]) -> dict[str, dict[str, Any]]:
    """Points claimed for each goal, as numbers, never above its allocation."""
    if not isinstance(value, dict) or set(value) - set(goals):
        raise AnswerFault(f"Claim points for the goals of the tender: {', '.join(goals)}.")
    claims: dict[str, dict[str, Any]] = {}
    for key, claim in value.items():
        if not isinstance(claim, dict) or set(claim) - {"claim8020", "claim9010", "proof"}:
            raise AnswerFault("Each goal can have only `claim8020`, `claim9010` and `proof`.")
        claims[key] = {
            name: _points(claim.get(name), goals[key].get(limit))
            for name, limit in (("claim8020", "points_8020"), ("claim9010", "points_9010"))
        }
        proof = claim.get("proof")
        if proof is not None and (not isinstance(proof, str) or len(proof) > 200):
            raise AnswerFault("The proof must be the ID of evidence or of a file.")
        claims[key]["proof"] = proof
    return claims


def _points(value: Any, most: Any) -> str | None:
    if value is None:
        return None
    try:
        points = Decimal(value) if isinstance(value, str) else Decimal(-1)
    except InvalidOperation:
        points = Decimal(-1)
    if not points.is_finite() or not 0 <= points <= Decimal(most or 0):
        raise AnswerFault(f"Claim between 0 and {most or 0} points, sent as a string.")
    return format(points, "f")


def is_required(field: Field, filled: Mapping[str, Filled]) -> bool:
    """Whether an answer is needed, given the others."""
    if field.required:
        return True
    needed = field.required_if or {}
    return any(filled[other].value == value for other, value in needed.items())


def check(
    definition: Definition,
    filled: Mapping[str, Filled],
    *,
    directors: Sequence[DirectorFlags] | None,
    claims: Mapping[str, Mapping[str, Any]],
) -> list[Finding]:
    """Everything that is missing, contradicted or doubtful, by field. `claims` are the points that
    the scenario of the price reckons with."""
    return [
        *_missing(filled),
        *_doubtful(filled),
        *_contradictions(definition, filled, directors),
        *_other_points(filled, claims),
    ]


def _missing(filled: Mapping[str, Filled]) -> Iterator[Finding]:
    for one in filled.values():
        field, needed = one.field, is_required(one.field, filled)
        if one.state is AnswerState.STALE:
            yield _finding(
                "answer_stale", field, "changed since it was confirmed", "Confirm the answer."
            )
        elif needed and one.state is AnswerState.PROPOSED:
            yield _finding("answer_unconfirmed", field, "not confirmed", "Confirm the answer.")
        elif needed and _is_empty(one):
            yield _finding("answer_missing", field, "no answer", "Answer the field.")
        elif field.rule and field.rule.startswith("one_of:"):
            other = filled[field.rule.partition(":")[2]]
            if _is_empty(one) and _is_empty(other) and field.id < other.field.id:
                told = f"answer this field or {other.field.label}"
                yield _finding("answer_missing", field, told, "Answer one of the two fields.")
        unasked = field.required_if and not needed and one.answer.value not in (None, [], "")
        if field.type == "directors" and unasked:
            yield _finding(
                "declaration_contradiction",
                field,
                "lists people although the answer is no",
                "Empty the table, or answer yes.",
            )


def _is_empty(one: Filled) -> bool:
    if one.state is AnswerState.PROPOSED or not one.answer.is_confirmed:
        return True
    if one.answer.ref is not None:
        return False
    return one.answer.value in (None, "", [], {})


def _doubtful(filled: Mapping[str, Filled]) -> Iterator[Finding]:
    for one in filled.values():
        if one.known is not None and one.known.warning is not None and one.answer.ref is not None:
            yield _finding(
                f"source_{one.known.warning}",
                one.field,
                "based on a fact that is in conflict or out of date",
                "Correct or confirm the fact in the company profile.",
                Class.WARNING,
            )


def _contradictions(
    definition: Definition,
    filled: Mapping[str, Filled],
    directors: Sequence[DirectorFlags] | None,
) -> Iterator[Finding]:
    """What the profile knows of directors against what the declaration says (BID-20)."""
    asked = definition.field("2.1")
    if definition.form_code != "SBD 4" or asked is None:
        return
    if directors is None:
        yield _finding(
            "flag_unknown",
            asked,
            "could not be checked against the directors of the company",
            "Try again in a moment.",
            Class.HIGH_RISK,
        )
        return
    answer = filled["2.1"].answer.value
    for one in directors:
        if one.restricted == "yes" or (one.public_servant == "yes" and answer == "no"):
            what = "listed as restricted" if one.restricted == "yes" else "in state service"
            yield _finding(
                "declaration_contradiction",
                asked,
                f"contradicts the profile: {one.name} is {what}",
                "Correct the declaration or the director's profile.",
            )
        elif {one.public_servant, one.restricted} & {"possible", "unknown"} and answer == "no":
            yield _finding(
                "flag_unknown",
                asked,
                f"not certain for {one.name}",
                "Ask the director and record the answer in the profile.",
                Class.HIGH_RISK,
                suffix=one.name,
            )


def _other_points(
    filled: Mapping[str, Filled], claims: Mapping[str, Mapping[str, Any]]
) -> Iterator[Finding]:
    """Points that the form claims and the scenario of the price does not, or the other way."""
    for one in filled.values():
        stated = one.answer.value
        if one.field.type != "goals" or not stated or not claims:
            continue
        other = [
            goal
            for goal in sorted({*stated, *claims})
            if _claimed(stated.get(goal, {}), "claim8020", "claim9010")
            != _claimed(claims.get(goal, {}), "claim_8020", "claim_9010")
        ]
        if other:
            yield _finding(
                "goals_differ",
                one.field,
                f"claims differ from the price scenario for {', '.join(other)}",
                "Correct the claim or the price scenario.",
                Class.HIGH_RISK,
            )


def _claimed(claim: Mapping[str, Any], *names: str) -> list[Decimal]:
    return [Decimal(claim.get(name) or 0) for name in names]


def _finding(
    code: str,
    field: Field,
    text: str,
    remedy: str,
    severity: Class = Class.BLOCKING,
    suffix: str = "",
) -> Finding:
    name = f"{field.number} " if field.number else ""
    subject = f"field:{field.id}" + (f":{suffix}" if suffix else "")
    return Finding(
        code=code,
        severity=severity,
        subject=subject,
        text=f"{name}{field.label[:120]}: {text}.",
        remedy=remedy,
    )
