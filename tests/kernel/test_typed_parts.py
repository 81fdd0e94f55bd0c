"""mypy finds misspelt names in what the kernel's declarations take."""

import re
from pathlib import Path

from mypy import api

ROOT = Path(__file__).parents[2]
PARTS = Path(__file__).parent / "typed_parts.py"


def checked(path: Path) -> str:
    config = ROOT / "pyproject.toml"
    silent = ("--follow-imports", "silent")  # faults of this file alone
    said, faults, _ = api.run(["--config-file", str(config), "--no-pretty", *silent, str(path)])
    assert faults == ""
    return said


def test_each_planted_misspelling_is_found_by_mypy(tmp_path: Path) -> None:
    text = PARTS.read_text()
    planted = re.findall(r"  # type: ignore\[(.*?)\]", text)
    bare = tmp_path / "typed_parts.py"
    bare.write_text(re.sub(r"  # type: ignore\[.*?\]", "", text))

    said = checked(PARTS)
    found = re.findall(r"error: .*\[(.*?)\]", checked(bare))

    print(f"planted={len(planted)} found={len(found)}")
    assert said.startswith("Success"), said
    assert sorted(found) == sorted(planted)
