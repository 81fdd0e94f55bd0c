"""The texts that people read hold no known bad form, and a detail says more than its title."""

import re
from pathlib import Path

import httpx2
import pytest

from tests.documented import documented, only_repeats_title
from thenga.kernel.http.problems import MEDIA_TYPE

TEXTS = Path(__file__).resolve().parents[2] / "docs" / "texts.md"

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


def bad_forms(line: str) -> list[str]:
    return [name for name, form in BAD_FORMS.items() if re.search(form, line)]


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
