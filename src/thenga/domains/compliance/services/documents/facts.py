"""What a paper says: its days, its number, its attributes; some of them are sealed (CMP-2)."""

import re
from collections.abc import Mapping
from datetime import date
from typing import Any

import orjson

from thenga.domains.compliance.services.documents import types
from thenga.domains.compliance.services.documents.classes import PERSONAL
from thenga.domains.compliance.tables import Document, DocumentType, DocumentVersion
from thenga.domains.compliance.values import validity
from thenga.domains.compliance.values.validity import ValidUntil
from thenga.kernel.db import sealed
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.work import Work
from thenga.kernel.errors import RuleViolated, ValidationFailed
from thenga.kernel.process.host import Host
from thenga.kernel.values.calendar import local_day

# The field of the wire and the column of the version.
COLUMNS = {
    "issued_on": "issued_on",
    "expires_on": "expires_on",
    "number": "document_number",
    "issuer": "issuer",
    "holder_name": "holder_name",
    "period": "period",
}
_ID_NUMBER = re.compile(r"(?<![0-9])[0-9]{13}(?![0-9])")
UNDATED = "undated"  # the rule needs a day that the paper does not state


def apply(
    work: Work, version: DocumentVersion, kind: DocumentType, given: Mapping[str, Any]
) -> list[str]:
    """Set the facts that were sent on a version, null included; the names of what is new."""
    if kind.document_class == PERSONAL:
        _check_no_id_number(given)
    changed = [
        name
        for name, column in COLUMNS.items()
        if name in given and getattr(version, column) != given[name]
    ]
    for name in changed:
        setattr(version, COLUMNS[name], given[name])
    if "attributes" in given:
        attributes = given["attributes"] or {}
        if attributes != plain_attributes(work.host, version):
            _set_attributes(work, version, kind, attributes)
            changed.append("attributes")
    if changed:
        version.facts_by = work.actor.person_id
        version.facts_source = None
    _check_days(version, local_day(work.now))
    return changed


async def set_last_day(read: Reader, document: Document, version: DocumentVersion) -> None:
    """Compute the last good day of a version; that of the current one stands in the document."""
    found = await last_day(read, document, version)
    version.valid_until = found.on
    version.valid_basis = UNDATED if found.is_undated else found.basis
    if version.number == document.current_version:
        document.expires_on = version.expires_on
        document.valid_until, document.valid_basis = version.valid_until, version.valid_basis


def plain_attributes(host: Host, version: DocumentVersion) -> dict[str, Any]:
    """All attributes, the sealed ones opened; only for those who may read them."""
    if version.attributes_sealed is None:
        return dict(version.attributes)
    opened: dict[str, Any] = orjson.loads(sealed.unseal(host, version, "attributes_sealed"))
    return version.attributes | opened


async def last_day(read: Reader, document: Document, version: DocumentVersion) -> ValidUntil:
    """The last good day of a version: printed, by rule or by cycle (CMP-24)."""
    on = local_day(read.now)
    rule = await types.validity_rule(read, document.document_type_code, on=on)
    return validity.valid_until(
        rule,
        issued_on=version.issued_on,
        expires_on=version.expires_on,
        period_end=_period_end(version),
    )


def _set_attributes(
    work: Work, version: DocumentVersion, kind: DocumentType, given: Mapping[str, Any]
) -> None:
    faults = [
        {"pointer": f"/attributes/{name}", "code": "attribute", "detail": fault}
        for name, value in given.items()
        if (fault := _fault(kind.facts, name, value)) is not None
    ]
    if faults:
        raise ValidationFailed(errors=faults)
    secret = {name: value for name, value in given.items() if name in kind.sealed_fields}
    version.attributes = {n: v for n, v in given.items() if n not in secret}
    version.attributes_sealed = None
    if secret:
        version.attributes_sealed = sealed.seal(
            work.host,
            DocumentVersion,
            "attributes_sealed",
            orjson.dumps(secret),
            organization_id=version.organization_id,
            id=version.id,
        )


_TYPES: dict[str, tuple[type, ...]] = {
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "array": (list,),
    "object": (dict,),
}


def _fault(schema: Mapping[str, Any], name: str, value: Any) -> str | None:
    """What is wrong with one attribute, by the schema of its document type."""
    known: dict[str, Any] = schema.get("properties", {})
    if name not in known:
        listed = ", ".join(sorted(known)) or "none"
        return f"This document type has no such attribute. It has: {listed}."
    asked = known[name]
    wanted = _TYPES.get(asked.get("type", ""), (object,))
    is_flag = isinstance(value, bool) and bool not in wanted and object not in wanted
    if not isinstance(value, wanted) or is_flag:
        return f"Send a value of type {asked['type']}."
    return _bound_fault(asked, value)


def _bound_fault(asked: Mapping[str, Any], value: Any) -> str | None:
    if "enum" in asked and value not in asked["enum"]:
        return f"Send one of: {', '.join(map(str, asked['enum']))}."
    if isinstance(value, str):
        if len(value) > asked.get("maxLength", 500):
            return "This text is too long."
        if "pattern" in asked and re.search(asked["pattern"], value) is None:
            return "This value does not have the right format."
    elif isinstance(value, int | float) and not isinstance(value, bool):
        least, most = asked.get("minimum"), asked.get("maximum")
        if (least is not None and value < least) or (most is not None and value > most):
            return "This number is out of range."
    elif len(orjson.dumps(value)) > _MOST_BYTES:
        return "This value is too large."
    return None


_MOST_BYTES = 4000


def _check_days(version: DocumentVersion, today: date) -> None:
    issued, expires = version.issued_on, version.expires_on
    if issued is not None and issued > today:
        raise _wrong_day("/issuedOn", "The issue date cannot be in the future.")
    if issued is not None and expires is not None and expires < issued:
        raise _wrong_day("/expiresOn", "The expiry date cannot be before the issue date.")


def _wrong_day(pointer: str, detail: str) -> ValidationFailed:
    return ValidationFailed(errors=[{"pointer": pointer, "code": "day", "detail": detail}])


def _check_no_id_number(given: Mapping[str, Any]) -> None:
    """An ID number stays in the file; it is never a fact of a personal paper (CMP-44)."""
    if any(_ID_NUMBER.search(str(value)) for value in given.values()):
        raise RuleViolated(
            "Leave out ID numbers. They are in the file and are not stored separately.",
            rule="CMP-44",
        )


def _period_end(version: DocumentVersion) -> date | None:
    stated = version.attributes.get("periodEnd")
    try:
        return date.fromisoformat(stated) if isinstance(stated, str) else None
    except ValueError:
        return None
