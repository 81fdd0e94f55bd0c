"""Fields of models whose values no bound and no form limits."""

from collections.abc import Sequence
from datetime import date, datetime
from decimal import Decimal
from types import UnionType
from typing import Annotated, Literal, Union, get_args, get_origin

from pydantic import BaseModel
from pydantic.fields import FieldInfo
from typing_extensions import TypeAliasType

from thenga.kernel.values.fields import MARKERS


def plain_fields(model: type[BaseModel]) -> list[str]:
    """The fields of a model, however deep, whose values no bound and no form holds."""
    found: dict[str, None] = {}
    _search_model(model, model.__name__, found, set())
    return [*found]


def _search_model(
    model: type[BaseModel], path: str, found: dict[str, None], seen: set[type[BaseModel]]
) -> None:
    if model in seen:
        return
    seen.add(model)
    for name, field in model.model_fields.items():
        _search(field.annotation, field.metadata, f"{path}.{name}", found, seen)


def _search(
    kind: object,
    metadata: Sequence[object],
    path: str,
    found: dict[str, None],
    seen: set[type[BaseModel]],
) -> None:
    if isinstance(kind, TypeAliasType):
        return _search(kind.__value__, metadata, path, found, seen)
    if get_origin(kind) is Annotated:
        inner, *more = get_args(kind)
        return _search(inner, [*metadata, *more], path, found, seen)
    if isinstance(kind, type) and issubclass(kind, BaseModel):
        return _search_model(kind, path, found, seen)
    if kind in _PLAIN and not _is_held(kind, metadata):
        found[f"{path}: plain {getattr(kind, '__name__', kind)}"] = None
    # A bound around a union, as in `Optional` with `Field(le=…)`, is a bound of its members.
    inherited = metadata if get_origin(kind) in (Union, UnionType) else ()
    if get_origin(kind) is not Literal:
        for part in get_args(kind):
            _search(part, inherited, path, found, seen)
    return None


_PLAIN: frozenset[object] = frozenset({int, str, float, Decimal, date, datetime})


def _is_held(kind: object, metadata: Sequence[object]) -> bool:
    if any(isinstance(item, MARKERS) for item in metadata):
        return True
    parts = [part for item in metadata for part in _constraints(item)]
    told = {name for part in parts for name in _BOUNDS if getattr(part, name, None) is not None}
    if kind is str:
        # A length alone lets NUL through to the database.
        return {"max_length", "pattern"} <= told
    return bool(told & {"ge", "gt"}) and bool(told & {"le", "lt"})


_BOUNDS = ("ge", "gt", "le", "lt", "max_length", "pattern")


def _constraints(item: object) -> list[object]:
    return [*item.metadata] if isinstance(item, FieldInfo) else [item]
