"""The page of all texts that a customer, an operator or an integrator reads, for proofreading."""

import ast
import inspect
import tomllib
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from thenga import kernel
from thenga.kernel.declare.manifest import Domain
from thenga.kernel.errors import PROBLEMS, Problem
from thenga.kernel.http.document.openapi import document
from thenga.kernel.http.document.operations import mounted, operations

Json = dict[str, Any]
Said = tuple[str, str]  # the place and its text

_KERNEL = Path(kernel.__file__).resolve().parent
_SHOWN = 3  # places of one text


def texts_page(domains: Sequence[Domain]) -> str:
    """Problems, details, letters and API descriptions, by domain, one line a text."""
    made = document(mounted(domains).routes, domains)
    owners = {one.path: one.domain.name for one in operations(domains)}
    homes = {"kernel": _KERNEL} | {domain.name: domain.home for domain in domains}
    lines = [
        "# Texts",
        "",
        "<!-- Made by `thenga docs`. Change the code, not this page. -->",
        "",
        "Every text that a customer, an operator or an integrator reads. A text that stands in "
        f"several places names {_SHOWN} of them.",
    ]
    for name, home in homes.items():
        api = _Api(made, owners, name)
        sections = {
            "Problems": _problems(home),
            "Details": _details(home),
            "Letters": _letters(home),
            "Operations": api.operations(),
            "Parameters": api.parameters(),
            "Schemas": api.schemas(),
            "Fields": api.fields(),
        }
        for title, found in sections.items():
            said = _by_text(found)
            lines += ["", f"## {name}: {title}", "", *said] if said else []
    return "\n".join(lines) + "\n"


def _by_text(found: Iterable[Said]) -> list[str]:
    places: dict[str, list[str]] = {}
    for place, text in found:
        known = places.setdefault(" ".join(text.split()), [])
        known += [] if place in known else [place]
    return [f"- {text} — {_listed(at)}" for text, at in places.items() if text]


def _listed(places: list[str]) -> str:
    more = f" and {len(places) - _SHOWN} more" if len(places) > _SHOWN else ""
    return ", ".join(f"`{place}`" for place in places[:_SHOWN]) + more


def _problems(home: Path) -> Iterator[Said]:
    for code, kind in sorted(PROBLEMS.items()):
        if _source(kind).is_relative_to(home):
            yield f"{kind.status} {code}", f"**{kind.title}** {inspect.getdoc(kind) or ''}"


def _source(kind: type[Problem]) -> Path:
    return Path(inspect.getfile(kind)).resolve()


def _details(home: Path) -> Iterator[Said]:
    """The sentences in the source of rules; descriptions of the API are listed as such."""
    for path in sorted(home.rglob("*.py")):
        if "migrations" not in path.parts and "documents" not in path.parts:
            for text in sentences(ast.parse(path.read_text())):
                yield str(path.relative_to(home)), text


def sentences(tree: ast.AST) -> Iterator[str]:
    """Each literal that reads as a sentence, beside docstrings and descriptions of fields."""
    passed: set[int] = set()
    for node in ast.walk(tree):
        if id(node) in passed:
            continue
        docstring = isinstance(node, ast.Expr) and _is_text(node.value)
        if docstring or (isinstance(node, ast.keyword) and node.arg == "description"):
            passed |= {id(inner) for inner in ast.walk(node)}
        elif _is_text(node):
            passed |= {id(inner) for inner in ast.walk(node)}
            text = _written(node)
            if _reads_as_sentence(text):
                yield text


def _is_text(node: ast.AST) -> bool:
    return isinstance(node, ast.JoinedStr) or (
        isinstance(node, ast.Constant) and isinstance(node.value, str)
    )


def _written(node: ast.AST) -> str:
    """The literal as a reader meets it, with `{…}` where a value is put in."""
    if isinstance(node, ast.Constant):
        return str(node.value)
    parts = node.values if isinstance(node, ast.JoinedStr) else []
    return "".join(
        _written(part) if isinstance(part, ast.Constant) else f"{{{_named(part)}}}"
        for part in parts
    )


def _named(part: ast.expr) -> str:
    return ast.unparse(part.value) if isinstance(part, ast.FormattedValue) else ""


def _reads_as_sentence(text: str) -> bool:
    text = text.strip()
    begins = text[:1].isupper() or text.startswith("{")
    return begins and text[-1:] in ".?!" and " " in text


def _letters(home: Path) -> Iterator[Said]:
    """The templates of messages: every text of every channel."""
    for path in sorted((home / "content" / "templates").glob("*.toml")):
        for language, channels in tomllib.loads(path.read_text())["texts"].items():
            for channel, parts in channels.items():
                said = " ¶ ".join(one.strip().replace("\n\n", " ¶ ") for one in parts.values())
                yield f"{path.stem} ({language}, {channel})", said


class _Api:
    """The descriptions of one domain; components without the name of a domain are the kernel's."""

    def __init__(self, made: Json, owners: dict[str, str], name: str) -> None:
        own = [part for path, part in made["paths"].items() if owners[path] == name]
        self._operations = [one for methods in own for one in methods.values()]
        prefixes = tuple(one.capitalize() for one in set(owners.values()))
        self._schemas = _of(made["components"]["schemas"], prefixes, name)
        self._parameters = _of(made["components"]["parameters"], prefixes, name)

    def operations(self) -> Iterator[Said]:
        for one in self._operations:
            yield one["operationId"], one.get("description", "")

    def parameters(self) -> Iterator[Said]:
        for name, parameter in self._parameters.items():
            yield name, parameter.get("description", "")
        for one in self._operations:
            for parameter in one.get("parameters", []):
                if "$ref" not in parameter:
                    place = f"{one['operationId']}.{parameter['name']}"
                    yield place, parameter.get("description", "")

    def schemas(self) -> Iterator[Said]:
        for name, schema in self._schemas.items():
            yield name, schema.get("description", "")

    def fields(self) -> Iterator[Said]:
        for name, schema in self._schemas.items():
            for field, part in schema.get("properties", {}).items():
                yield f"{name}.{field}", part.get("description", "")


def _of(components: Json, prefixes: tuple[str, ...], name: str) -> Json:
    if name.capitalize() in prefixes:
        return {key: one for key, one in components.items() if key.startswith(name.capitalize())}
    return {key: one for key, one in components.items() if not key.startswith(prefixes)}
