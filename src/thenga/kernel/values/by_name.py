"""Values that pass from one object to another by the names of their fields.

A name that leads nowhere is a defect, found at the first call: it raises `WrongFields`, which
names the class and the field.
"""

from collections.abc import Collection, Mapping
from enum import Enum
from typing import Any, Final

from pydantic import MISSING, BaseModel


class WrongFields(TypeError):
    """Two classes do not have the same fields, and the call does not say what is meant."""


class _NotStored(Enum):
    NOT_STORED = "not stored"


NOT_STORED: Final = _NotStored.NOT_STORED  # a field of a request that its row does not keep
_NOTHING: Any = object()


def sent_fields(model: BaseModel, names: Collection[str]) -> dict[str, Any]:
    """The values of these fields of a request, without those that a PATCH leaves out."""
    values = ((name, getattr(model, name)) for name in names)
    return {name: value for name, value in values if value is not MISSING}


def stored_values(
    row: type[Any],
    model: BaseModel,
    names: Collection[str],
    more: Mapping[str, Any],
    *,
    protected: Collection[str],
) -> dict[str, Any]:
    """The columns of `row` from the named fields of a request and from `more`, which wins."""
    columns, asked = set(row.__columns__), type(model)
    kept = {name: value for name, value in more.items() if value is not NOT_STORED}
    if unknown := sorted(kept.keys() - columns):
        raise WrongFields(f"{row.__name__} has no column {', '.join(unknown)}")
    if unknown := sorted(more.keys() - kept.keys() - set(asked.model_fields)):
        raise WrongFields(f"{asked.__name__} has no field {', '.join(unknown)} to leave out")
    own = [name for name in names if name not in more]
    if lacking := sorted(set(own) - columns):
        raise WrongFields(
            f"{row.__name__} has no column {', '.join(lacking)} of {asked.__name__}; "
            f"pass NOT_STORED for a field that is not kept"
        )
    if owned := sorted(set(own) & set(protected)):
        raise WrongFields(
            f"{row.__name__}.{', '.join(owned)} is not copied from {asked.__name__}; "
            f"pass it by name"
        )
    enums = dict(row.__enums__)
    found = sent_fields(model, own) | kept
    return {
        name: _member(enums[name], value) if name in enums else value
        for name, value in found.items()
    }


def _member(members: Mapping[str, Any], value: Any) -> Any:
    return value if value is None or isinstance(value, Enum) else members[value]


def shown_values(kind: type[BaseModel], source: object, more: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of an event or a view from the attributes of a row and from `more`, which wins.

    A secret column is never copied by itself.
    """
    fields, name_of_source = kind.model_fields, type(source).__name__
    if unknown := sorted(more.keys() - set(fields)):
        raise WrongFields(f"{kind.__name__} has no field {', '.join(unknown)}")
    secret: Collection[str] = getattr(type(source), "__secret__", ())
    found: dict[str, Any] = {}
    for name in fields:
        value = more[name] if name in more else getattr(source, name, _NOTHING)
        if name not in more and (value is _NOTHING or callable(value)):
            raise WrongFields(f"{name_of_source} has no {name}, which {kind.__name__} needs")
        if name not in more and name in secret:
            raise WrongFields(f"{name_of_source}.{name} is secret; {kind.__name__} cannot copy it")
        found[name] = value
    return found
