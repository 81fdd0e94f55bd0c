"""What an endpoint brings about, read from the source: the events and moves that it can reach.

Followed are calls of functions in `services/` of the same domain, by the name of their module.
"""

import ast
from dataclasses import dataclass, field
from pathlib import Path

Functions = dict[tuple[str, str], ast.AsyncFunctionDef | ast.FunctionDef]


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

    def __init__(self, home: Path, *, events: set[str], lifecycles: set[str]) -> None:
        self._events = events
        self._lifecycles = lifecycles
        self._services = _functions(home / "services")
        self._routes = _functions(home / "api")

    def of_route(self, module: str, function: str) -> Effects:
        """The effects of a route function in `api/<module>`."""
        written = self._routes.get((module, function))
        if written is None:
            return Effects()
        return self._of(written, module, seen=set())

    def _of(self, written: ast.AST, module: str, seen: set[tuple[str, str]]) -> Effects:
        found = Effects()
        for node in ast.walk(written):
            if not isinstance(node, ast.Call):
                continue
            found.add(self._told(node))
            called = _called(node.func, module)
            if called is not None and called in self._services and called not in seen:
                seen.add(called)
                found.add(self._of(self._services[called], called[0], seen))
        return found

    def _told(self, call: ast.Call) -> Effects:
        if not isinstance(call.func, ast.Attribute):
            return Effects()
        owner, verb = call.func.value, call.func.attr
        if verb == "publish":
            names = [_name(node) for argument in call.args for node in ast.walk(argument)]
            return Effects(events=[name for name in names if name in self._events])
        lifecycle = _name(owner)
        if lifecycle in self._lifecycles:
            return Effects(moves=[f"{lifecycle.removesuffix('Lifecycle')}.{verb}"])
        return Effects()


def _functions(folder: Path) -> Functions:
    """By module and name; the files of a package count as one module, as its callers see it."""
    found: Functions = {}
    for path in sorted(folder.rglob("*.py")):
        module = path.relative_to(folder).with_suffix("").parts[0]
        for node in ast.parse(path.read_text()).body:
            if isinstance(node, ast.AsyncFunctionDef | ast.FunctionDef):
                found[module, node.name] = node
    return found


def _called(function: ast.expr, module: str) -> tuple[str, str] | None:
    if isinstance(function, ast.Name):
        return module, function.id
    if isinstance(function, ast.Attribute):
        return _name(function.value), function.attr
    return None


def _name(node: ast.AST) -> str:
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ""
