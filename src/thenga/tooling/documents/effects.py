"""What an endpoint brings about, read from the source: the events and moves that it can reach.

Calls are followed inside a module, and into `services/` by what a module imports: a function, a
module, or the face of a room, which leads to the function that it re-exports.
"""

import ast
from dataclasses import dataclass, field
from pathlib import Path

Key = tuple[str, str]  # module below the domain, as `services.dunning.retries`, and function
Functions = dict[Key, list[ast.Attribute | ast.Call]]  # what a function names and calls
Imports = dict[str, dict[str, str]]  # by module: local name and what it stands for


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
        self._functions: Functions = {}
        self._imports: Imports = {}
        for path in sorted([*(home / "api").rglob("*.py"), *(home / "services").rglob("*.py")]):
            self._read(home, path)

    def of_route(self, module: str, function: str) -> Effects:
        """The effects of a route function in a module below `api`, by its dotted name."""
        return self._of((f"api.{module}", function), seen=set())

    def _read(self, home: Path, path: Path) -> None:
        module = ".".join(path.relative_to(home).with_suffix("").parts).removesuffix(".__init__")
        names = self._imports[module] = {}
        for node in ast.parse(path.read_text()).body:
            if isinstance(node, ast.AsyncFunctionDef | ast.FunctionDef):
                every = ast.walk(node)
                named = [one for one in every if isinstance(one, ast.Attribute | ast.Call)]
                self._functions[module, node.name] = named
            elif isinstance(node, ast.ImportFrom) and node.module:
                below = f"{node.module}.".partition(f".{home.name}.")[2]
                names |= {one.asname or one.name: f"{below}{one.name}" for one in node.names}

    def _of(self, key: Key, seen: set[Key]) -> Effects:
        found = Effects()
        written = self._functions.get(key)
        if written is None or key in seen:
            return found
        seen.add(key)
        for node in written:
            if isinstance(node, ast.Attribute):
                found.add(self._move(node))
            else:
                found.add(self._event(node.func))
                found.add(self._of(self._called(node.func, key[0]), seen))
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

    def _called(self, function: ast.expr, module: str) -> Key:
        """The function that a call in a module leads to; one that is nowhere reaches nothing."""
        if isinstance(function, ast.Attribute):
            owner = self._imports[module].get(_name(function.value), "")
            return self._found(f"{owner}.{function.attr}")
        name = _name(function)
        if (module, name) in self._functions:
            return module, name
        return self._found(self._imports[module].get(name, ""))

    def _found(self, dotted: str) -> Key:
        """Through a face to where the function is defined."""
        module, _, name = dotted.rpartition(".")
        exported = self._imports.get(module, {}).get(name)
        if (module, name) in self._functions or exported is None:
            return module, name
        return self._found(exported)


def _name(node: ast.AST) -> str:
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ""
