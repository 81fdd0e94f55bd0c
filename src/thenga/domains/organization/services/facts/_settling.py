"""Writing down what counts after a change: pointer, version, freshness, card and one event."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from thenga.domains.organization import public, settings
from thenga.domains.organization.lifecycles import (
    FactConflictLifecycle,
    FactVerificationLifecycle,
)
from thenga.domains.organization.services import records
from thenga.domains.organization.services.facts import cards
from thenga.domains.organization.services.facts._choosing import Resolution, choose
from thenga.domains.organization.services.facts._ledger import (
    Picture,
    Source,
    digest_of,
    load,
    origin_of,
    pointed,
    said_of,
    values_for,
)
from thenga.domains.organization.services.facts._overtaking import overtake
from thenga.domains.organization.services.reference_data import FACTS
from thenga.domains.organization.tables import (
    CustomerStatement,
    Fact,
    FactConflict,
    FactFreshness,
    FactVerification,
    FactVersion,
    ImportedStatement,
    Organization,
    Origin,
    Verification,
)
from thenga.kernel.db import configuration
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.work import Work
from thenga.kernel.values.ids import new_id


@dataclass(frozen=True)
class Rules:
    """What an operator may turn about facts."""

    rank: dict[str, int]
    auto_resolve: frozenset[str]
    hold: timedelta
    vat_luhn: bool


async def rules_of(read: Reader) -> Rules:
    rank = await configuration.value(read, settings.SOURCE_RANK)
    hold_hours = await configuration.value(read, settings.BANK_HOLD_HOURS)
    return Rules(
        rank.model_dump(by_alias=True),
        await configuration.value(read, settings.AUTO_RESOLVE),
        timedelta(hours=hold_hours),
        await configuration.value(read, settings.VAT_LUHN),
    )


async def hold(work: Work) -> Organization:
    """Lock the organization; every command about its facts begins so, and they queue up here."""
    return await work.lock(Organization, work.organization_id)


@dataclass
class Step:
    """One change of one fact on its way: what counted before, and what the customer goes to."""

    change: str
    origin: Origin
    was: bytes | None
    current: bytes | None
    accepted: UUID | None = None  # the suggestion that is being accepted, if one is
    resolution: Resolution | None = None  # a person decides with this step
    reason: str | None = None


async def settle(
    work: Work, picture: Picture, step: Step, rules: Rules, *, locked: Fact | None = None
) -> public.FactChange:
    """Decide anew what counts for a fact and write it down (ORG-3, ORG-4)."""
    live = picture.live(work.now)
    fact = locked or (picture.fact and await work.lock(Fact, picture.fact.id))
    row = fact or Fact(id=new_id(), organization_id=work.organization_id, fact_key=picture.key)
    if step.resolution is not None:
        row.resolved_to, row.resolved_at = step.resolution.to, step.resolution.at
        row.resolved_by, row.resolution_reason = work.actor.id, step.reason
    chosen = choose(
        [said_of(source, rules.rank) for source in live],
        current=step.current,
        resolution=_resolution(row),
        ranked=picture.key in rules.auto_resolve,
    )
    counts = next((one for one in live if chosen.said and one.id == chosen.said.id), None)
    _point(row, counts)
    raised = _to_conflict(row, chosen.conflict, work.now)
    _to_verification(row, counts, live, step, work.now)
    before = row.version
    await (work.add(row) if fact is None else work.save(row))
    picture.fact = row
    change = "conflict" if raised and chosen.conflict is FactConflict.CONFLICTED else step.change
    if row.version != before:
        await work.add(_version(work, row, change))
        await _hang(work, row, counts, live)
    await _refresh(work, picture, counts, live)
    if digest_of(counts) != step.was:
        await overtake(work, picture.key, but=step.accepted)
    return told(row, change, step.origin)


async def _hang(work: Work, fact: Fact, counts: Source | None, live: Sequence[Source]) -> None:
    """What the fact hangs on in the graph: the company, what it was taken from, what it denies."""
    here = records.Node("fact", f"{fact.organization_id}:{fact.fact_key}")
    hangs_on = [] if counts is None else [records.claimed(here, fact.organization_id)]
    if counts is not None:
        hangs_on += records.taken_from(
            here, counts.source, checked=isinstance(counts, Verification)
        )
    if fact.conflict_status is FactConflict.CONFLICTED:
        hangs_on += [
            records.denied(here, one.id) for one in live if digest_of(one) != digest_of(counts)
        ]
    kind = Origin.CUSTOMER_SUPPLIED if counts is None else origin_of(counts)
    await records.save_edges(work, here, hangs_on, kind=kind.value)


def told(fact: Fact, change: str, origin: Origin) -> public.FactChange:
    return public.FactChange(
        fact_key=fact.fact_key,
        fact_version=fact.version,
        kind=origin,
        change=change,
        conflict_status=fact.conflict_status,
        verification_status=fact.verification_status,
    )


async def tell(
    work: Work, organization: Organization, changes: Sequence[public.FactChange]
) -> Organization:
    """One command, one version of the organization, one event; name and card follow."""
    if not changes:
        return organization
    pictures = await load(work)
    names = await effective_values(work, pictures, "tradingName", "legalName")
    organization.display_name = names.get("tradingName") or names["legalName"]
    # The profile hangs on the organization's own version: one command, one version, one event.
    await work.touch(organization)
    await records.mark_health_due(work)
    await cards.refresh(work, organization, await card_facts(work, pictures))
    work.publish(public.ProfileFactChanged(organization_id=organization.id, changes=list(changes)))
    return organization


async def effective_values(
    read: Reader, pictures: dict[str, Picture], *keys: str
) -> dict[str, Any]:
    """The plain values that count for some facts, for rules that compare them."""
    found = {
        key: source
        for key in keys
        if key in pictures and (source := pictures[key].effective(read.now)) is not None
    }
    values = await values_for(read, list(found.values()))
    return {key: values.plain(key, source) for key, source in found.items()}


async def card_facts(read: Reader, pictures: dict[str, Picture]) -> cards.Facts:
    """What the card shows of the facts."""
    values = await effective_values(read, pictures, "legalForm", "registrationNumber")
    verified = [
        {
            "factKey": picture.key,
            "checkedAt": check.created_at.isoformat(),
            "validUntil": check.valid_until.isoformat() if check.valid_until else None,
        }
        for picture in pictures.values()
        for check in picture.checks
        if FACTS[picture.key].sensitivity == "public"
        and picture.verification(read.now) is FactVerification.VERIFIED
        and check.canonical_hash == digest_of(picture.effective(read.now))
    ]
    return cards.Facts(values.get("legalForm"), values.get("registrationNumber"), verified)


def _resolution(fact: Fact) -> Resolution | None:
    if fact.resolved_to is None or fact.resolved_at is None:
        return None
    return Resolution(fact.resolved_to, fact.resolved_at)


def _point(fact: Fact, source: Source | None) -> None:
    fact.customer_statement_id = source.id if isinstance(source, CustomerStatement) else None
    fact.imported_statement_id = source.id if isinstance(source, ImportedStatement) else None
    fact.verification_id = source.id if isinstance(source, Verification) else None


def _to_conflict(fact: Fact, wanted: FactConflict, now: datetime) -> bool:
    """Bring the axis there by its moves; whether a conflict was raised on the way."""
    raised = False
    if wanted is FactConflict.NONE and fact.conflict_status is not FactConflict.NONE:
        FactConflictLifecycle.settle(fact, at=now)
    # What rank resolves at once was in conflict all the same.
    unresolved = fact.conflict_status is not FactConflict.RESOLVED
    if wanted is FactConflict.CONFLICTED or (wanted is FactConflict.RESOLVED and unresolved):
        raised = FactConflictLifecycle.raise_(fact, at=now)
    if wanted is FactConflict.RESOLVED:
        FactConflictLifecycle.resolve(fact, at=now)
    else:
        fact.resolved_to = fact.resolved_at = fact.resolved_by = fact.resolution_reason = None
    return raised


def _to_verification(
    fact: Fact, counts: Source | None, live: Sequence[Source], step: Step, now: datetime
) -> None:
    """Verified while a valid check has the value that counts; a change begins anew (ORG-6)."""
    ends = [
        check.valid_until
        for check in live
        if isinstance(check, Verification) and check.canonical_hash == digest_of(counts)
    ]
    if ends:
        if fact.verification_status not in FactVerificationLifecycle.verify.sources:
            FactVerificationLifecycle.reset(fact, at=now)
        FactVerificationLifecycle.verify(fact, at=now)
        fact.verified_until = max((end for end in ends if end), default=None)
        return
    fact.verified_until = None
    if step.change == "expired" and fact.verification_status is FactVerification.VERIFIED:
        FactVerificationLifecycle.expire(fact, at=now)
    elif digest_of(counts) != step.was or fact.verification_status is FactVerification.VERIFIED:
        FactVerificationLifecycle.reset(fact, at=now)


def _version(work: Work, fact: Fact, change: str) -> FactVersion:
    return FactVersion(
        organization_id=fact.organization_id,
        fact_id=fact.id,
        fact_key=fact.fact_key,
        number=fact.version,
        customer_statement_id=fact.customer_statement_id,
        imported_statement_id=fact.imported_statement_id,
        verification_id=fact.verification_id,
        verification_status=fact.verification_status,
        conflict_status=fact.conflict_status,
        change=change,
        changed_by=work.actor.person_id,
    )


async def note_version(work: Work, fact: Fact, change: str) -> None:
    """Keep what a fact looked like in the version just saved."""
    await work.add(_version(work, fact, change))


async def _refresh(
    work: Work, picture: Picture, counts: Source | None, live: Sequence[Source]
) -> None:
    """Plan when the fact goes stale: so long after it was last said, checked or confirmed."""
    if counts is None:
        await _plan(work, picture, None)
        return
    said = [one.created_at for one in live if digest_of(one) == digest_of(counts)]
    await _plan(work, picture, max(said))


async def _plan(work: Work, picture: Picture, said_at: datetime | None) -> None:
    known = picture.freshness
    fresh = timedelta(days=FACTS[picture.key].fresh_days)
    if known is None:
        if said_at is not None:
            ends = said_at + fresh
            picture.freshness = await work.add(
                FactFreshness(
                    organization_id=work.organization_id,
                    fact_key=picture.key,
                    stale_after=ends,
                    next_check_at=ends,
                )
            )
        return
    held = await work.lock(FactFreshness, known.id)
    if said_at is None:
        held.next_check_at = None
    else:
        held.stale_after = max(said_at, held.confirmed_at or said_at) + fresh
        held.next_check_at = held.stale_after if held.stale_after > work.now else None
    picture.freshness = await work.save(held)


async def confirm_freshness(work: Work, picture: Picture) -> None:
    """Somebody says that the fact is still right (ORG-8)."""
    assert picture.freshness is not None  # noqa: S101  # a fact with a value has one
    held = await work.lock(FactFreshness, picture.freshness.id)
    held.confirmed_at, held.confirmed_by = work.now, work.actor.id
    held.stale_after = work.now + timedelta(days=FACTS[picture.key].fresh_days)
    held.next_check_at = held.stale_after
    picture.freshness = await work.save(held)


def has_value(picture: Picture) -> bool:
    return picture.fact is not None and pointed(picture.fact) is not None


def kind_of(picture: Picture, now: datetime) -> Origin:
    source = picture.effective(now)
    return Origin.CUSTOMER_SUPPLIED if source is None else origin_of(source)
