"""Which keys exist, and whether a value fits (ADM-7, ADM-8)."""

import json
from typing import Any

from thenga.domains.administration.tables import Declaration, DeclarationStatus
from thenga.kernel.db.reader import Reader
from thenga.kernel.errors import Problem, ValidationFailed, extensions
from thenga.kernel.standing.setting_checks import SettingChecks, SettingFault, setting_checks_of


class UnknownKey(Problem):
    """No domain declares this key as a setting or policy of this kind. Use a declared key."""

    code, status, title = "administration-unknown-key", 422, "This key is not declared"


class ValueInvalid(Problem):
    """The value does not fit the type of the setting. `errors` says where and why; the value itself
    is not repeated."""

    code, status, title = "administration-value-invalid", 422, "This value is not valid"
    members = extensions(**ValidationFailed.members)


async def declared(read: Reader, key: str, kind: str) -> Declaration:
    """The declaration of a key that is in use."""
    found = await read.find(Declaration, key=key)
    if found is None or found.kind != kind or found.status is DeclarationStatus.RETIRED:
        raise UnknownKey(f"No domain declares `{key}` as a {kind} key.")
    return found


async def check_value(
    read: Reader,
    declaration: Declaration,
    value: Any,
    *,
    field: str,
    refusal: type[Problem] = ValueInvalid,
) -> Any:
    """The value as it is stored, checked by the domain that declares the key."""
    checks = read.port(setting_checks_of(declaration.domains[0]))
    assert isinstance(checks, SettingChecks)  # noqa: S101  # what the kernel binds to it
    checked = await checks.check(key=declaration.key, kind=declaration.kind, text=json.dumps(value))
    if checked.faults:
        raise refusal(
            f"`{declaration.key}` does not accept this value.",
            errors=[_error(fault, field) for fault in checked.faults],
        )
    return checked.value


def _error(fault: SettingFault, field: str) -> dict[str, str]:
    return {
        "pointer": f"/{field}{fault.pointer}",
        "code": fault.code,
        "detail": "The declared type does not allow this value here.",
    }
