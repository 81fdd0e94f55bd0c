"""The catalogue: definitions and document types, chosen by the evaluated day (CMP-3)."""

from collections.abc import Mapping
from datetime import date
from functools import cache

from sqlalchemy import ColumnElement, func, or_, select

from thenga.domains.compliance.services.requirements.seeding import declared
from thenga.domains.compliance.tables import DocumentType, Requirement, RequirementDefinition
from thenga.domains.compliance.values.terms import NEEDED_AT, Terms
from thenga.kernel.db.reader import Reader

_OWN_COMPONENT, _OWN_WEIGHT, _OWN_GATE = "standing", 1, "soft"


async def definitions_on(read: Reader, day: date) -> dict[str, RequirementDefinition]:
    """The definitions in force on a day, by code."""
    statement = select(RequirementDefinition).where(in_force(RequirementDefinition, day))
    rows = await read.all(statement.order_by(RequirementDefinition.effective_from))
    return {row.code: row for row in rows}


async def document_types_on(read: Reader, day: date) -> dict[str, DocumentType]:
    """The document types in force on a day, by code."""
    statement = select(DocumentType).where(in_force(DocumentType, day))
    rows = await read.all(statement.order_by(DocumentType.effective_from))
    return {row.code: row for row in rows}


def statement_questions(code: str) -> dict[str, str] | None:
    """The questions of a catalogue statement, by code; None for a statement it does not have."""
    return _statements().get(code)


@cache
def _statements() -> dict[str, dict[str, str]]:
    return {
        code: {one["code"]: one["text"] for one in statement["questions"]}
        for code, statement in declared("declarations").items()
    }


async def next_change(read: Reader, day: date) -> date | None:
    """The next day on which a definition begins to count, if one is known."""
    statement = select(func.min(RequirementDefinition.effective_from)).where(
        RequirementDefinition.effective_from > day
    )
    return await read.value(statement)


def in_force(
    row: type[RequirementDefinition] | type[DocumentType], day: date
) -> ColumnElement[bool]:
    """Whether a dated row counts on a day."""
    return (row.effective_from <= day) & or_(row.effective_to.is_(None), row.effective_to >= day)


def terms_of(
    requirement: Requirement, definitions: Mapping[str, RequirementDefinition]
) -> Terms | None:
    """What a requirement asks for; None where its code is not in the catalogue on that day."""
    code = requirement.definition_code
    definition = definitions.get(code) if code is not None else None
    if definition is None:
        return None if code is not None else _own_terms(requirement)
    return Terms(
        code=definition.code,
        title=requirement.title or definition.title,
        component=definition.component,
        weight=definition.weight,
        gate=requirement.gate or definition.gate,
        hard_when=None if requirement.gate else definition.hard_when,
        locked=definition.locked,
        per_subject=definition.per_subject,
        proof=definition.proof,
        validity=definition.validity,
        recheck_days=definition.recheck_days,
        min_assurance=definition.min_assurance,
        needed_at=tuple(definition.needed_at),
        params=requirement.params,
        source=definition.source,
    )


def _own_terms(requirement: Requirement) -> Terms:
    """An own requirement, or free text of a tender, which only a person assesses (CMP-5)."""
    return Terms(
        code=None,
        title=requirement.title or "",
        component=requirement.component or _OWN_COMPONENT,
        weight=requirement.weight or _OWN_WEIGHT,
        gate=requirement.gate or _OWN_GATE,
        hard_when=None,
        locked=False,
        per_subject="organization",
        proof=requirement.proof,
        validity=requirement.validity,
        recheck_days=None,
        min_assurance="internal",
        needed_at=NEEDED_AT,
        params=requirement.params,
        source=None,
    )
