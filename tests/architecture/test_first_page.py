"""README.md names the domains that stand, those that are missing, and the papers of a project."""

import re
from pathlib import Path

import thenga
from thenga import topology

ROOT = Path(__file__).resolve().parents[2]
SPECIFIED = {
    *topology.DOMAINS,
    *("marketplace", "supplier", "funding", "intelligence", "learning", "analytics"),
}
_ROW = re.compile(r"^\| ([A-Z][a-z]+) \| ", re.MULTILINE)
_MISSING = re.compile(r"not\s+built: ([^.]+)\.")
_BLOCK = re.compile(r"^```bash\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def domains_named(readme: str) -> tuple[list[str], set[str]]:
    """The domains in the table of what works, and those that it says are not built."""
    section = readme.partition("## What works")[2].partition("\n## ")[0]
    works = [name.lower() for name in _ROW.findall(section) if name != "Domain"]
    missing = _MISSING.search(section)
    names = re.findall(r"[A-Z][a-z]+", missing[1]) if missing else []
    return works, {name.lower() for name in names}


def test_readme_names_the_domains_that_stand() -> None:
    works, missing = domains_named((ROOT / "README.md").read_text())

    assert works == list(topology.DOMAINS)
    assert missing == SPECIFIED - set(topology.DOMAINS)


def test_a_domain_left_out_of_readme_is_found() -> None:
    readme = (ROOT / "README.md").read_text()

    works, _ = domains_named(readme.replace("| Bid | ", "Bid: "))

    assert "bid" not in works


def test_readme_starts_with_five_commands() -> None:
    """What stays is a block of its own: whatever is pasted after it goes into its input."""
    blocks = _BLOCK.findall((ROOT / "README.md").read_text())

    commands = [[line.partition("#")[0].strip() for line in block.splitlines()] for block in blocks]

    first = commands.index(["make install", ".venv/bin/thenga dev up", ".venv/bin/thenga migrate"])
    api, worker, mail, sample = commands[first + 1 : first + 5]
    assert (api, worker) == ([".venv/bin/thenga api"], [".venv/bin/thenga worker"])
    assert (len(mail), sample) == (1, [".venv/bin/thenga dev sample"])


def test_the_papers_of_a_project_are_there() -> None:
    assert f"## {thenga.__version__}" in (ROOT / "CHANGELOG.md").read_text()
    assert "Version 2.0, January 2004" in (ROOT / "LICENSE").read_text()
    assert "The Thenga contributors" in (ROOT / "LICENSE").read_text()
    assert "security.txt" in (ROOT / "SECURITY.md").read_text()
    assert (ROOT / "CODE_OF_CONDUCT.md").exists()
    assert "run: .ci/run" in (ROOT / ".github/workflows/gate.yml").read_text()
