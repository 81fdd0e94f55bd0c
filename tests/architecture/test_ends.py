"""Two runs of `make check` share the files: every test runs once, in one of them."""

import os
import subprocess
import sys
from pathlib import Path

_CONFTEST = """
import pytest
from tests import ends

def pytest_configure(config):
    ends.register(config)

@pytest.fixture(scope="package")
def of_package():
    yield
    print("\\nleft", __file__)
"""
_TEST = "def test_one(of_package): pass\n\ndef test_two(of_package): pass\n"


def test_two_runs_share_the_files(tmp_path: Path) -> None:
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "__init__.py").touch()
        (tmp_path / folder / "conftest.py").write_text(_CONFTEST.split("def pytest_configure")[0])
        for number in range(3):
            (tmp_path / folder / f"test_{folder}{number}.py").write_text(_TEST)
    (tmp_path / "conftest.py").write_text(_CONFTEST)
    claims = tmp_path / "claims"
    claims.mkdir()
    # A file of the other run between two of ours, and the last of its folder.
    (claims / "a--test_a2.py").touch()

    front, back = _run(tmp_path, claims), _run(tmp_path, claims, THENGA_END="back")

    passed = [line for said in (front, back) for line in said.splitlines() if "PASSED" in line]
    names = sorted(line.partition(" ")[0] for line in passed)
    expected = [f"{f}/test_{f}{n}.py" for f in "ab" for n in range(3) if (f, n) != ("a", 2)]
    assert names == sorted(f"{file}::test_{n}" for file in expected for n in ("one", "two"))
    assert "10 passed" in front
    assert "no tests ran" in back


def _run(folder: Path, claims: Path, **more: str) -> str:
    root = Path(__file__).parents[2]
    known = os.environ | {"PYTEST_ADDOPTS": "", "PYTHONPATH": str(root)} | more
    known["THENGA_CLAIMS"] = str(claims)
    command = [sys.executable, "-m", "pytest", "-v", "-p", "no:cacheprovider", "--rootdir=.", "."]
    return subprocess.run(
        command, cwd=folder, env=known, capture_output=True, text=True, timeout=120, check=False
    ).stdout
