"""Matches: the listings that may meet a need, or the gap of a tender (MKT-22, MKT-23)."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any, Literal
from uuid import UUID

import asyncpg
from sqlalchemy import select

from thenga.domains.compliance.public import Readiness, Term
from thenga.domains.marketplace.schemas.matches import CreateMatch
from thenga.domains.marketplace.services.categories import CategoryUnknown, categories_of
from thenga.domains.marketplace.services.matching import requirements, scoring
from thenga.domains.marketplace.services.places import Place, place_of
from thenga.domains.marketplace.services.search import FOUND, any_of, trust_of
from thenga.domains.marketplace.services.tenants import in_sandbox
from thenga.domains.marketplace.tables.categories import Category
from thenga.domains.marketplace.tables.listings import LiveListing
from thenga.domains.marketplace.tables.matches import Match
from thenga.domains.marketplace.tables.search import SearchEntry
from thenga.domains.marketplace.values.matching import (
    AreaAsked,
    Candidate,
    Exclusion,
    ExclusionReason,
    MatchRequirement,
    RequirementAnswer,
    TenderGap,
)
from thenga.domains.opportunity.public import Tender, TenderRequirement, Tenders
from thenga.domains.supplier.public import SupplierCard, Suppliers, TrustLevel
from thenga.kernel.access.actors import OPERATOR
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.statements import among
from thenga.kernel.db.work import Work
from thenga.kernel.errors import DependencyUnavailable, Problem, RuleViolated, extensions
from thenga.kernel.ports.asking import asking
from thenga.kernel.ports.binding import Unbound, within
from thenga.kernel.values.calendar import local_day

JUDGED, SHOWN = 200, 50  # candidates that are judged, and kept
_FURTHEST = timedelta(days=730)  # Compliance answers no later day
_GAPS = ("missing", "expired", "failed", "unknown", "partially_met")

StaleReason = Literal["requirements_changed", "listing_changed", "formula_changed"]


class NothingMatchable(Problem):
    """No requirement that you do not meet can be cured by a partner.

    `requirements` says for each what cures it instead.
    """

    code, status = "marketplace-nothing-matchable", 422
    title = "No partner can cure these requirements"
    members = extensions(requirements=(list[dict[str, str]], "Requirements, with what cures them."))


class MatchTenderUnknown(Problem):
    """This tender does not exist, or your organization cannot see it."""

    code, status, title = "marketplace-tender-unknown", 422, "Unknown tender"


@dataclass(frozen=True, slots=True)
class _Asked:
    """What candidates are looked for and judged by."""

    requirements: list[MatchRequirement]
    inside: dict[UUID, Category] | None  # categories asked and those below; None if none was asked
    above: dict[UUID, Category]
    place: Place | None
    closing_at: datetime | None = None  # of the tender; proof has to last until then


async def compute_match(work: Work, given: CreateMatch) -> Match:
    """Compute the candidates once, as they are today; nobody else learns of it (MKT-24)."""
    need, gap, tender = given.need, given.from_tender, None
    if gap is not None and need is None:
        tender = await _ask_tender(work, gap.tender_opportunity_id)
        if tender is None:
            raise MatchTenderUnknown()
        asked = await _asked_by_tender(work, gap, tender)
    elif need is not None and gap is None:
        stated = [requirements.of_need(n, needed) for n, needed in enumerate(need.requirements)]
        asked = await _asked(work, stated, need.category_ids, need.area)
    else:
        raise RuleViolated("Give either `need` or `fromTender`.", rule="MKT-22", field="/need")
    candidates, excluded = await _judge(work, asked)
    match = Match.of(
        given,
        organization_id=work.organization_id,
        tender_opportunity_id=tender.id if tender else None,
        requirement_set_version=tender.requirement_set_version if tender else None,
        requirements=asked.requirements,
        candidates=candidates[:SHOWN],
        excluded=[Exclusion(reason=reason, listings=n) for reason, n in sorted(excluded.items())],
        formula_version=scoring.VERSION,
        as_of=work.now,
        correlation_id=work.origin.correlation_id,
    )
    return await work.add(match)


async def stale_reasons(read: Reader, match: Match) -> list[StaleReason] | None:
    """What moved since the match was computed; None while the tender cannot be asked."""
    found: list[StaleReason] = []
    if match.tender_opportunity_id is not None:
        try:
            tender = await _ask_tender(read, match.tender_opportunity_id)
        except DependencyUnavailable:
            return None
        if tender is None or tender.requirement_set_version != match.requirement_set_version:
            found.append("requirements_changed")
    versions = {candidate.listing_id: candidate.live_version for candidate in match.candidates}
    live = await live_listings(read, list(versions))
    if any(id_ not in live or live[id_].live_version != n for id_, n in versions.items()):
        found.append("listing_changed")
    if match.formula_version != scoring.VERSION:
        found.append("formula_changed")
    return found


async def live_listings(read: Reader, listing_ids: Sequence[UUID]) -> dict[UUID, LiveListing]:
    """The listings among these that are served now and can be found."""
    shown = among(LiveListing.visibility, FOUND)
    found = await read.all(select(LiveListing).where(among(LiveListing.id, listing_ids), shown))
    return {listing.id: listing for listing in found}


async def _ask_tender(read: Reader, tender_id: UUID) -> Tender | None:
    """The tender as it is now; silence is 503."""
    try:
        port = read.port(Tenders)
    except Unbound:
        raise DependencyUnavailable(dependency=Tenders.port_name) from None
    call = port.describe(organization_id=read.organization_id, tender_ids=[tender_id])
    return next(iter(await within(port.port_timeout, port.port_name, call)), None)


async def _asked_by_tender(work: Work, gap: TenderGap, tender: Tender) -> _Asked:
    """The requirements of a tender that the company does not meet and a partner can cure."""
    named = set(gap.requirement_ids)
    missing = named - {requirement.id for requirement in tender.requirements}
    if missing:
        raise RuleViolated(
            "The tender has no such requirement.",
            rule="MKT-22",
            field="/fromTender/requirementIds",
        )
    wanted = [each for each in tender.requirements if not named or each.id in named]
    if not named:
        wanted = await _unmet(work, wanted, tender.closing_at)
    stated = [requirements.of_tender(each) for each in wanted]
    if not any(requirement.matchable for requirement in stated):
        not_curable = [
            {"ref": requirement.ref, "kind": requirement.kind, "why": requirement.why}
            for requirement in stated
        ]
        raise NothingMatchable(requirements=not_curable)
    category_ids = list(gap.category_ids)
    if not category_ids:
        category_ids = await _categories_of_works(work, stated)
    if not category_ids:
        raise RuleViolated(
            "No category names the CIDB classes of these requirements. Name the categories to "
            "look in.",
            rule="MKT-22",
            field="/fromTender/categoryIds",
        )
    asked = await _asked(work, stated, category_ids, gap.area)
    return replace(asked, closing_at=tender.closing_at)


async def _unmet(
    work: Work, wanted: list[TenderRequirement], closing_at: datetime | None
) -> list[TenderRequirement]:
    """The requirements that Compliance does not know to be met at closing; silence is 503."""
    on = local_day(work.now)
    if closing_at is not None:
        on = min(max(on, local_day(closing_at)), on + _FURTHEST)
    terms = [
        Term(ref=str(each.id), code=each.code, gate=each.gate, params=each.params)
        for each in wanted
        if each.code is not None
    ]
    try:
        port = work.port(Readiness)
    except Unbound:
        raise DependencyUnavailable(dependency=Readiness.port_name) from None
    call = port.on_date(organization_id=work.organization_id, on=on, requirements=terms)
    view = await within(port.port_timeout, port.port_name, call)
    states = {item.ref: item.state for item in view.items}
    return [each for each in wanted if states.get(str(each.id), "unknown") in _GAPS]


async def _categories_of_works(work: Work, stated: Sequence[MatchRequirement]) -> list[UUID]:
    """The categories that name a CIDB class asked for."""
    classes = {each.cidb.works_class for each in stated if each.matchable and each.cidb}
    if not classes:
        return []
    categories = await work.all(select(Category).where(Category.organization_id == OPERATOR))
    return [category.id for category in categories if classes & {*category.cidb_classes}]


async def _asked(
    work: Work,
    stated: list[MatchRequirement],
    category_ids: Sequence[UUID],
    area: AreaAsked | None,
) -> _Asked:
    """What was asked, with the categories below and above those that were named."""
    place = None if area is None else place_of(area.province, area.municipality)
    for requirement in stated:
        for each in requirement.areas:
            place_of(each.province, each.municipality)
    if not category_ids:
        return _Asked(stated, None, {}, place)
    found = await categories_of(work, category_ids)
    if not found.keys() >= set(category_ids):
        raise CategoryUnknown()
    kept = Category.organization_id == OPERATOR
    below = await work.all(select(Category).where(kept, among(Category.parent_id, category_ids)))
    inside = {category_id: found.pop(category_id) for category_id in set(category_ids)}
    inside |= {category.id: category for category in below}
    above = {id_: category for id_, category in found.items() if id_ not in inside}
    return _Asked(stated, inside, above, place)


async def _judge(work: Work, asked: _Asked) -> tuple[list[Candidate], Counter[ExclusionReason]]:
    """Candidates by score, and how many listings were left out for which reason."""
    entries = await _entries(work, asked)
    live = await live_listings(work, [entry["id"] for entry in entries])
    supplier_ids = sorted({entry["supplier_id"] for entry in entries})
    cards: dict[UUID, SupplierCard] | None = None
    trusted: dict[UUID, TrustLevel] = {}
    if supplier_ids:
        described = await asking(
            work,
            Suppliers,
            lambda port: port.describe(
                organization_id=work.organization_id, supplier_ids=supplier_ids
            ),
            silent=None,
        )
        cards = None if described is None else {card.supplier_id: card for card in described}
        trusted = await trust_of(work, supplier_ids)
    candidates: list[Candidate] = []
    excluded: Counter[ExclusionReason] = Counter()
    for entry in entries:
        listing = live.get(entry["id"])
        if listing is None:
            continue
        card = None if cards is None else cards.get(listing.supplier_id)
        if cards is not None and (card is None or card.status != "active"):
            excluded["supplier_inactive"] += 1
            continue
        if card is not None and not card.accepts_quote_requests:
            excluded["no_quote_requests"] += 1
            continue
        judged = _candidate(asked, entry, listing, card, trusted.get(listing.supplier_id))
        if isinstance(judged, Candidate):
            candidates.append(judged)
        else:
            excluded[judged] += 1
    candidates.sort(key=lambda candidate: (-candidate.rank.score, candidate.listing_id))
    return candidates, excluded


async def _entries(work: Work, asked: _Asked) -> Sequence[asyncpg.Record]:
    """At most 200 listings of others, by category and place; the best proven first."""
    columns = (SearchEntry.id, SearchEntry.supplier_id, SearchEntry.tokens)
    reached = SearchEntry.sandbox.is_(await in_sandbox(work))
    others = SearchEntry.organization_id != work.organization_id
    statement: Any = select(*columns).where(others, reached)
    if asked.inside is not None:
        own = [f"c:{category_id}" for category_id in sorted(asked.inside)]
        own += [f"o:{category_id}" for category_id in sorted(asked.above)]
        statement = statement.where(any_of(own))
    if asked.place is not None:
        statement = statement.where(any_of(asked.place.tokens))
    order = (SearchEntry.level.desc(), SearchEntry.confirmed_at.desc(), SearchEntry.id.desc())
    return await work.search(statement.order_by(*order).limit(JUDGED))


def _candidate(
    asked: _Asked,
    entry: asyncpg.Record,
    listing: LiveListing,
    card: SupplierCard | None,
    trust: TrustLevel | None,
) -> Candidate | ExclusionReason:
    """A listing with its score, or why it is left out."""
    tokens: set[str] = {*entry["tokens"]}
    capabilities = [] if card is None else card.capabilities
    if asked.closing_at is not None:
        capabilities = requirements.capabilities_on(asked.closing_at, capabilities)
    judged = [requirement for requirement in asked.requirements if requirement.matchable]
    states = [requirements.answer(each, capabilities, tokens) for each in judged]
    reason = requirements.exclusion(judged, states)
    if reason is not None:
        return reason
    inside = asked.inside
    in_category = inside is None or any(f"c:{category_id}" in tokens for category_id in inside)
    proof, in_parent = requirements.best_proof(
        capabilities, inside=inside, above=asked.above, in_category=in_category
    )
    place = None if asked.place is None else asked.place.level_in(tokens)
    fit = scoring.Fit(proof, in_parent, states, place, trust)
    return Candidate(
        listing_id=listing.id,
        supplier_id=listing.supplier_id,
        live_version=listing.live_version,
        rank=scoring.score(fit),
        requirements=[
            RequirementAnswer(ref=requirement.ref, state=state)
            for requirement, state in zip(judged, states, strict=True)
        ],
    )
