"""The catalogue of forms: dated data, matched by regime and title (BID-18)."""

import json
import re
import unicodedata
from collections.abc import Sequence
from datetime import date
from functools import cache
from pathlib import Path
from typing import Any

from sqlalchemy import select

from thenga.domains.bid.tables import FormDefinition
from thenga.domains.bid.values.forms import Definition
from thenga.domains.opportunity import public as opportunity
from thenga.kernel.access.actors import SYSTEM, Scope
from thenga.kernel.access.origin import Origin
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.statements import among
from thenga.kernel.db.work import Work
from thenga.kernel.declare.manifest import Domain
from thenga.kernel.process.host import Host

_FORMS = Path(__file__).parents[2] / "content" / "forms"
_WORD = re.compile(r"[a-z0-9]+")


@cache
def catalogue_rows() -> tuple[dict[str, Any], ...]:
    """The data files, in the order of code and edition."""
    rows = [json.loads(path.read_text(encoding="utf-8")) for path in sorted(_FORMS.glob("*.json"))]
    return tuple(sorted(rows, key=lambda row: (row["formCode"], row["edition"])))


@cache
def definitions() -> tuple[Definition, ...]:
    """Every edition of every form that the platform knows."""
    return tuple(Definition.of_row(row) for row in catalogue_rows())


def definition_of(form_code: str, edition: str | None) -> Definition | None:
    """An edition by its code and name; a buyer's form has none."""
    found = [
        one
        for one in definitions()
        if one.form_code == form_code and edition in (None, one.edition)
    ]
    return found[-1] if found else None


def edition_on(form_code: str, on: date) -> Definition | None:
    """The edition of a form that is in force on a day."""
    found = [one for one in definitions() if one.form_code == form_code and one.in_force(on)]
    return found[-1] if found else None


def match(form: opportunity.TenderForm, *, regime: str | None, on: date) -> Definition | None:
    """The definition of a form that a tender lists, by title and regime; never by number alone,
    because SBD 5 and MBD 5 are different forms. None makes it a buyer's form."""
    title = _folded(form.title)
    for one in definitions():
        if regime not in (None, "other", one.regime) and one.regime != "any":
            continue
        if form.edition is not None and form.edition != one.edition:
            continue
        if form.edition is None and not one.in_force(on):
            continue
        if _names(one, form.code, title):
            return one
    return None


def _names(one: Definition, code: str | None, title: str) -> bool:
    """Whether a title is that of the form; a code beside it must not be of another form."""
    if code is not None and _folded(code) != _folded(one.form_code):
        return False
    titles = {_folded(name) for name in (one.title, *one.titles)}
    code_words = _folded(one.form_code)
    return title in titles or title.removeprefix(code_words) in titles


def _folded(text: str) -> str:
    """Letters and digits in lower case, without accents, apostrophes and blanks."""
    plain = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode().casefold()
    return "".join(_WORD.findall(plain))


async def seed_catalogue(host: Host, domains: Sequence[Domain]) -> None:
    """Write the editions of the data files at deployment; loading twice is loading once."""
    origin = Origin(action="deployment", request_id="deployment", correlation_id="deployment")
    work = Work(host, "bid", Scope(actor=SYSTEM), origin, login="bid_system")
    try:
        for row, one in zip(catalogue_rows(), definitions(), strict=True):
            await _bring(work, row, one)
        await work.finish()
    finally:
        await work.close()


async def _bring(work: Work, row: dict[str, Any], one: Definition) -> None:
    fields: dict[str, Any] = {
        "regime": one.regime,
        "title": one.title,
        "twin": one.twin,
        "effective_from": one.effective_from,
        "effective_to": one.effective_to,
        "superseded_by": one.superseded_by,
        "stage": one.stage,
        "per_bidder": one.per_bidder,
        "signature": one.signature,
        "mark": one.mark,
        "definition": row,
    }
    found = await work.find(FormDefinition, form_code=one.form_code, edition=one.edition)
    if found is None:
        await work.add(FormDefinition(form_code=one.form_code, edition=one.edition, **fields))
        return
    if any(getattr(found, name) != value for name, value in fields.items()):
        held = await work.lock(FormDefinition, found.id)
        for name, value in fields.items():
            setattr(held, name, value)
        await work.save(held)


async def list_definitions(
    read: Reader,
    *,
    regime: str | None = None,
    on: date | None = None,
    form_code: str | None = None,
    stage: str | None = None,
) -> Sequence[FormDefinition]:
    """The editions that a filter leaves, in the order of code and edition."""
    table = FormDefinition
    statement = select(table).order_by(table.form_code, table.edition)
    if regime is not None:
        statement = statement.where(among(table.regime, (regime, "any")))
    if form_code is not None:
        statement = statement.where(table.form_code == form_code)
    if stage is not None:
        statement = statement.where(table.stage == stage)
    found = await read.all(statement)
    return [one for one in found if on is None or _in_force(one, on)]


def _in_force(one: FormDefinition, on: date) -> bool:
    return one.effective_from <= on and (one.effective_to is None or on <= one.effective_to)
