"""Stating and withdrawing facts, as the customer does it (ORG-2)."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from thenga.domains.organization import public
from thenga.domains.organization.services.facts import _holding, fact_values
from thenga.domains.organization.services.facts._holding import (
    activate_due,
    announce,
    hold_fact,
    stop_held,
)
from thenga.domains.organization.services.facts._ledger import Picture, digest_of, load
from thenga.domains.organization.services.facts._settling import (
    Rules,
    Step,
    effective_values,
    hold,
    rules_of,
    settle,
    tell,
)
from thenga.domains.organization.services.facts._writing import (
    Statement,
    end_checks,
    end_statement,
    sealed_for,
)
from thenga.domains.organization.services.facts.fact_values import Normal
from thenga.domains.organization.tables import (
    CustomerStatement,
    ImportedStatement,
    Organization,
    Origin,
)
from thenga.kernel.db.work import Work
from thenga.kernel.errors import NotFound, RuleViolated
from thenga.kernel.values.calendar import local_day
from thenga.kernel.values.ids import new_id

_NEEDED = ("legalName", "legalForm")
# What a number of one fact must fit among the others.
COMPARED = ("legalForm", "registrationNumber", "payeNumber", "uifNumber", "sdlNumber")
VAT = ("vatRegistered", "vatCategory")


@dataclass(frozen=True)
class Given:
    """A value that a member gives, with the legal basis where the fact is special (ORG-17)."""

    value: Any
    basis: str | None = None


async def change_profile(work: Work, given: Mapping[str, Given | None]) -> Organization:
    """State or withdraw facts in one command; null withdraws one's own statement."""
    organization = await hold(work)
    rules = await rules_of(work)
    pictures = await load(work, {*given, *COMPARED, *VAT})
    await vat_agrees(work, given, pictures)
    stated = await normal_of(work, given, pictures, rules)
    changes: list[public.FactChange] = []
    for key, value in given.items():
        changes += await activate_due(work, pictures[key], rules)
        if value is None:
            changes += await _withdraw_own(work, pictures[key], rules)
        else:
            changes += await state(work, pictures[key], stated[key], rules)
    return await tell(work, organization, changes)


async def found_profile(work: Work, given: Mapping[str, Given]) -> list[public.FactChange]:
    """The first facts of a company that is being founded."""
    rules = await rules_of(work)
    pictures = {key: Picture(key) for key in {*given, *COMPARED, *VAT}}
    await vat_agrees(work, given, pictures)
    stated = await normal_of(work, given, pictures, rules)
    return [
        change for key in given for change in await state(work, pictures[key], stated[key], rules)
    ]


async def vat_agrees(
    work: Work, given: Mapping[str, Given | None], pictures: dict[str, Picture]
) -> None:
    """Only a company that is registered for VAT has a VAT category (ORG-11)."""
    if not any(key in given for key in VAT):
        return
    stands = await effective_values(work, pictures, *(key for key in VAT if key not in given))
    stands |= {key: one.value for key in VAT if (one := given.get(key)) is not None}
    if stands.get("vatCategory") is not None and stands.get("vatRegistered") is not True:
        detail = "State `vatRegistered` as true with a VAT category, or withdraw the category."
        raise RuleViolated(detail, rule="ORG-11")


async def normal_of(
    work: Work, given: Mapping[str, Given | None], pictures: dict[str, Picture], rules: Rules
) -> dict[str, Normal]:
    """The values given in the form that is stored, checked against the facts that stand."""
    kept = [key for key in COMPARED if key not in given]
    known = await effective_values(work, pictures, *kept)
    values = {key: one.value for key, one in given.items() if one is not None}
    made = fact_values.normal(
        values, known=known, today=local_day(work.now), vat_luhn=rules.vat_luhn
    )
    bases = {key: one.basis for key, one in given.items() if one is not None}
    return {key: Normal(one.value, one.warnings, bases[key]) for key, one in made.items()}


async def state(
    work: Work,
    picture: Picture,
    normal: Normal,
    rules: Rules,
    *,
    source: dict[str, Any] | None = None,
    accepted: UUID | None = None,
) -> list[public.FactChange]:
    """The customer says a value; the same value again changes nothing."""
    digest = fact_values.digest(work.host, work.organization_id, picture.key, normal.value)
    if accepted is None and digest_of(picture.held) == digest:
        return []  # it is on its way already, and saying it again does not make it later
    if accepted is None and _is_said(picture, normal, digest):
        return await stop_held(work, picture)
    counts, before = picture.effective(work.now), picture.customer
    delayed = picture.key in _holding.HELD and counts is not None
    if picture.held is not None:
        await end_statement(work, picture.held)
    if before is not None and not delayed:
        await end_statement(work, before)
        if digest_of(before) != digest:
            await end_checks(work, picture, of=digest_of(before))
    made = await _add(work, picture.key, normal, digest, source, rules if delayed else None)
    if delayed:
        return [await announce(work, picture, made)]
    follows = counts is None or digest_of(counts) == digest_of(before)
    step = Step(
        "stated",
        Origin.CUSTOMER_SUPPLIED,
        was=digest_of(counts),
        current=digest if follows else digest_of(counts),
        accepted=accepted,
    )
    picture.customer = made
    return [await settle(work, picture, step, rules)]


def _is_said(picture: Picture, normal: Normal, digest: bytes) -> bool:
    """Whether the customer says exactly this already; another spelling is said anew."""
    known = picture.customer
    if known is None or known.canonical_hash != digest:
        return False
    return known.sealed is not None or (known.value, known.basis) == (normal.value, normal.basis)


async def _add(
    work: Work,
    key: str,
    normal: Normal,
    digest: bytes,
    source: dict[str, Any] | None,
    held_by: Rules | None,
) -> CustomerStatement:
    """A new statement of the customer; one that is held back counts after the hold."""
    counts_from = work.now if held_by is None else work.now + held_by.hold
    made = CustomerStatement(
        id=new_id(),
        organization_id=work.organization_id,
        fact_key=key,
        canonical_hash=digest,
        warnings=list(normal.warnings),
        basis=normal.basis,
        source=source,
        stated_by=work.actor.id,
        effective_from=counts_from,
        next_check_at=None if held_by is None else counts_from,
    )
    if fact_values.is_sealed(key):
        made.sealed = await sealed_for(work, made, key, normal.value)
    else:
        made.value = normal.value
    return await work.add(made)


async def _withdraw_own(work: Work, picture: Picture, rules: Rules) -> list[public.FactChange]:
    changes = await stop_held(work, picture)
    if picture.customer is not None:
        changes = [await _withdraw(work, picture, picture.customer, rules)]
    return changes


async def withdraw(work: Work, key: str, *, statement_id: UUID) -> Picture:
    """Take back a statement, one's own or an imported one; a held change is stopped so."""
    held = await hold_fact(work, key)
    picture = held.picture
    live: list[Statement] = [*picture.imported]
    if picture.customer is not None:
        live.append(picture.customer)
    found = next((one for one in live if one.id == statement_id), None)
    if found is not None:
        changes = [await _withdraw(work, picture, found, held.rules)]
    elif picture.held is not None and picture.held.id == statement_id:
        changes = await stop_held(work, picture)
    else:
        changes = []
        await _once_stated(work, key, statement_id)
    await tell(work, held.organization, [*held.changes, *changes])
    return picture


async def _once_stated(work: Work, key: str, statement_id: UUID) -> None:
    """A repeat finds the statement withdrawn and changes nothing; what was never there is 404."""
    own = await work.find(CustomerStatement, id=statement_id)
    imported = await work.find(ImportedStatement, id=statement_id)
    if not any(one is not None and one.fact_key == key for one in (own, imported)):
        raise NotFound()


async def _withdraw(
    work: Work, picture: Picture, statement: Statement, rules: Rules
) -> public.FactChange:
    own = isinstance(statement, CustomerStatement)
    if own and picture.key in _NEEDED:
        detail = f"{picture.key} cannot be withdrawn; state another one."
        raise RuleViolated(detail, rule="ORG-2")
    counts = picture.effective(work.now)
    await end_statement(work, statement)
    if own:
        picture.customer = None
        await end_checks(work, picture, of=statement.canonical_hash)
    else:
        picture.imported = [one for one in picture.imported if one.id != statement.id]
    origin = Origin.CUSTOMER_SUPPLIED if own else Origin.IMPORTED
    step = Step("withdrawn", origin, was=digest_of(counts), current=digest_of(counts))
    return await settle(work, picture, step, rules)
