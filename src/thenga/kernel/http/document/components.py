"""From the names that the framework gives to schemas to ours (`naming`)."""

import re
from collections.abc import Iterator, Mapping, Sequence
from enum import Enum
from typing import Annotated, Any, Literal, get_args, get_origin, get_type_hints

from pydantic import BaseModel
from starlette.routing import BaseRoute
from typing_extensions import TypeAliasType, is_typeddict

from thenga.kernel.http.document.naming import component
from thenga.kernel.http.document.schemas import renamed
from thenga.kernel.http.framework import get_fields_from_routes
from thenga.kernel.values.money import Money

Json = dict[str, Any]
Mode = Literal["Input", "Output"]  # pydantic's suffixes: in requests, in answers
Use = tuple[Any, Mode, str]

_SCHEMAS = "#/components/schemas/"


class SameSchema(TypeError):
    """Two classes of one domain have one name in the document."""


class Stranger(TypeError):
    """A schema of the document belongs to no class that we know."""


def schema_names(routes: Sequence[BaseRoute], defined: Mapping[str, Json]) -> dict[str, str]:
    """Our name for each schema that the framework has defined.

    A class has one name in requests and answers. Where its schema differs between them, the one of
    requests ends in `Input`, as the name of a body does.
    """
    used = [
        (kind, mode, written)
        for kind, mode in _kinds(routes)
        if (written := _written(kind, mode, defined)) is not None
    ]
    apart: set[str] = set()
    while True:
        names = _names(used, defined, apart)
        differing = _differing(names, defined) - apart
        if not differing:
            return names
        apart |= differing


def _names(used: Sequence[Use], defined: Mapping[str, Json], apart: set[str]) -> dict[str, str]:
    names: dict[str, str] = {}
    owners: dict[str, str] = {}
    for kind, mode, written in used:
        name, whole = component(kind), _normal(_shown(kind, whole=True))
        owner = owners.setdefault(name, whole)
        if owner != whole:
            raise SameSchema(f"{owner} and {whole} are both {name}; rename one")
        names[written] = f"{name}Input" if name in apart and mode == "Input" else name
    for written in defined.keys() - names.keys():
        shown = _item_of(defined[written])
        if shown not in names:
            raise Stranger(f"{written} belongs to no class that we know")
        names[written] = f"{names[shown]}Page"
    return names


def _differing(names: Mapping[str, str], defined: Mapping[str, Json]) -> set[str]:
    """Names that two schemas have which differ even under our names."""
    ours = {_SCHEMAS + old: _SCHEMAS + new for old, new in names.items()}
    alike: dict[str, list[str]] = {}
    for written, name in names.items():
        alike.setdefault(name, []).append(written)
    return {
        name
        for name, forms in alike.items()
        if any(
            renamed(defined[form], ours) != renamed(defined[forms[0]], ours) for form in forms[1:]
        )
    }


def _item_of(schema: Json) -> str:
    """What a page is a page of; pydantic numbers the pages of classes with one name."""
    items = schema.get("properties", {}).get("items", {}).get("items", {})
    return str(items.get("$ref", "")).rpartition("/")[2]


def _written(kind: Any, mode: Mode, defined: Mapping[str, Json]) -> str | None:
    """How pydantic names a class in a document: the first of these that no other schema has."""
    short, whole = (_normal(_shown(kind, whole=whole)) for whole in (False, True))
    for name in (short, f"{short}-{mode}", whole, f"{whole}-{mode}"):
        if name in defined:
            return name
    return None


def _shown(kind: Any, *, whole: bool) -> str:
    generic = getattr(kind, "__pydantic_generic_metadata__", {})
    origin, arguments = generic.get("origin") or kind, generic.get("args", ())
    name = getattr(origin, "__qualname__", getattr(origin, "__name__", str(origin)))
    text = f"{origin.__module__}.{name}" if whole else name.rpartition(".")[2]
    inside = ",".join(_shown(one, whole=whole) for one in arguments if hasattr(one, "__module__"))
    return f"{text}[{inside}]" if inside else text


def _normal(name: str) -> str:
    return re.sub(r"[^a-zA-Z0-9.\-_]", "_", name).replace(".", "__")


def _kinds(routes: Sequence[BaseRoute]) -> list[tuple[Any, Mode]]:
    """Every class and named type that the routes speak of, once in requests and once in answers."""
    found: dict[tuple[Any, Mode], None] = {}
    waiting: list[tuple[Any, Mode]] = [
        (field.field_info.annotation, "Input" if field.mode == "validation" else "Output")
        for field in get_fields_from_routes(list(routes))
    ]
    while waiting:
        kind, mode = waiting.pop()
        if get_origin(kind) is Annotated:
            kind = get_args(kind)[0]
        if _is_named(kind):
            if (kind, mode) in found:
                continue
            found[kind, mode] = None
        waiting += ((part, mode) for part in _parts(kind))
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
