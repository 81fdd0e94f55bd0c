"""Rooms: a folder in `services/` is imported by its face, and no import goes round in a circle."""

import ast
from collections.abc import Iterator
from pathlib import Path

import grimp
import pytest

ROOT = Path(__file__).resolve().parents[2]
SOURCE = ROOT / "src" / "thenga"
MOST_LOOSE = 15  # modules in a `services/` that stand in no room

# The rooms of the kernel; each may use those below it when the product runs.
KERNEL = (
    {"http", "jobs", "files"},
    {"standing"},
    {"events", "ports"},
    {"db"},
    {"process"},
    {"declare"},
    {"access", "crypto"},
    {"outside"},
    {"values"},
    {"errors"},
)

Imports = dict[str, set[str]]


def rooms(source: Path = SOURCE) -> set[str]:
    """Every room of every domain, by its dotted name."""
    faces = source.glob("domains/*/services/*/__init__.py")
    return {_dotted(face.parent, source) for face in faces}


def imports(source: Path = SOURCE) -> Imports:
    """What each module imports: modules, and names that may be modules."""
    return {
        _dotted(path, source): set(_imported(ast.parse(path.read_text())))
        for path in sorted(source.rglob("*.py"))
    }


def behind_a_face(known: set[str], found: Imports) -> list[str]:
    """Imports of a module inside a room by somebody outside of it."""
    return sorted(
        f"{importer} imports {imported}"
        for importer, names in found.items()
        for imported in names
        for room in known
        if imported.startswith(f"{room}.")
        and imported in found
        and importer != room
        and not importer.startswith(f"{room}.")
    )


def _dotted(path: Path, source: Path) -> str:
    parts = path.relative_to(source.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def _imported(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (name.name for name in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            yield from (f"{node.module}.{name.name}" for name in node.names)


def test_nobody_imports_behind_a_face() -> None:
    known = rooms()

    assert behind_a_face(known, imports()) == []
    print(f"rooms={len(known)} behind_a_face=0")


def test_an_import_behind_a_face_is_found() -> None:
    dunning = "thenga.domains.billing.services.dunning"
    planted = {f"{dunning}.retries": set[str](), "thenga.worker": {f"{dunning}.retries"}}

    found = behind_a_face({dunning}, planted)

    assert found == [f"thenga.worker imports {dunning}.retries"]


def test_no_import_goes_in_a_circle() -> None:
    # Not even one that only a type checker sees.
    circles = list(_circles(grimp.build_graph("thenga")))

    assert circles == []


def test_a_circle_of_imports_is_found() -> None:
    graph = grimp.ImportGraph()
    for importer, imported in (("a", "b"), ("b", "c"), ("c", "a"), ("d", "a")):
        graph.add_import(importer=importer, imported=imported)

    assert list(_circles(graph)) == [{"a", "b", "c"}]


def test_kernel_rooms_are_in_order() -> None:
    graph = grimp.build_graph("thenga", exclude_type_checking_imports=True)
    found = {path.stem for path in (SOURCE / "kernel").iterdir()}

    assert _against_the_order(graph) == []
    assert found - {"__init__", "__pycache__"} == set[str]().union(*KERNEL)


def test_an_upward_import_in_the_kernel_is_found() -> None:
    graph = grimp.build_graph("thenga", exclude_type_checking_imports=True)
    graph.add_import(importer="thenga.kernel.declare.event", imported="thenga.kernel.db.work")

    assert ("thenga.kernel.declare", "thenga.kernel.db") in _against_the_order(graph)


def _against_the_order(graph: grimp.ImportGraph) -> list[tuple[str, str]]:
    found = graph.find_illegal_dependencies_for_layers(KERNEL, containers={"thenga.kernel"})
    return sorted((one.importer, one.imported) for one in found)


def _circles(graph: grimp.ImportGraph) -> Iterator[set[str]]:
    """Modules that reach each other; each group once."""
    left = {m for m in graph.modules if graph.find_modules_directly_imported_by(m)}
    while left:
        module = left.pop()
        upstream = graph.find_upstream_modules(module)
        group = {m for m in upstream if module in graph.find_upstream_modules(m)}
        if group:
            yield group | {module}
            left -= group


@pytest.mark.parametrize("services", sorted(SOURCE.glob("domains/*/services")), ids=str)
def test_services_have_few_loose_modules(services: Path) -> None:
    loose = [path.name for path in services.glob("*.py") if path.name != "__init__.py"]

    assert len(loose) <= MOST_LOOSE, loose
