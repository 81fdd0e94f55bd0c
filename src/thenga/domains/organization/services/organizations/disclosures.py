"""Disclosures: plain values of what is sealed or masked, for one purpose, written down (ORG-14).

Values leave for a person who holds the right to them; the row says which, for what and when.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from sqlalchemy import ColumnElement, select

from thenga.domains.identity import public as identity
from thenga.domains.organization import public
from thenga.domains.organization.permissions import Permission
from thenga.domains.organization.services import facts, people, records
from thenga.domains.organization.services.organizations import citations
from thenga.domains.organization.tables import Director, Disclosure
from thenga.kernel.db.paging import Paged, Slice
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.statements import among, where_given
from thenga.kernel.db.work import Work
from thenga.kernel.errors import Conflict, NotFound, RuleViolated
from thenga.kernel.values.ids import new_id

_NUMBER, _ACCOUNT = "idNumber", "bankAccount"
# Which fields each purpose may have, and the right that the person needs for each field.
PURPOSES: dict[str, frozenset[str]] = {
    "bid_form": frozenset({_NUMBER, *facts.TAX_NUMBERS}),
    "invoice": frozenset({_ACCOUNT}),
    "funding_application": frozenset({_NUMBER, *facts.TAX_NUMBERS, _ACCOUNT}),
}
RIGHTS: dict[str, Permission] = {
    _NUMBER: Permission.DIRECTOR_REVEAL,
    _ACCOUNT: Permission.BANK_REVEAL,
    **dict.fromkeys(facts.TAX_NUMBERS, Permission.TAX_REVEAL),
}
_Values = dict[str, tuple[int, dict[str, Any]]]  # version and values, by identifier
SORTS: dict[str, ColumnElement[Any] | None] = {"createdAt": None}


@dataclass(frozen=True)
class Request:
    """Which values another domain asks for, for what and for whom."""

    subjects: Sequence[public.Ref]
    fields: Sequence[str]
    purpose: public.DisclosurePurpose
    reference: public.DisclosureReference
    on_behalf_of: UUID
    key: str


async def reveal(work: Work, request: Request) -> list[public.Disclosed]:
    """Give the values out and write that down; a repeat with the same key gives them again.

    A value that is not there is left out, and nothing is written where none is.
    """
    fields = _fields_of(work, request)
    await _demand(work, request, {field for own in fields for field in own})
    await records.in_turn(work, Disclosure, request.key)
    numbers = await _numbers(work, request.subjects)
    plain = await _facts(work, request.subjects)
    given = [
        _disclosed(ref, own, numbers, plain)
        for ref, own in zip(request.subjects, fields, strict=True)
    ]
    await _note(work, request, [one for one in given if one.values])
    return given


def _fields_of(read: Reader, request: Request) -> list[list[str]]:
    """The fields asked of each subject; each subject has one, and each field is of a subject."""
    had = [_had(read, ref) for ref in request.subjects]
    asked = [[field for field in own if field in request.fields] for own in had]
    if not all(asked) or {field for own in asked for field in own} != set(request.fields):
        raise RuleViolated("Ask each subject for fields that it has.", rule="ORG-14")
    refused = sorted(set(request.fields) - PURPOSES[request.purpose])
    if refused:
        detail = f"The purpose {request.purpose} does not allow {', '.join(refused)}."
        raise RuleViolated(detail, rule="ORG-14")
    return asked


def _had(read: Reader, ref: public.Ref) -> list[str]:
    """The fields of a subject that can be disclosed; a fact has its own key."""
    named = citations.fact_of(ref)
    if named is not None and named[0] != read.organization_id:
        raise NotFound()
    if named is not None and named[1] in RIGHTS:
        return [named[1]]
    return [_NUMBER] if ref.type == records.type_of(Director) else []


async def _demand(work: Work, request: Request, fields: set[str]) -> None:
    """Refuse unless the person holds the right to every field; before anything is read."""
    rights = sorted({RIGHTS[field] for field in fields})
    decided = await work.port(identity.Decisions).check_many(
        questions=[
            identity.Question(
                actor=identity.ActorRef(type="user", id=request.on_behalf_of),
                organization_id=work.organization_id,
                action=right,
                resource=identity.ResourceRef(type="disclosure"),
                # The route of the domain that asks has demanded the proof (IDN-15, IDN-34).
                channel="job",
                request_id=work.origin.request_id,
            )
            for right in rights
        ]
    )
    for decision, right in zip(decided, rights, strict=True):
        records.refuse_denied(decision, right)


async def _numbers(read: Reader, subjects: Sequence[public.Ref]) -> _Values:
    """The version and the number of each director named, by identifier."""
    named = [ref for ref in subjects if ref.type == records.type_of(Director)]
    ids = {found for ref in named if (found := citations.id_of(ref)) is not None}
    if not named:
        return {}
    kept = records.kept(Director, archived=False).where(among(Director.id, ids))
    rows = await read.all(kept)
    if {str(row.id) for row in rows} != {ref.id for ref in named}:
        raise NotFound()
    plain = await people.id_numbers(read, rows)
    return {
        str(row.id): (row.version, {_NUMBER: plain[row.id]} if row.id in plain else {})
        for row in rows
    }


async def _facts(read: Reader, subjects: Sequence[public.Ref]) -> _Values:
    """The version and the value of each fact named that has one, by the identifier of the fact."""
    keys = [named[1] for ref in subjects if (named := citations.fact_of(ref))]
    if not keys:
        return {}
    found: _Values = {}
    pictures, values = await facts.profile_of(read, keys)
    for key, picture in pictures.items():
        source = picture.effective(read.now)
        assert picture.fact is not None and source is not None  # noqa: S101  # it has a value
        value = values.plain(key, source)
        ref = citations.fact_ref(read.organization_id, key, picture.fact.version)
        found[ref.id] = (ref.version, {} if value is None else {key: value})
    return found


def _disclosed(
    ref: public.Ref,
    fields: list[str],
    numbers: _Values,
    plain: _Values,
) -> public.Disclosed:
    version, values = (numbers | plain).get(ref.id, (ref.version, {}))
    told = {name: value for name, value in values.items() if name in fields}
    return public.Disclosed(ref=ref, version=version, values=told)


async def _note(work: Work, request: Request, given: list[public.Disclosed]) -> None:
    """Write a disclosure down once for its key; the same key never gives anything else."""
    told = [
        {"type": o.ref.type, "id": o.ref.id, "version": o.version, "fields": sorted(o.values)}
        for o in given
    ]
    said: dict[str, Any] = {
        "purpose": request.purpose,
        "subjects": told,
        "reference": request.reference.model_dump(mode="json"),
        "on_behalf_of": request.on_behalf_of,
    }
    known = await work.find(Disclosure, command_key=request.key)
    if known is not None:
        if any(getattr(known, name) != value for name, value in said.items()):
            detail = "These values were not disclosed with this key before. Send a new key."
            raise Conflict(detail)
        return
    if not told:
        return
    made = Disclosure(
        id=new_id(), organization_id=work.organization_id, command_key=request.key, **said
    )
    await work.add(made)
    work.publish(_event(made, given))


def _event(made: Disclosure, given: list[public.Disclosed]) -> public.SensitiveFactDisclosed:
    return public.SensitiveFactDisclosed(
        organization_id=made.organization_id,
        disclosure_id=made.id,
        on_behalf_of=made.on_behalf_of,
        purpose=made.purpose,
        subjects=[_subject(one) for one in given],
        fields=sorted({field for one in given for field in one.values}),
    )


def _subject(one: public.Disclosed) -> public.CheckedSubject:
    named = citations.fact_of(one.ref)
    if named is not None:
        return public.CheckedSubject(fact_key=named[1], version=one.version)
    return public.CheckedSubject(
        record_type=one.ref.type, record_id=citations.id_of(one.ref), version=one.version
    )


async def list_disclosures(
    read: Reader, paged: Paged, *, purpose: str | None, on_behalf_of: UUID | None
) -> Slice[Disclosure]:
    """What was disclosed of this company, the newest first."""
    statement = where_given(
        select(Disclosure), (Disclosure.purpose, purpose), (Disclosure.on_behalf_of, on_behalf_of)
    )
    return await read.page(statement, paged, SORTS[paged.sort])
