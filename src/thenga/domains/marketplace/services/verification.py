"""What verifies listings: asked of its owners on each read, one call each, stored nowhere."""

import asyncio
import re
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Literal
from uuid import UUID

from thenga.domains.marketplace.services.proofs import checked_words
from thenga.domains.marketplace.tables.listings import LiveListing
from thenga.domains.marketplace.values.verification import (
    Badge,
    BadgeSource,
    ShownTrust,
    SourceState,
    VerificationDisplay,
)
from thenga.domains.organization.public import Card, Profiles
from thenga.domains.supplier.public import (
    CapabilityCard,
    SupplierCard,
    Suppliers,
    Trust,
    TrustView,
)
from thenga.kernel.db.reader import Reader
from thenga.kernel.ports.asking import asking

_SOON = timedelta(days=30)
_STATES: dict[str, Literal["evidence_on_file", "self_declared", "expired"]] = {
    "claimed": "self_declared",
    "evidence_submitted": "evidence_on_file",
    "expired": "expired",
    "lapsed": "expired",
}
_SHORT = {
    word: word.upper() for word in ("vat", "paye", "uif", "sdl", "csd", "cidb", "coida", "lei")
}
_SHORT["crs"] = "contractor registration"
_UNKNOWN = ShownTrust(state="unknown", score=None, effects=[], appeal_open=False, as_of=None)


async def displays_of(
    read: Reader, listings: Sequence[LiveListing]
) -> dict[UUID, VerificationDisplay]:
    """What verifies each of at most 200 listings, by listing; silence is unknown (MKT-19)."""
    companies = list({listing.organization_id for listing in listings})
    supplier_ids = list({listing.supplier_id for listing in listings})
    mine = read.organization_id
    no_cards: list[Card] | None = None
    no_suppliers: list[SupplierCard] | None = None
    no_trust: list[TrustView] = []
    cards, suppliers, trusted = await asyncio.gather(
        asking(
            read, Profiles, lambda port: port.cards(organization_ids=companies), silent=no_cards
        ),
        asking(
            read,
            Suppliers,
            lambda port: port.describe(organization_id=mine, supplier_ids=supplier_ids),
            silent=no_suppliers,
        ),
        asking(read, Trust, lambda port: port.describe(supplier_ids=supplier_ids), silent=no_trust),
    )
    by_company = {card.organization_id: card for card in cards or []}
    by_supplier = {card.supplier_id: card for card in suppliers or []}
    trust = {view.supplier_id: _trust(view) for view in trusted}
    sources = [
        _source("organization", read.now, answered=cards is not None),
        _source("supplier", read.now, answered=suppliers is not None),
    ]
    return {
        listing.id: VerificationDisplay(
            badges=[
                *_facts(by_company.get(listing.organization_id), read.now),
                *_capabilities(listing, by_supplier.get(listing.supplier_id), read.now),
            ],
            trust=trust.get(listing.supplier_id, _UNKNOWN),
            sources=sources,
        )
        for listing in listings
    }


def _facts(card: Card | None, now: datetime) -> list[Badge]:
    """Facts of the company that were checked."""
    if card is None:
        return []
    company = card.organization_id
    source = BadgeSource(domain="organization", type="fact", id=company, version=card.as_of_version)
    return [
        Badge(
            code=fact.fact_key,
            state=_valid(fact.valid_until, now),
            what_was_checked=_label(fact.fact_key),
            source=source,
            as_of=fact.checked_at,
            valid_until=fact.valid_until,
        )
        for fact in card.verified_facts
    ]


def _label(fact_key: str) -> str:
    """The name of a fact for people: `vatNumber` is the VAT number."""
    words = re.sub(r"([A-Z])", r" \1", fact_key).lower().split()
    named = " ".join(_SHORT.get(word, word) for word in words)
    return named[:1].upper() + named[1:]


def _capabilities(listing: LiveListing, card: SupplierCard | None, now: datetime) -> list[Badge]:
    """Capabilities that the listing names, or that are in one of its categories."""
    if card is None:
        return []
    content = listing.content
    badges = [
        _capability(capability, card.as_of, now)
        for capability in card.capabilities
        if capability.id in content.capability_refs
        or set(capability.category_ids) & set(content.category_ids)
    ]
    return [badge for badge in badges if badge is not None]


def _capability(capability: CapabilityCard, as_of: datetime, now: datetime) -> Badge | None:
    """The badge of a capability; a rejected one has none.

    Only what the provider states itself is shown in its own words.
    """
    proof = capability.verification
    status = "claimed" if proof is None else proof.verification_status
    until = None if proof is None else proof.verified_until
    state = _valid(until, now) if status == "verified" else _STATES.get(status)
    if state is None:
        return None
    words = capability.title
    if proof is not None and state != "self_declared":
        words = checked_words(proof)
    return Badge(
        code="capability",
        state=state,
        what_was_checked=words,
        source=BadgeSource(domain="supplier", type="capability", id=capability.id, version=None),
        as_of=as_of,
        valid_until=until,
    )


def _valid(until: datetime | None, now: datetime) -> Literal["verified", "expiring", "expired"]:
    if until is None or until > now + _SOON:
        return "verified"
    return "expiring" if until > now else "expired"


def _trust(view: TrustView) -> ShownTrust:
    return ShownTrust(
        state=view.state,
        score=view.score,
        effects=view.effects,
        appeal_open=view.appeal_open,
        as_of=view.as_of,
    )


def _source(
    domain: Literal["organization", "supplier"], now: datetime, *, answered: bool
) -> SourceState:
    state: Literal["answered", "unknown"] = "answered" if answered else "unknown"
    return SourceState(domain=domain, state=state, as_of=now if answered else None)
