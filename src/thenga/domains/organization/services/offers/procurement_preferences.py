"""Procurement preferences: one document that says what to bid on, replaced whole (ORG-29)."""

from typing import Any

from sqlalchemy import ColumnElement, select

from thenga.domains.organization import public
from thenga.domains.organization.services import records, reference_data
from thenga.domains.organization.tables import (
    Capability,
    CapabilityStatus,
    Municipality,
    PreferencesVersion,
    ProcurementPreferences,
)
from thenga.kernel.db.paging import Paged, Slice
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.statements import among
from thenga.kernel.db.work import Work
from thenga.kernel.errors import NotFound, RuleViolated, StaleVersion

Document = dict[str, Any]  # the preferences by their wire names, as they are kept

DEFAULTS: Document = public.PreferenceSet().model_dump(mode="json", by_alias=True)
ALWAYS_HEARD = ("security", "deadline_critical")
SORTS: dict[str, ColumnElement[Any] | None] = {"version": PreferencesVersion.preferences_version}


def settled(wanted: public.PreferenceSet) -> Document:
    """The document as it is kept: its lists are sets, so the order of writing says nothing."""
    document: Document = wanted.model_dump(mode="json", by_alias=True)
    for name, value in document.items():
        if isinstance(value, list):
            document[name] = _set_of(value)
    return document


def _set_of(values: list[Any]) -> list[Any]:
    by_key = {_key(value): value for value in reversed(values)}
    return [by_key[key] for key in sorted(by_key)]


def _key(value: Any) -> tuple[str, ...]:
    if isinstance(value, dict):
        return tuple(str(value[name]) for name in sorted(value))
    return (str(value).casefold(),)


def check(document: Document) -> None:
    """What no one could follow is refused: a word wanted and unwanted, a band upside down."""
    wanted, unwanted = (
        {word.casefold() for word in document[name]} for name in ("keywords", "excludedKeywords")
    )
    if wanted & unwanted:
        both = ", ".join(sorted(wanted & unwanted))
        raise _broken(
            f"These are both wanted and excluded: {both}. Remove them from one of the lists."
        )
    if document["national"] and (document["provinces"] or document["municipalities"]):
        raise _broken("With `national`, leave provinces and municipalities empty.")
    band = public.ValueBand.model_validate(document["valueBand"])
    if band.min is not None and band.max is not None:
        if band.min.currency != band.max.currency:
            raise _broken("State both ends of the value range in the same currency.")
        if band.min > band.max:
            raise _broken("The maximum of the value range is below its minimum.")
    if any(one["minGrade"] > one["maxGrade"] for one in document["cidb"]):
        raise _broken("The maximum of a CIDB grade range is below its minimum.")


def _broken(detail: str) -> RuleViolated:
    return RuleViolated(detail, rule="ORG-29")


def differences(before: Document, after: Document) -> list[dict[str, Any]]:
    """The fields that differ, each with what it was and what it is."""
    return [
        {"field": name, "before": before[name], "after": after[name]}
        for name in DEFAULTS
        if before[name] != after[name]
    ]


async def preferences_warnings(read: Reader, document: Document) -> list[dict[str, str]]:
    """What is kept as it was said though it will not work as its author may think."""
    held = await _held_grades(read) if document["cidb"] else {}
    above = [
        {
            "code": "above_held_grade",
            "field": "cidb",
            "detail": f"The company holds grade {held[one['class']]} in {one['class']}.",
        }
        for one in document["cidb"]
        if one["maxGrade"] > held.get(one["class"], one["maxGrade"])
    ]
    return above + [
        {
            "code": "cannot_be_silenced",
            "field": "quietTopics",
            "detail": f"Messages about {topic} cannot be muted.",
        }
        for topic in document["quietTopics"]
        if topic in ALWAYS_HEARD
    ]


async def _held_grades(read: Reader) -> dict[str, int]:
    """The highest grade that the company claims in each class of works."""
    claimed = await read.all(
        select(Capability).where(
            Capability.status == CapabilityStatus.ACTIVE,
            Capability.archived_at.is_(None),
            Capability.cidb_class.is_not(None),
        )
    )
    held: dict[str, int] = {}
    for one in claimed:
        known = reference_data.parse_cidb(str((one.cidb or {})["designation"]))
        held[known.works] = max(known.grade, held.get(known.works, 0))
    return held


async def current_preferences(read: Reader) -> ProcurementPreferences:
    """The document in force; before the first one the defaults, as version 0."""
    found = await read.find(ProcurementPreferences, id=read.organization_id)
    return found or _unsaid(read)


async def replace_preferences(
    work: Work, *, wanted: public.PreferenceSet
) -> ProcurementPreferences:
    """Put a document in the place of the one in force; an equal one changes nothing."""
    document = settled(wanted)
    check(document)
    await _check_codes(work, wanted)
    # The first document has no row to lock, and two writers may both have seen the defaults.
    await records.in_turn(work, ProcurementPreferences)
    held = await current_preferences(work)
    seen, work.if_match = work.if_match, None
    if seen != held.version:
        changed = await _changed_since(work, seen, held)
        raise StaleVersion(
            f"Someone changed {', '.join(changed) or 'nothing'} since you read it. Read "
            "it again before you save.",
            currentVersion=held.version,
            changedFields=changed,
        )
    changes = differences(held.document, document)
    if not changes:
        return held
    held = await _keep(work, held, document, changes)
    work.publish(
        public.ProcurementPreferencesChanged(
            organization_id=held.organization_id,
            preferences_id=held.id,
            preferences_version=held.version,
            changed_fields=[change["field"] for change in changes],
        )
    )
    return held


async def _check_codes(read: Reader, wanted: public.PreferenceSet) -> None:
    """Codes are those of the catalogues, so that somebody can match by them."""
    given = [one.model_dump() for one in wanted.categories]
    await reference_data.check_classification(read, given, at="/categories")
    known = await read.all(
        select(Municipality).where(among(Municipality.code, wanted.municipalities))
    )
    missing = sorted({*wanted.municipalities} - {one.code for one in known})
    if missing:
        detail = f"There is no municipality with the code {', '.join(missing)}."
        raise reference_data.MunicipalityMismatch(detail, field="municipalities")


async def preferences_versions(read: Reader, paged: Paged) -> Slice[PreferencesVersion]:
    """Every document there was, page by page."""
    return await read.page(select(PreferencesVersion), paged, SORTS[paged.sort])


async def preferences_version(read: Reader, number: int) -> PreferencesVersion:
    """The document as it was in that version."""
    found = await read.find(PreferencesVersion, preferences_version=number)
    if found is None:
        raise NotFound()
    return found


async def _keep(
    work: Work, held: ProcurementPreferences, document: Document, changes: list[dict[str, Any]]
) -> ProcurementPreferences:
    if held.version == 0:
        held.document = document
        await work.add(held)
    else:
        held = await work.lock(ProcurementPreferences, held.id)
        held.document = document
        await work.save(held)
    await work.add(
        PreferencesVersion(
            organization_id=held.organization_id,
            preferences_version=held.version,
            document=document,
            changes=changes,
            actor_kind=work.actor.kind,
            actor_id=work.actor.id,
        )
    )
    return held


async def _changed_since(read: Reader, seen: int | None, held: ProcurementPreferences) -> list[str]:
    """The fields that other writers changed after the version that was read."""
    if seen == 0:
        before = DEFAULTS
    else:
        known = await read.find(PreferencesVersion, preferences_version=seen)
        before = held.document if known is None else known.document
    return [change["field"] for change in differences(before, held.document)]


def _unsaid(read: Reader) -> ProcurementPreferences:
    return ProcurementPreferences(
        id=read.organization_id, organization_id=read.organization_id, document=DEFAULTS
    )
