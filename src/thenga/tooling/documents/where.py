"""`thenga where`: from a path, operation, code, event, permission, rule or name to file and line.

The source is read as text and as syntax, never imported, so it works on a broken tree too.
"""

import ast
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from thenga.kernel.http.document.verbs import operation_id

_SEARCHED = ("src", "tests")
_VERBS = ("get", "post", "put", "patch", "delete")
_RULE = re.compile(r"[A-Z]{2,4}-\d+\w?")
_PLACEHOLDER = re.compile(r"\{[^}/]+\}")


@dataclass(frozen=True)
class Place:
    """Where a public name is declared."""

    kind: str
    name: str
    path: Path
    line: int
    symbol: str  # what other code calls it by
    id: str = ""  # what clients call an operation by

    def shown(self, root: Path) -> str:
        return f"{self.path.relative_to(root)}:{self.line}  {self.kind} {self.name} ({self.symbol})"


def where(query: str, root: Path) -> list[str]:
    """Lines `file:line  what`, declarations first, then the uses; empty if there is nothing."""
    files = sorted(path for folder in _SEARCHED for path in (root / folder).rglob("*.py"))
    declared = [place for path in files for place in _places(path)]
    found = [place for place in declared if _is_meant(place, query)]
    lines = [place.shown(root) for place in found]
    if not found or _RULE.fullmatch(query):
        lines += _mentions([query], [*files, *sorted((root / "docs").rglob("*.md"))], root)
    for place in found:
        if place.kind in ("event", "port", "problem", "class"):
            lines += _mentions([place.symbol], files, root)
        elif place.kind == "permission":
            # Each domain has a `Permission`; elsewhere only the whole text means this one.
            inside = [path for path in files if path.is_relative_to(place.path.parent)]
            lines += _mentions([place.symbol], inside, root)
            lines += _mentions([place.name], files, root)
    shown = {f"{place.path.relative_to(root)}:{place.line}" for place in found}
    uses = dict.fromkeys(line for line in lines[len(found) :] if line.split()[0] not in shown)
    return [*lines[: len(found)], *uses]


def _is_meant(place: Place, query: str) -> bool:
    asked = query.strip()
    if place.kind == "path" and asked in (place.id, place.symbol):
        return True
    if place.kind == "path":
        path = "/" + asked.partition(" ")[2].strip("/") if " " in asked else asked
        path = path.partition("?")[0].removeprefix("/v1").rstrip("/")
        return path.startswith("/") and _fits(place.name.partition(" ")[2], path)
    if place.kind == "event":
        return asked.lower() in (place.name.lower(), place.symbol.lower())
    if asked == place.symbol.rpartition(".")[2] and place.kind != "permission":
        return True
    return asked.lower() == place.name.lower()


def _fits(template: str, path: str) -> bool:
    """The template itself, or a path that it would answer; names of placeholders do not matter."""
    pattern = "[^/]+".join(re.escape(part) for part in _PLACEHOLDER.split(template))
    return re.fullmatch(pattern, path) is not None


def _places(path: Path) -> Iterator[Place]:
    try:
        tree = ast.parse(path.read_text())
    except SyntaxError:
        return  # somebody is at work on it
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef):
            yield from _of_class(node, path)
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield from _of_function(node, path)


def _of_function(node: ast.FunctionDef | ast.AsyncFunctionDef, path: Path) -> Iterator[Place]:
    for call in node.decorator_list:
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and call.args:
            address = _text(call.args[0])
            if call.func.attr in _VERBS and address.startswith("/"):
                name = f"{call.func.attr.upper()} {address}"
                yield Place("path", name, path, node.lineno, node.name, _id_of(path, node.name))
                return
    yield Place("function", node.name, path, node.lineno, node.name)


def _id_of(path: Path, function: str) -> str:
    """The operation id of a route below `domains/<name>/api`; elsewhere none."""
    below = path.parts[path.parts.index("domains") + 1 : -1] if "domains" in path.parts else ()
    return operation_id(below[0], path.stem, function) if below[1:2] == ("api",) else ""


def _of_class(node: ast.ClassDef, path: Path) -> Iterator[Place]:
    named = {word.arg: _text(word.value) for word in node.keywords}
    if named.get("type"):
        yield Place("event", named["type"], path, node.lineno, node.name)
    elif named.get("name"):
        yield Place("port", named["name"], path, node.lineno, node.name)
    else:
        yield Place("class", node.name, path, node.lineno, node.name)
    for statement in node.body:
        if not isinstance(statement, ast.Assign):
            continue
        target, value = statement.targets[0], statement.value
        if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple):
            names = [part.id for part in target.elts if isinstance(part, ast.Name)]
            if names[:1] == ["code"]:
                yield Place("problem", _text(value.elts[0]), path, statement.lineno, node.name)
        elif isinstance(target, ast.Name) and _text(value).count(":") == 2:
            symbol = f"{node.name}.{target.id}"
            yield Place("permission", _text(value), path, statement.lineno, symbol)


def _text(node: ast.expr) -> str:
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""


def _mentions(words: Iterable[str], files: Iterable[Path], root: Path) -> list[str]:
    """Every line with one of the words, as a whole word."""
    either = "|".join(re.escape(word) for word in words)
    pattern = re.compile(rf"(?<![\w-])(?:{either})(?![\w-])")
    return [
        f"{path.relative_to(root)}:{number}  {line.strip()[:120]}"
        for path in files
        for number, line in enumerate(path.read_text(errors="replace").splitlines(), 1)
        if pattern.search(line)
    ]
