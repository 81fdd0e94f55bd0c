"""The texts that people read hold no known bad form, and a detail says more than its title."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import httpx2
import pytest

from tests.documented import documented, only_repeats_title
from thenga.kernel.http.problems import MEDIA_TYPE

ROOT = Path(__file__).resolve().parents[2]
TEXTS = ROOT / "docs" / "texts.md"
LONGEST_TEST_NAME = 60

# The sections that were proofread; a domain joins once all its texts are plain English.
PROOFREAD = ("kernel", "identity", "organization", "billing")

# German syntax in English words. Add whatever a reader stumbles over.
BAD_FORMS = {
    "guillemets": r"[«»]",
    "lower case after a salutation": r"Good day[^,¶]*, ¶ [a-z]",
    "cannot be had": r"\b(?:can|cannot|could not) be had\b",
    "is over": r"\b(?:is|are) over\b(?! \d)",
    "made out": r"\bmade out\b",
    "any more": r"\bany more\b",
    "no more at the end": r"\bno more[.;]",
    "found, for create": r"\bFound (?:a|an|one)\b",
    "dead": r"\b(?:is|are) dead\b",
    "a relative clause as subject": (
        r"(?:^- |[.:;] )Who (?:was|were|is|has|had) \w+ (?:gets|may|can|needs)"
    ),
    "lies between": r"\bBetween two \w+ lie\b",
    "not right": r"\bis not right\b",
    "say first": r"\bSay (?:first|by|who|which)\b",
    "anew": r"\banew\b",
}

# Words of docstrings and comments that have a plain one: automatically, the caller, publish, store.
BAD_WORDS = BAD_FORMS | {
    "by itself": r"\bby (?:itself|themselves)\b",
    "whoever": r"\b[Ww]hoever\b",
    "tell, for publish": r"\b(?:is|are|was|were|be) told\b|\b[Tt]ells? (?:that|what|of)\b",
    "go on": r"\b(?:goes|go|going) on\b",
    "write down": r"\b(?:write|writes|written) down\b",
    "look after": r"\blook(?:s|ed)? (?:after|at again)\b",
    "give back": r"\b(?:give|gives|given|giving) back\b",
    "a subscription lives": r"\b(?:lives|live on)\b",
}
PLAIN_SOURCE = ("domains/billing",)  # whose docstrings and comments were proofread


def bad_forms(line: str, forms: dict[str, str] = BAD_FORMS) -> list[str]:
    return [name for name, form in forms.items() if re.search(form, line)]


def remarks(source: str) -> Iterator[str]:
    """The docstrings and comments of a module."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            yield " ".join((ast.get_docstring(node) or "").split())
    yield from re.findall(r"(?:^|\s)# (.+)", source)


def long_names(source: str) -> list[str]:
    """Names of tests that are longer than a line of a report."""
    named = re.findall(r"def (test_\w+)", source)
    return [name for name in named if len(name) > LONGEST_TEST_NAME]


def listed() -> list[str]:
    found, domain = [], ""
    for line in TEXTS.read_text().splitlines():
        if line.startswith("## "):
            domain = line.removeprefix("## ").partition(":")[0]
        elif line.startswith("- ") and domain in PROOFREAD:
            found.append(line)
    return found


def test_texts_hold_no_known_bad_form() -> None:
    found = {line: forms for line in listed() if (forms := bad_forms(line))}

    assert found == {}


@pytest.mark.parametrize(
    ("line", "form"),
    [
        ("- Of «Professional» ZAR 10.00 are left. — `x.py`", "guillemets"),
        ("- Hello ¶ Good day {{name}}, ¶ you are invited. — `x.txt`", "lower case after"),
        ("- This plan cannot be had. — `x.py`", "cannot be had"),
        ("- The access token is over. — `x.py`", "is over"),
        ("- Found one with `mode: sandbox`. — `x.py`", "found, for create"),
        ("- Who was removed gets no role. — `x.py`", "a relative clause"),
    ],
)
def test_planted_bad_forms_are_found(line: str, form: str) -> None:
    assert any(name.startswith(form) for name in bad_forms(line))


def test_remarks_in_the_source_hold_no_known_bad_form() -> None:
    read = [
        (path, remark)
        for folder in PLAIN_SOURCE
        for path in sorted((ROOT / "src" / "thenga" / folder).rglob("*.py"))
        if "migrations" not in path.parts  # which never change
        for remark in remarks(path.read_text())
    ]
    found = {
        f"{path.relative_to(ROOT)}: {remark}": forms
        for path, remark in read
        if (forms := bad_forms(remark, BAD_WORDS))
    }

    assert found == {}
    print(f"remarks={len(read)} bad_forms=0")


def test_planted_bad_remarks_are_found() -> None:
    source = 'def f():\n    """Whoever pays is told."""\n    x = 1  # it goes on by itself\n'

    found = [form for remark in remarks(source) for form in bad_forms(remark, BAD_WORDS)]

    assert found == ["whoever", "tell, for publish", "by itself", "go on"]


def test_names_of_tests_are_short() -> None:
    tests = sorted((ROOT / "tests").rglob("*.py"))

    assert [name for path in tests for name in long_names(path.read_text())] == []


def test_a_long_name_of_a_test_is_found() -> None:
    planted = "test_" + "x" * LONGEST_TEST_NAME

    assert long_names(f"def {planted}(): ...\n") == [planted]


def test_a_detail_that_repeats_its_title_is_found() -> None:
    said = {"title": "This exists already", "detail": "This exists already."}

    assert only_repeats_title(said)
    assert not only_repeats_title(said | {"detail": "A role `buyer` already exists."})


async def test_planted_repetition_fails_the_test_that_sees_it() -> None:
    answer = httpx2.Response(
        401,
        headers={"content-type": MEDIA_TYPE},
        json={"code": "unauthenticated", "title": "Sign in first", "detail": "Sign in first."},
        request=httpx2.Request("GET", "http://api/v1/identity/users/me"),
    )

    with pytest.raises(AssertionError, match="say what to do"):
        await documented().noting(answer)
