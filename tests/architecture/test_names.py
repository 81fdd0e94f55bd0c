"""Names and remarks of newer code are plain English; older code joins when it is rewritten."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

SOURCE = Path(__file__).resolve().parents[2] / "src" / "thenga"

# Older domains, whose names are from before the rule.
OLDER = (
    *("identity", "organization", "billing", "compliance", "opportunity"),
    *("bid", "contract", "notification", "administration"),
)
NEWER_OF_KERNEL = (
    *("http/framework.py", "http/proxies.py", "http/tracing.py", "http/filters.py"),
    *("db/column_types.py", "db/migrating/making.py", "db/migrating/writing.py"),
    *("values/by_name.py", "values/shapes.py"),
)

_WORDS = {"told", "tells", "tell", "held", "seen", "whoever"}
_REMARKS = re.compile(r"\b(?:told|tells?|held|seen|whoever|any more|no more)\b", re.IGNORECASE)


def newer() -> list[Path]:
    """The modules that the rule holds for."""
    domains = [p for p in (SOURCE / "domains").iterdir() if p.is_dir() and p.name not in OLDER]
    found = [path for domain in domains for path in domain.rglob("*.py")]
    found += [SOURCE / "kernel" / name for name in NEWER_OF_KERNEL]
    return sorted(path for path in found if "migrations" not in path.parts)


def faults(source: str) -> list[str]:
    """Names, loop variables, docstrings and comments that a colleague would not search for."""
    tree = ast.parse(source)
    found = [f"name {name}" for name in _names(tree) if _WORDS & set(name.lower().split("_"))]
    found += [f"loop name at line {line}" for line in _loops_over_one(tree)]
    return found + [f"remark: {text}" for text in _remarks(tree, source) if _REMARKS.search(text)]


def _names(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            yield node.name
        elif isinstance(node, ast.arg):
            yield node.arg
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id


def _loops_over_one(tree: ast.Module) -> Iterator[int]:
    for node in ast.walk(tree):
        if isinstance(node, ast.For | ast.AsyncFor | ast.comprehension):
            names = [n.id for n in ast.walk(node.target) if isinstance(n, ast.Name)]
            if "one" in names:
                yield node.target.lineno


def _remarks(tree: ast.Module, source: str) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            yield " ".join((ast.get_docstring(node) or "").split())
    yield from re.findall(r"(?:^|\s)# (.+)", source)


def test_newer_code_has_plain_names() -> None:
    found = {str(p.relative_to(SOURCE)): f for p in newer() if (f := faults(p.read_text()))}

    assert found == {}
    print(f"modules={len(newer())} faults=0")


def test_planted_names_are_found() -> None:
    source = (
        'def tell_party(seen):\n    """Whoever asks is told."""\n'
        "    held_by = [one for one in seen]  # no more than that\n"
    )

    assert faults(source) == [
        "name tell_party",
        "name seen",
        "name held_by",
        "loop name at line 3",
        "remark: Whoever asks is told.",
        "remark: no more than that",
    ]
