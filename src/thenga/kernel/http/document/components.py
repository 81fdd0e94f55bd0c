"""From the names that the framework gives to schemas to ours (`naming`)."""

import re
from collections.abc import Iterator, Mapping, Sequence
from enum import Enum
from typing import Annotated, Any, get_args, get_origin, get_type_hints

from pydantic import BaseModel
from starlette.routing import BaseRoute
from typing_extensions import TypeAliasType, is_typeddict

from thenga.kernel.http.document.naming import component
from thenga.kernel.http.framework import get_fields_from_routes
from thenga.kernel.values.money import Money

Json = dict[str, Any]


class SameSchema(TypeError):
    """Two classes of one domain have one name in the document."""


class Stranger(TypeError):
    """A schema of the document belongs to no class that we know."""


def schema_names(routes: Sequence[BaseRoute], defined: Mapping[str, Json]) -> dict[str, str]:
    """Our name for each schema that the framework has defined."""
    names: dict[str, str] = {}
    owners: dict[str, str] = {}
    for kind in _kinds(routes):
        short, whole = _written(kind)
        written = whole if whole in defined else short
        if written not in defined:
            continue
        names[written] = component(kind)
        owner = owners.setdefault(names[written], whole)
        if owner != whole:
            raise SameSchema(f"{owner} and {whole} are both {names[written]}; rename one")
    for written in defined.keys() - names.keys():
        shown = _item_of(defined[written])
        if shown not in names:
            raise Stranger(f"{written} belongs to no class that we know")
        names[written] = f"{names[shown]}Page"
    return names


def _item_of(schema: Json) -> str:
    """What a page is a page of; pydantic numbers the pages of classes with one name."""
    items = schema.get("properties", {}).get("items", {}).get("items", {})
    return str(items.get("$ref", "")).rpartition("/")[2]


def _written(kind: Any) -> tuple[str, str]:
    """How pydantic names a class in a document, alone and among others of its name."""
    return _normal(_shown(kind, whole=False)), _normal(_shown(kind, whole=True))


def _shown(kind: Any, *, whole: bool) -> str:
    generic = getattr(kind, "__pydantic_generic_metadata__", {})
    origin, arguments = generic.get("origin") or kind, generic.get("args", ())
    name = getattr(origin, "__qualname__", getattr(origin, "__name__", str(origin)))
    text = f"{origin.__module__}.{name}" if whole else name.rpartition(".")[2]
    inside = ",".join(_shown(one, whole=whole) for one in arguments if hasattr(one, "__module__"))
    return f"{text}[{inside}]" if inside else text


def _normal(name: str) -> str:
    return re.sub(r"[^a-zA-Z0-9.\-_]", "_", name).replace(".", "__")


def _kinds(routes: Sequence[BaseRoute]) -> list[Any]:
    """Every class and named type that the routes speak of, each once."""
    found: dict[Any, None] = {}
    waiting: list[Any] = [f.field_info.annotation for f in get_fields_from_routes(list(routes))]
    while waiting:
        kind = waiting.pop()
        if get_origin(kind) is Annotated:
            kind = get_args(kind)[0]
        if _is_named(kind):
            if kind in found:
                continue
            found[kind] = None
        waiting += _parts(kind)
    return list(found)


def _is_named(kind: Any) -> bool:
    if isinstance(kind, TypeAliasType) or is_typeddict(kind):
        return True
    return isinstance(kind, type) and issubclass(kind, BaseModel | Enum | Money)


def _parts(kind: Any) -> Iterator[Any]:
    if isinstance(kind, TypeAliasType):
        yield kind.__value__
    elif is_typeddict(kind):
        yield from get_type_hints(kind, include_extras=True).values()
    elif isinstance(kind, type) and issubclass(kind, BaseModel):
        yield from (field.annotation for field in kind.model_fields.values())
    else:
        yield from get_args(kind)
