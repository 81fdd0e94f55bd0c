"""Statements of hand-written pages that a machine can compare with the code."""

import re
import tomllib
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from thenga import topology
from thenga.kernel.declare.manifest import Domain

ROOT = Path(__file__).resolve().parents[2]
DOMAINS = topology.load(topology.DOMAINS)
_PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
LAYERS = {
    contract["containers"][0]: contract["layers"]
    for contract in _PROJECT["tool"]["importlinter"]["contracts"]
    if contract["type"] == "layers" and contract["containers"]
}
PRESENT = [
    *(ROOT / f"{name}.md" for name in ("README", "ARCHITECTURE", "CONTRIBUTING", "docs/kernel")),
    *sorted((ROOT / "src" / "thenga" / "domains").glob("*/README.md")),
]

# --- READMEs of domains ---------------------------------------------------------------------------

_NAME = re.compile(r"`((?:[a-z_]+\.)?[A-Z]\w+)(?:\.\w+)?`")


def paragraph(page: str, heading: str) -> str:
    found = re.search(rf"^\*\*{heading}\*\*: (.*?)\n\n", page, re.MULTILINE | re.DOTALL)
    return found[1] if found else ""


def named(page: str, heading: str) -> list[str]:
    """The events or ports that a paragraph names, each behind the last domain that it named."""
    found, owner = [], ""
    for name in _NAME.findall(paragraph(page, heading)):
        domain, _, short = name.rpartition(".")
        owner = domain or owner
        found.append(f"{owner}.{short}" if owner else short)
    return found


def differences(said: Iterable[str], true: Iterable[str]) -> list[str]:
    """What is said twice, said and not true, or true and not said."""
    times, facts = Counter(said), set(true)
    twice = [f"{name} is named {count} times" for name, count in times.items() if count > 1]
    wrong = [f"{name} is named and does not exist" for name in times.keys() - facts]
    return sorted([*twice, *wrong, *(f"{name} is not named" for name in facts - times.keys())])


def readme(domain: Domain) -> str:
    return (domain.home / "README.md").read_text()


def event_faults(page: str, domain: Domain) -> list[str]:
    published = named(page, "Publishes")
    return differences(published, (event.short_name() for event in domain.events))


def reaction_faults(page: str, domain: Domain) -> list[str]:
    """A name before any domain is an event that each domain has, as `PolicyAcknowledged`."""
    every = {event.type.rpartition(".")[0] for each in DOMAINS for event in each.events}
    said = [
        one
        for name in named(page, "Reacts to")
        for one in ([name] if "." in name else [e for e in every if e.endswith(f".{name}")])
    ]
    reactions = domain.reactions.all if domain.reactions is not None else ()
    return differences(said, (one.event_type.rpartition(".")[0] for one in reactions))


def port_faults(page: str, domain: Domain) -> list[str]:
    """Ports that a domain asks; it may name several questions of one."""
    asked = {f"{p.port_name.split('.')[0]}.{p.__name__}" for p in (*domain.needs, *domain.may_need)}
    return differences(set(named(page, "Calls")), asked)


def rooms(page: str) -> list[str]:
    """The rooms and modules in the table below `## Rooms`, from top to bottom."""
    section = page.partition("\n## Rooms\n")[2].partition("\n## ")[0]
    cells = [line.split("|")[1] for line in section.splitlines() if line.startswith("| `")]
    return [name for cell in cells for name in re.findall(r"`(\w+)`", cell)]


def room_faults(page: str, domain: Domain) -> list[str]:
    """Rooms that are missing or invented, and those that stand below a room which uses them."""
    said = rooms(page)
    there = {path.stem for path in (domain.home / "services").iterdir()}
    there -= {"__init__", "__pycache__"}
    layers = LAYERS[f"thenga.domains.{domain.name}.services"]
    place = {name: at for at, layer in enumerate(layers) for name in re.findall(r"\w+", layer)}
    steps = pairwise((place.get(name, 0), name) for name in said)
    upward = [name for (before, _), (at, name) in steps if at > before]
    return [
        *differences(said, there),
        *(f"{name} stands below a room that uses it" for name in upward),
    ]


FAULTS = (event_faults, reaction_faults, port_faults, room_faults)


@pytest.mark.parametrize("domain", DOMAINS, ids=lambda domain: domain.name)
def test_readme_of_a_domain_says_what_the_code_says(domain: Domain) -> None:
    page = readme(domain)

    assert [fault for find in FAULTS for fault in find(page, domain)] == []


@pytest.mark.parametrize(
    ("find", "before", "after", "faults"),
    [
        (event_faults, "`BidLost`, ", "", ["BidLost is not named"]),
        (event_faults, "`BidLost`, ", "`BidLost`, `BidLost`, ", ["BidLost is named 2 times"]),
        (
            reaction_faults,
            "`TenderOpportunityAwarded` (a hint)",
            "`TenderOpportunityPaid` (a hint)",
            [
                "opportunity.TenderOpportunityAwarded is not named",
                "opportunity.TenderOpportunityPaid is named and does not exist",
            ],
        ),
        (port_faults, "`compliance.Evidence.resolve`, ", "", ["compliance.Evidence is not named"]),
        (room_faults, "| `forms` |", "| forms |", ["forms is not named"]),
        (
            room_faults,
            "| `tenants` | what Bid knows of an organization itself |\n| `workspaces` |",
            "| `workspaces` | one |\n| `tenants` |",
            ["tenants stands below a room that uses it"],
        ),
    ],
)
def test_a_planted_fault_in_a_readme_is_found(
    find: Any, before: str, after: str, faults: list[str]
) -> None:
    bid = next(domain for domain in DOMAINS if domain.name == "bid")
    page = readme(bid)
    assert before in page

    assert find(page.replace(before, after, 1), bid) == faults


# --- counts ---------------------------------------------------------------------------------------

_WORDS = "two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|thirteen|fourteen|fifteen"
_COUNT = re.compile(
    rf"\b(?:\d[\d,]*|{_WORDS})\s+(?:import-linter\s+)?(?:contracts|operations|routes|endpoints)\b",
    re.IGNORECASE,
)


def counts(page: str) -> list[str]:
    """Numbers that grow with the code: a page of today sends to `docs/map.md` and the manifests."""
    return _COUNT.findall(page)


def test_no_page_types_in_a_count_that_grows() -> None:
    found = {str(page.relative_to(ROOT)): counts(page.read_text()) for page in PRESENT}

    assert {page: numbers for page, numbers in found.items() if numbers} == {}


@pytest.mark.parametrize("text", ["It has 515 operations.", "Thirteen\nimport-linter contracts"])
def test_a_planted_count_is_found(text: str) -> None:
    assert len(counts(text)) == 1


# --- papers outside the repository ----------------------------------------------------------------

# What nobody who has only this repository can look up. Rules of docs/rules.md and decisions by
# their four digits may be cited. Each pattern begins with a plain word, which makes it fast.
_PAPERS = ("context-map", "za-facts", "last-six", "human-face")
_PAGES = ("lean", "rooms", "openapi", "style", "words", "conventions", "dependencies", "review")
_OF_THE_SHEET = ("vector", "vectors", "figures", "words", "bugs", "dates", "hash", "Contract E")
OUTSIDE = {
    "a numbered security rule": (r"ecurity rules? \d",),
    "a rule without a domain": (r"rules? \d+\)",),
    "a gotcha": ("gotcha",),
    "a design paper": (*_PAPERS, *(rf"{page}\.md\b" for page in _PAGES)),
    "a number of the kernel's paper": (r"\(K\d{1,2}\)",),
    "a section of the conventions": (r"conventions, section \d",),
    "a section of a paper": (r" section (?<=\b[A-Z]{3} section )\d",),
    "a decision of another table": (r"decision \d{1,2}\b",),
    "a sheet": (
        *(rf"{what} of the sheets?\b" for what in _OF_THE_SHEET),
        r"the sheets?'s? (?:vector|figures|words|Contract)",
        r"the sheets? (?:says?|names?|prints|writes)\b",
        r"by the sheets?\b",
        r"from the sheets?\b",
        "_of_the_sheet",
    ),
    "the specification": ("the specification",),
}
_KINDS = {".py", ".md", ".toml", ".yaml", ".cedar", ".typ"}


def citations(text: str) -> list[str]:
    return [
        name
        for name, patterns in OUTSIDE.items()
        if any(re.search(pattern, text) for pattern in patterns)
    ]


def places(path: Path) -> Iterator[str]:
    text = path.read_text(errors="replace")
    if citations(text):
        for number, line in enumerate(text.splitlines(), 1):
            yield from (f"{path.relative_to(ROOT)}:{number}: {name}" for name in citations(line))


def test_no_line_cites_a_paper_outside() -> None:
    files = [path for folder in ("src", "tests", "docs") for path in (ROOT / folder).rglob("*")]
    read = [
        *(ROOT / name for name in ("Makefile", "Dockerfile")),
        *(path for path in (*files, *ROOT.iterdir()) if path.suffix in _KINDS and path.is_file()),
    ]

    assert [place for path in read if path != Path(__file__) for place in places(path)] == []
    print(f"files={len(read)} citations=0")


@pytest.mark.parametrize(
    ("line", "name"),
    [
        ('"""The door, in this order (security rule 25)."""', "a numbered security rule"),
        ("# shown once, so kept nowhere (rule 33)", "a rule without a domain"),
        ("# done once more (dependencies, gotcha 5)", "a gotcha"),
        ("# 300 seconds (za-facts 6.5)", "a design paper"),
        ("| which kind (K3) | `Kind` |", "a number of the kernel's paper"),
        ("# One clock (conventions, section 9)", "a section of the conventions"),
        ("# The first owner (IDN section 6)", "a section of a paper"),
        ("# A keyed hash (context-map, decision 14)", "a decision of another table"),
        ('"""By the sheet\'s vectors."""', "a sheet"),
        ("def test_the_vector_of_the_sheet():", "a sheet"),
        ("# the order is the specification's", "the specification"),
    ],
)
def test_a_planted_citation_is_found(line: str, name: str) -> None:
    assert name in citations(line)


@pytest.mark.parametrize(
    "line", ["(SEC-61)", "(docs/decisions/0007)", "VAT Act, section 20", "the sheet is torn"]
)
def test_what_is_in_the_repository_may_be_cited(line: str) -> None:
    assert citations(line) == []
