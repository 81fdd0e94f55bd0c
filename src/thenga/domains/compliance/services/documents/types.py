"""Document types and validity rules in force on a day (CMP-3)."""

from datetime import date

from sqlalchemy import or_, select

from thenga.domains.compliance.tables import DocumentType, RequirementDefinition
from thenga.domains.compliance.values.validity import ValidityKind, ValidityRule
from thenga.kernel.db.reader import Reader
from thenga.kernel.errors import RuleViolated
from thenga.kernel.values.calendar import local_day

_ENDLESS = ValidityRule(ValidityKind.NO_EXPIRY)  # of papers that no requirement asks for


async def type_in_force(read: Reader, code: str) -> DocumentType:
    """The document type of a code as it stands today."""
    found = await _types(read, code, local_day(read.now))
    if not found:
        raise RuleViolated("There is no document type with this code.", rule="document-type")
    return found[0]


async def validity_rule(read: Reader, type_code: str, *, on: date) -> ValidityRule:
    """How long a paper of a type is good, by the requirement that asks for it."""
    statement = select(RequirementDefinition).where(
        RequirementDefinition.effective_from <= on,
        or_(RequirementDefinition.effective_to.is_(None), RequirementDefinition.effective_to >= on),
    )
    for definition in await read.all(statement.order_by(RequirementDefinition.code)):
        if type_code in (definition.proof.get("documentTypes") or ()):
            return ValidityRule.of_row(definition.validity)
    return _ENDLESS


async def _types(read: Reader, code: str, on: date) -> list[DocumentType]:
    statement = select(DocumentType).where(
        DocumentType.code == code,
        DocumentType.effective_from <= on,
        or_(DocumentType.effective_to.is_(None), DocumentType.effective_to >= on),
    )
    return await read.all(statement.order_by(DocumentType.effective_from.desc()), limit=1)
