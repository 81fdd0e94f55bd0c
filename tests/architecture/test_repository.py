"""What must hold for every file: size, name, imports, and no trace of the machine it is from."""

import ast
import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
LINES_OF_A_FILE = 500
LINES_OF_A_FUNCTION = 60
VAGUE = {"utils.py", "helpers.py", "common.py", "misc.py", "base.py"}

# Put together from parts, so that this file does not find itself.
MACHINE = re.compile(r"(?<![\w.}\])*-])/(?:" + "|".join(["root", "work", "home"]) + r")/")
REGISTRY = re.compile(
    "|".join(
        [
            r"pypi" + r"\.(?:org|python)",
            r"python" + r"hosted\.org",
            r"registry\." + r"npmjs|npmjs\." + r"(?:com|org)",
            r"(?:index|find)-" + r"(?:url|links)[ =]",
            r"://[^\s\"']+/" + r"simple\b",
        ]
    )
)


def _files() -> list[Path]:
    """What is in the repository or would be with the next `git add`."""
    command = ["git", "-c", "safe.directory=*", "ls-files", "-z", "--cached", "--others"]
    listed = subprocess.run(
        [*command, "--exclude-standard"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout
    found = [ROOT / name for name in sorted(set(listed.split("\0")) - {""})]
    return [path for path in found if path.is_file()]


FILES = _files()
PYTHON = [path for path in FILES if path.suffix == ".py"]
WRITTEN = [path for path in PYTHON if "migrations" not in path.parts]


def _lines(pattern: re.Pattern[str]) -> list[str]:
    found = []
    for path in FILES:
        text = path.read_text(errors="replace")
        found += [
            f"{path.relative_to(ROOT)}:{number}"
            for number, line in enumerate(text.splitlines(), 1)
            if pattern.search(line)
        ]
    return found


def test_there_is_something_to_look_at() -> None:
    assert Path(__file__) in WRITTEN
    assert len([path for path in FILES if path.suffix == ".lock"]) == 2


def test_locks_hold_no_address() -> None:
    locks = [path for path in FILES if path.suffix == ".lock"]

    assert [path.name for path in locks if "://" in path.read_text()] == []


def test_no_file_names_a_registry() -> None:
    assert _lines(REGISTRY) == []


def test_no_file_names_a_path_of_a_machine() -> None:
    assert _lines(MACHINE) == []


@pytest.mark.parametrize(
    ("pattern", "text"),
    [
        (MACHINE, "cd " + "/ro" + "ot/thenga"),
        (MACHINE, "'" + "/ho" + "me/me/x'"),
        (REGISTRY, "https://" + "py" + "pi.org"),
        (REGISTRY, "--find" + "-links here"),
        (REGISTRY, "https://mirror.example/" + "sim" + "ple/"),
    ],
)
def test_a_planted_address_would_be_found(pattern: re.Pattern[str], text: str) -> None:
    assert pattern.search(text)


def test_files_can_be_read_at_a_sitting() -> None:
    sizes = {path: len(path.read_text().splitlines()) for path in WRITTEN}

    assert {str(p.relative_to(ROOT)): n for p, n in sizes.items() if n > LINES_OF_A_FILE} == {}


def test_functions_can_be_read_at_a_glance() -> None:
    source = [path for path in WRITTEN if path.is_relative_to(ROOT / "src")]
    long = [
        f"{path.relative_to(ROOT)}:{node.lineno} {node.name}"
        for path in source
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and (node.end_lineno or node.lineno) - node.lineno + 1 > LINES_OF_A_FUNCTION
    ]

    assert long == []


def _forgotten(text: str) -> list[str]:
    """Counts that are read before and written after an await: what others counted is lost."""
    return [
        f"line {line.lineno}: {ast.unparse(line)}"
        for function in ast.walk(ast.parse(text))
        if isinstance(function, ast.AsyncFunctionDef)
        for shared in function.body
        if isinstance(shared, ast.Nonlocal)
        for line in ast.walk(function)
        if isinstance(line, ast.AugAssign) and ast.unparse(line.target) in shared.names
        if any(isinstance(part, ast.Await) for part in ast.walk(line.value))
    ]


def test_no_shared_count_is_forgotten_over_an_await() -> None:
    sharing = [path for path in PYTHON if "nonlocal" in path.read_text()]

    assert [f"{path}: {fault}" for path in sharing for fault in _forgotten(path.read_text())] == []
    planted = "async def one():\n    nonlocal n\n    n += await two()\n"
    assert _forgotten(planted) == ["line 3: n += await two()"]


def test_no_file_is_named_for_nothing() -> None:
    assert [str(path.relative_to(ROOT)) for path in PYTHON if path.name in VAGUE] == []


def test_imports_are_absolute() -> None:
    relative = [
        f"{path.relative_to(ROOT)}:{node.lineno}"
        for path in PYTHON
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.ImportFrom) and node.level
    ]

    assert relative == []
