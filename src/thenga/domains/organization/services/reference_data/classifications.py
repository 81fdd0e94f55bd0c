"""Classifications: the codes by which buyers find work and goods (ORG-19).

A scheme whose catalogue is loaded knows its codes; of the others only the form is checked.
"""

import csv
import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any
from uuid import UUID, uuid5

from sqlalchemy import ColumnElement, func, literal_column, or_, select

from thenga.domains.organization.services.reference_data import json_paths
from thenga.domains.organization.tables import ClassificationCode
from thenga.domains.organization.tables.offers import Classification
from thenga.kernel.db.paging import Paged, Slice
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.statements import among, where_given
from thenga.kernel.db.work import Work
from thenga.kernel.errors import ERRORS, Problem, extensions

FILE = Path(__file__).parents[2] / "content" / "classifications.csv"
SORTS: dict[str, ColumnElement[Any] | None] = {"code": ClassificationCode.code}
_CATALOGUE = UUID("019a0000-0000-7000-8000-0000000c1a55")
_FORMS = {
    "unspsc": re.compile(r"[0-9]{8}(?:[0-9]{2})?"),
    "cpv": re.compile(r"[0-9]{8}-[0-9]"),
    "cidb": re.compile(r"[A-Z]{2}"),
    "internal": re.compile(r"\S(?:.{0,38}\S)?"),
}
_UNSPSC_DIGITS = 8  # two more say what is done with it, which no catalogue lists
_SEED = """
    INSERT INTO organization.classification_code
        (id, created_at, updated_at, version, scheme, code, title, parent)
    VALUES ($1, $2, $2, 1, $3, $4, $5, $6)
    ON CONFLICT (scheme, code) DO UPDATE SET updated_at = excluded.updated_at,
        version = organization.classification_code.version + 1, title = excluded.title,
        parent = excluded.parent
"""
_BELOW = "$[*] ? (@.scheme == $scheme && @.code starts with $code)"
_EXACT = "$[*] ? (@.scheme == $scheme && @.code == $code)"
_WORDS: ColumnElement[str] = literal_column("'english'")


class ClassificationInvalid(Problem):
    """The code does not match the format of its scheme or is not in the catalogue.

    Look it up with `GET /organization-catalogues/classifications`.
    """

    code, status, title = (
        "organization-classification-invalid",
        422,
        "This classification does not exist",
    )
    members = extensions(errors=ERRORS)


async def load(work: Work, file: Path = FILE) -> None:
    """Bring the catalogue to what the file says; codes that it does not name stay."""
    with file.open(newline="", encoding="utf-8") as lines:
        for line in csv.DictReader(lines):
            named = f"{line['scheme']} {line['code']}"
            values = (line["scheme"], line["code"], line["title"], line["parent"] or None)
            await work.run(_SEED, uuid5(_CATALOGUE, named), work.now, *values)


async def list_classifications(
    read: Reader, paged: Paged, *, scheme: str, q: str | None, parent: str | None
) -> Slice[ClassificationCode]:
    """The codes of a scheme, by words of the title, the beginning of the code, or the parent."""
    statement = select(ClassificationCode).where(ClassificationCode.scheme == scheme)
    statement = where_given(statement, (ClassificationCode.parent, parent))
    if q is not None:
        title = ClassificationCode.title
        words = func.to_tsvector(_WORDS, title).op("@@")(func.websearch_to_tsquery(_WORDS, q))
        begins = ClassificationCode.code.istartswith(q, autoescape=True)
        statement = statement.where(or_(words, begins, title.icontains(q, autoescape=True)))
    return await read.page(statement, paged, SORTS[paged.sort])


async def check_classification(
    read: Reader, given: Sequence[Classification], *, at: str = "/classifications"
) -> None:
    """Refuse a code of the wrong form, or one that a loaded catalogue does not have."""
    wrong = [n for n, one in enumerate(given) if not _FORMS[one["scheme"]].fullmatch(one["code"])]
    if not wrong and given:
        loaded = await _loaded(read)
        found = await known_classifications(read, given)
        wrong = [
            n
            for n, one in enumerate(given)
            if one["scheme"] in loaded and (one["scheme"], one["code"]) not in found
        ]
    if wrong:
        raise ClassificationInvalid(
            errors=[
                {
                    "pointer": f"{at}/{n}/code",
                    "code": "classification",
                    "detail": f"{given[n]['scheme']} has no code {given[n]['code']}.",
                }
                for n in wrong
            ]
        )


async def known_classifications(
    read: Reader, given: Iterable[Classification]
) -> set[tuple[str, str]]:
    """Which of these the catalogue has, in one statement."""
    asked = {(one["scheme"], one["code"]): _listed(one) for one in given}
    if not asked:
        return set()
    codes = {code for _, code in asked.values()}
    rows = await read.all(
        select(ClassificationCode).where(among(ClassificationCode.code, codes)), limit=5000
    )
    have = {(row.scheme, row.code) for row in rows}
    return {one for one, listed in asked.items() if listed in have}


def matches(column: ColumnElement[Any], scheme: str, code: str | None) -> ColumnElement[bool]:
    """Whether classifications hold a code, or one below it; pairs of zeros mean all below."""
    if code is None or scheme == "unspsc":
        return json_paths.holds(column, _BELOW, scheme=scheme, code=_prefix(code or ""))
    return json_paths.holds(column, _EXACT, scheme=scheme, code=code)


async def _loaded(read: Reader) -> set[str]:
    statement = select(ClassificationCode.scheme).distinct()
    return set(await read.values(statement))


def _listed(one: Classification) -> tuple[str, str]:
    """The code that a catalogue would list for a given one."""
    code = one["code"][:_UNSPSC_DIGITS] if one["scheme"] == "unspsc" else one["code"]
    return one["scheme"], code


def _prefix(code: str) -> str:
    """What all codes below this one begin with: `12150000` is the family of `12151405`."""
    if len(code) > _UNSPSC_DIGITS:
        return code
    while code.endswith("00"):
        code = code[:-2]
    return code
