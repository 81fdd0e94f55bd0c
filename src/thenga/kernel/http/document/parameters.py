"""The parameters of operations in the API document, each said once."""

import re
from collections.abc import Iterable
from typing import Any

from thenga.kernel.declare.permission import Audience
from thenga.kernel.http.document.operations import Operation
from thenga.kernel.http.document.schemas import without_null, without_titles
from thenga.kernel.http.reference import PARAMETERS, REASONS

Json = dict[str, Any]

_PARAMETERS = "#/components/parameters/"
# What every list takes (`lists`).
_OF_LISTS = {"limit": "Limit", "cursor": "Cursor"}
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")


class TwoMeanings(TypeError):
    """One parameter of a path is described in two ways within a domain."""


def share(made: Json, listed: Iterable[Operation]) -> None:
    """Put parameters of paths and of all lists among the components; filters stay where they are.

    A filter is one list's own: what another list calls the same may take other values.
    """
    shared: Json = dict(PARAMETERS)
    for one in listed:
        operation = made["paths"][one.path][one.method.lower()]
        if _is_read_by_staff(one):
            called = "X-Admin-Reason" + "-Required" * one.door.entrance.requires_reason
            shared[called] = REASONS[called]
            operation.setdefault("parameters", []).append({"$ref": _PARAMETERS + called})
        if "parameters" in operation:
            found = operation["parameters"]
            operation["parameters"] = [_shared(shared, one, parameter) for parameter in found]
            if not operation["parameters"]:
                del operation["parameters"]
    made["components"]["parameters"] = dict(sorted(shared.items()))


def _is_read_by_staff(one: Operation) -> bool:
    """Whether staff look at something by a right of the platform, and may say why."""
    granted = {granted.code: granted for granted in one.domain.permissions}.get(
        one.permission or ""
    )
    reads = granted is not None and Audience.PLATFORM in granted.audiences
    return reads and not one.door.entrance.writing


def _shared(shared: Json, one: Operation, parameter: Json) -> Json:
    if "$ref" in parameter:
        return parameter
    _trim(parameter)
    name = parameter["name"]
    if parameter["in"] == "path":
        called = one.domain.name.capitalize() + name[:1].upper() + name[1:]
        if shared.setdefault(called, parameter) != parameter:
            raise TwoMeanings(f"{name} of {one.domain.name} is described in two ways")
        return {"$ref": _PARAMETERS + called}
    called = _OF_LISTS.get(name, "")
    if called and shared.setdefault(called, parameter) == parameter:
        return {"$ref": _PARAMETERS + called}
    return parameter


def _trim(parameter: Json) -> None:
    """A parameter is left out or has a value; null cannot be written in an address."""
    schema = parameter["schema"]
    without_titles(schema)
    if not parameter.get("required"):
        schema = parameter["schema"] = without_null(schema)
    told = schema.pop("description", None)
    parameter.setdefault("description", told or _which(parameter["name"], parameter["in"]))


def _which(name: str, place: str) -> str:
    """`equipmentId` tells which equipment is meant, or the one that others belong to."""
    words = [word.lower() for word in _HUMP.split(name)]
    if place == "query":
        return f"Filter by {' '.join(words[:-1] if words[-1] == 'id' else words)}."
    if words[-1] == "id" and len(words) > 1:
        return f"ID of the {' '.join(words[:-1])}."
    return f"The {' '.join(words)}."
