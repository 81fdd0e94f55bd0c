"""What an endpoint brings about, read from the source: the events and moves that it can reach.

Followed are calls inside a module, and of functions in `services/` by the name of their module.
"""

import ast
from dataclasses import dataclass, field
from pathlib import Path

Key = tuple[str, str, str]  # layer, module, function
Functions = dict[Key, ast.AsyncFunctionDef | ast.FunctionDef]


@dataclass
class Effects:
    """Names in the order of first sight."""

    events: list[str] = field(default_factory=list)
    moves: list[str] = field(default_factory=list)

    def add(self, other: "Effects") -> None:
        self.events += [name for name in other.events if name not in self.events]
        self.moves += [name for name in other.moves if name not in self.moves]


class Reach:
    """The functions of one domain, and what each of them reaches."""

    def __init__(self, home: Path, *, events: set[str], moves: dict[str, set[str]]) -> None:
        self._events = events
        self._moves = moves  # by the name of the lifecycle
        self._functions = _functions(home, "api") | _functions(home, "services")

    def of_route(self, module: str, function: str) -> Effects:
        """The effects of a route function in `api/<module>`."""
        return self._of(("api", module, function), seen=set())

    def _of(self, key: Key, seen: set[Key]) -> Effects:
        found = Effects()
        written = self._functions.get(key)
        if written is None or key in seen:
            return found
        seen.add(key)
        for node in ast.walk(written):
            if isinstance(node, ast.Attribute):
                found.add(self._move(node))
            elif isinstance(node, ast.Call):
                found.add(self._event(node.func))
                called = _called(node.func, key)
                if called is not None:
                    found.add(self._of(called, seen))
        return found

    def _move(self, node: ast.Attribute) -> Effects:
        lifecycle = _name(node.value)
        verb = node.attr.rstrip("_")  # `return_` is the verb return
        if verb not in self._moves.get(lifecycle, ()):
            return Effects()
        return Effects(moves=[f"{lifecycle.removesuffix('Lifecycle')}.{verb}"])

    def _event(self, function: ast.expr) -> Effects:
        """An event that is made is told: `public.Event(…)` or `public.Event.of(…)`."""
        names = [_name(function)]
        if isinstance(function, ast.Attribute):
            names.append(_name(function.value))
        return Effects(events=[name for name in names if name in self._events])


def _functions(home: Path, layer: str) -> Functions:
    """By module and name; the files of a package count as one module, as its callers see it."""
    found: Functions = {}
    for path in sorted((home / layer).rglob("*.py")):
        module = path.relative_to(home / layer).with_suffix("").parts[0]
        for node in ast.parse(path.read_text()).body:
            if isinstance(node, ast.AsyncFunctionDef | ast.FunctionDef):
                found[layer, module, node.name] = node
    return found


def _called(function: ast.expr, caller: Key) -> Key | None:
    if isinstance(function, ast.Name):
        return caller[0], caller[1], function.id
    if isinstance(function, ast.Attribute):
        return "services", _name(function.value), function.attr
    return None


def _name(node: ast.AST) -> str:
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ""
