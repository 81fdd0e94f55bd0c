"""The console command, as a process of its own and without any server."""

import json
import os
import secrets
import subprocess
import sys
from pathlib import Path

import pytest

from thenga.command import main
from thenga.tooling.documents.where import where

ROOT = Path(__file__).resolve().parents[2]


def _run(*arguments: str, within: Path = ROOT, **given: str) -> subprocess.CompletedProcess[str]:
    settings = {name: value for name, value in os.environ.items() if "THENGA" not in name}
    return subprocess.run(
        [sys.executable, "-m", "thenga", *arguments],
        cwd=within,
        env=settings | {"PYTHONPATH": str(ROOT / "src")} | given,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


@pytest.mark.parametrize(("command", "version"), [("openapi", "3.1.0"), ("events", "3.0.0")])
def test_the_documents_are_printed_without_a_server(
    command: str, version: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in [name for name in os.environ if name.startswith("THENGA_")]:
        monkeypatch.delenv(name)

    with pytest.raises(SystemExit) as ended:
        main([command])

    told = json.loads(capsys.readouterr().out)
    assert (ended.value.code, version) == (0, told.get("openapi") or told["asyncapi"])


def test_help_tells_every_command() -> None:
    told = _run("--help").stdout

    words = ("dev", "migrate", "api", "worker", "openapi", "events", "where", "docs", "doctor")
    assert [word for word in words if f"\n    {word} " not in told] == []


def test_a_problem_code_is_found_from_outside() -> None:
    found = _run("where", "stale-version")

    assert found.returncode == 0
    assert found.stdout.startswith("src/thenga/kernel/errors/requests.py:")


def test_what_is_nowhere_is_said_to_be_nowhere() -> None:
    found = _run("where", "nowhere" + "-at-all")

    assert found.returncode == 1
    assert "nowhere" in found.stdout


def test_an_unknown_command_is_refused_with_the_known_ones() -> None:
    refused = _run("fly")

    assert refused.returncode == 2
    assert "migrate" in refused.stderr


def test_doctor_exits_with_1_if_something_is_missing(tmp_path: Path) -> None:
    examined = _run("doctor", within=tmp_path, THENGA_SEALING_KEY=secrets.token_hex(32))

    assert examined.returncode == 1
    assert "NO" in examined.stdout


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A source tree with one of everything that has a public name."""
    home = tmp_path / "src/thenga/domains/paper"
    home.mkdir(parents=True)
    (tmp_path / "tests").mkdir()
    (tmp_path / "docs").mkdir()
    (home / "api.py").write_text(
        '@router.post("/paper/sheets/{sheetId}/fold")\n'
        "async def fold_sheet(work: Annotated[Work, writes(Permission.FOLD)]): ...\n"
    )
    (home / "api" / "press").mkdir(parents=True)
    (home / "api" / "press" / "rollers.py").write_text(
        '@router.post("/paper/rollers")\nasync def add_roller(work): ...\n'
    )
    (home / "api" / "rolls.py").write_text(
        '@router.post("/paper/rolls")\nasync def add_roll(work): ...\n'
    )
    (home / "public.py").write_text(
        'class SheetFolded(Event, type="paper.SheetFolded.v1", subject="sheet_id"): ...\n'
    )
    (home / "lifecycles.py").write_text(
        "class Torn(Problem):\n"
        '    code, status, title = "paper-torn", 409, "The sheet is torn"\n'
        "def whole(sheet):\n"
        '    """A torn sheet is not folded (PAP-7)."""\n'
        "    raise Torn()\n"
    )
    (home / "permissions.py").write_text(
        'class Permission(StrEnum):\n    FOLD = "paper:sheet:fold"\n'
    )
    (tmp_path / "docs/rules.md").write_text("PAP-7: A torn sheet is not folded.\nPAP-71: no.\n")
    (tmp_path / "src/broken.py").write_text("def (\n")
    return tmp_path


@pytest.mark.parametrize(
    ("query", "places"),
    [
        ("/paper/sheets/{sheetId}/fold", ["api.py:2"]),
        ("/v1/paper/sheets/0190/fold?x=1", ["api.py:2"]),
        ("POST /paper/sheets/{id}/fold", ["api.py:2"]),
        ("fold_sheet", ["api.py:2"]),
        ("paper.rolls.add", ["rolls.py:2"]),
        ("add_roll", ["rolls.py:2"]),
        ("paper.rollers.add", ["rollers.py:2"]),
        ("paper.SheetFolded.v1", ["public.py:1"]),
        ("SheetFolded", ["public.py:1"]),
        ("paper-torn", ["lifecycles.py:2", "lifecycles.py:1", "lifecycles.py:5"]),
        ("paper:sheet:fold", ["permissions.py:2", "api.py:2"]),
        ("PAP-7", ["lifecycles.py:4", "rules.md:1"]),
        ("whole", ["lifecycles.py:3"]),
        ("/paper/sheets", ["api.py:1"]),
    ],
)
def test_a_name_leads_to_its_place(tree: Path, query: str, places: list[str]) -> None:
    found = where(query, tree)

    assert [line.split()[0].rpartition("/")[2] for line in found] == places
