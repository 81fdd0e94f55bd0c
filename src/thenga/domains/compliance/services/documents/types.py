"""Document types and validity rules in force on a day (CMP-3)."""

from datetime import date

from thenga.domains.compliance.services import requirements
from thenga.domains.compliance.tables import DocumentType
from thenga.domains.compliance.values.validity import ValidityKind, ValidityRule
from thenga.kernel.db.reader import Reader
from thenga.kernel.errors import RuleViolated
from thenga.kernel.values.calendar import local_day

_ENDLESS = ValidityRule(ValidityKind.NO_EXPIRY)  # of papers that no requirement asks for


async def type_in_force(read: Reader, code: str) -> DocumentType:
    """The document type of a code as it stands today."""
    found = (await requirements.document_types_on(read, local_day(read.now))).get(code)
    if found is None:
        raise RuleViolated("There is no document type with this code.", rule="document-type")
    return found


async def validity_rule(read: Reader, type_code: str, *, on: date) -> ValidityRule:
    """How long a paper of a type is good, by the requirement that asks for it."""
    definitions = await requirements.definitions_on(read, on)
    for _, definition in sorted(definitions.items()):
        if type_code in (definition.proof.get("documentTypes") or ()):
            return ValidityRule.of_row(definition.validity)
    return _ENDLESS
