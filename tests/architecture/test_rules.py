"""docs/rules.md and the numbers that the code cites are the same rules."""

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SOURCE = ROOT / "src" / "thenga"
PREFIXES = (
    *("ADM", "ANL", "BID", "BIL", "CMP", "CON", "FND", "IDN"),
    *("INT", "LRN", "MKT", "NOT", "OPP", "ORG", "SUP"),
    "SEC",  # security rules of the platform
)
_NUMBER = re.compile(rf"\b(?:{'|'.join(PREFIXES)})-\d+\b")
_LINE = re.compile(rf"^\| ({_NUMBER.pattern}) \| (.+) \| (.+) \|$", re.MULTILINE)

Cited = dict[str, set[str]]


def cited(source: Path) -> Cited:
    """Which files below a folder cite which rule."""
    found: Cited = {}
    for path in sorted(source.rglob("*")):
        if path.suffix in (".py", ".cedar"):
            for number in _NUMBER.findall(path.read_text()):
                found.setdefault(number, set()).add(str(path.relative_to(source)))
    return found


def differences(page: str, known: Cited) -> list[str]:
    """What is on one side only, or stands in the wrong place."""
    lines = {number: files.split(", ") for number, _, files in _LINE.findall(page)}
    missing = unknown(page, known)
    idle = [f"{number} is on the page and not cited" for number in lines.keys() - known.keys()]
    elsewhere = [
        f"{number} is not cited in {file}"
        for number in lines.keys() & known.keys()
        for file in lines[number]
        if file not in known[number]
    ]
    return sorted([*missing, *idle, *elsewhere])


def unknown(page: str, known: Cited) -> list[str]:
    """Numbers that are cited and have no line."""
    lines = {number for number, _, _ in _LINE.findall(page)}
    return [f"{number} is cited and not on the page" for number in sorted(known.keys() - lines)]


def test_the_page_and_the_code_have_the_same_rules() -> None:
    page, known = (ROOT / "docs" / "rules.md").read_text(), cited(SOURCE)

    assert differences(page, known) == []
    print(f"rules={len(known)} citations={sum(map(len, known.values()))}")


def test_rules_that_tests_name_stand_on_the_page() -> None:
    page = (ROOT / "docs" / "rules.md").read_text()
    planted = f"BIL-{999}"  # written so that this file does not cite it

    assert unknown(page, cited(ROOT / "tests")) == []
    assert unknown(page, {planted: {"a.py"}}) == [f"{planted} is cited and not on the page"]


def test_each_rule_stands_once_on_the_page() -> None:
    numbers = [found[0] for found in _LINE.findall((ROOT / "docs" / "rules.md").read_text())]

    assert sorted(numbers) == sorted(set(numbers))


def test_a_rule_on_one_side_only_would_be_found() -> None:
    page = "| BIL-7 | Time paid for is kept. | a.py |\n| BIL-8 | Nothing is free. | b.py |\n"

    found = differences(page, {"BIL-8": {"c.py"}, "BIL-9": {"c.py"}})

    assert found == [
        "BIL-7 is on the page and not cited",
        "BIL-8 is not cited in b.py",
        "BIL-9 is cited and not on the page",
    ]
