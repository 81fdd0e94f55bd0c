"""Decisions of moderators: staff who do not belong to the provider (MKT-4)."""

from uuid import UUID

from thenga.domains.identity.public import Members
from thenga.domains.marketplace import public
from thenga.domains.marketplace.lifecycles.listings import ListingLifecycle, VersionLifecycle
from thenga.domains.marketplace.schemas.listings import ModerateListing
from thenga.domains.marketplace.services import providers, serving
from thenga.domains.marketplace.tables.listings import Listing, ListingStatus, ListingVersion
from thenga.domains.marketplace.values.decisions import Decision, DecisionKind, ReasonCode
from thenga.kernel.db.work import Work
from thenga.kernel.declare.lifecycle import not_possible
from thenga.kernel.errors import Problem, RuleViolated, extensions
from thenga.kernel.ports.binding import within

D = DecisionKind
_IN_FAVOR = (D.PUBLISH, D.CONFIRM, D.REINSTATE)
_ON_LIVE = (D.SUSPEND, D.REINSTATE)  # about what is published, not about a pending version
_MOVES = {
    D.PUBLISH: ListingLifecycle.publish,
    D.REQUEST_CHANGES: ListingLifecycle.request_changes,
    D.REJECT: ListingLifecycle.reject,
    D.SUSPEND: ListingLifecycle.suspend,
    D.REINSTATE: ListingLifecycle.reinstate,
}


class VersionMoved(Problem):
    """The version or the hash that you named is not the one to decide about any longer.

    Read the listing again, and decide about what it says now.
    """

    code, status = "marketplace-version-moved", 409
    title = "The content has changed since you read it"
    members = extensions(
        versionNumber=(int | None, "Version to decide about now."),
        contentHash=(str | None, "Hash of its content."),
    )


class OwnListing(Problem):
    """You belong to the company of this listing. Another moderator decides about it."""

    code, status = "marketplace-own-listing", 403
    title = "You cannot decide about your own company"


async def moderate(work: Work, listing_id: UUID, given: ModerateListing) -> Listing:
    """Decide about the named version, in the provider's own unit of work (MKT-2, MKT-4).

    The decision is published with its codes and shown to the provider with its text.
    """
    found = await work.get(Listing, listing_id)
    await _check_independence(work, found.organization_id)
    _check_reasons(given)
    await work.switch_scope(organization_id=found.organization_id)
    provider = await providers.lock_provider(work)
    listing = await work.lock(Listing, listing_id)
    version = await _named_version(work, listing, given)
    decision = Decision(
        decision=given.decision,
        version_number=version.number,
        reason_codes=given.reason_codes,
        text=given.text,
        at=work.now,
    )
    _move(work, listing, version, decision)
    listing.decision, listing.decided_by = decision, work.actor.person_id
    if given.decision not in _ON_LIVE:
        version.decision, version.decided_by = decision, work.actor.person_id
        version.decided_at = work.now
        listing.open_version = listing.pending_since = None
        await work.save(version)
    if given.decision in (D.PUBLISH, D.CONFIRM):
        listing.live_version = version.number
    await work.save(listing)
    live = None
    if listing.live_version is not None:
        live = await serving.refresh(work, listing, provider)
    _publish(work, listing, version, decision, served=live is not None)
    return listing


def _move(work: Work, listing: Listing, version: ListingVersion, decision: Decision) -> None:
    """Move the listing, the version, or both."""
    kind, code = decision.decision, decision.reason_codes[0]
    if kind in _MOVES:
        moved = _MOVES[kind].make(work, listing, code=code, text=decision.text)
    else:
        moved = listing.status is not ListingStatus.PENDING_REVIEW
    if not moved:
        raise not_possible(
            f"The status is {listing.status}, which does not allow this decision.",
            status=listing.status,
            operation=kind,
            allowed=ListingLifecycle.open(listing),
        )
    if kind is D.REJECT:
        listing.title_key = None
    if kind in (D.PUBLISH, D.CONFIRM):
        VersionLifecycle.confirm.make(work, version)
    elif kind not in _ON_LIVE:
        VersionLifecycle.decline.make(work, version)


async def _named_version(work: Work, listing: Listing, given: ModerateListing) -> ListingVersion:
    """The version to decide about, if number and hash name exactly it (MKT-2)."""
    number = listing.live_version if given.decision in _ON_LIVE else listing.open_version
    version = None
    if number is not None:
        version = await work.find(ListingVersion, listing_id=listing.id, number=number)
    if version is None:
        raise VersionMoved(versionNumber=None, contentHash=None)
    if not _is_named(version, given):
        raise VersionMoved(versionNumber=version.number, contentHash=version.content_hash)
    return await work.hold(version)


def _is_named(version: ListingVersion, given: ModerateListing) -> bool:
    named = (given.version_number, given.content_hash)
    return (version.number, version.content_hash) == named


async def _check_independence(work: Work, organization_id: UUID) -> None:
    """Refuse a moderator who belongs to the provider; without an answer nobody decides."""
    person = work.actor.person_id
    if person is None:
        raise LookupError("only a person moderates")
    port = work.port(Members)
    asked = port.holding(
        organization_id=organization_id, limit=1, after=UUID(int=max(person.int - 1, 0))
    )
    if person in await within(port.port_timeout, port.port_name, asked):
        raise OwnListing()


def _check_reasons(given: ModerateListing) -> None:
    in_order = given.reason_codes == [ReasonCode.IN_ORDER]
    if in_order == (given.decision in _IN_FAVOR) and (
        in_order or ReasonCode.IN_ORDER not in given.reason_codes
    ):
        return
    raise RuleViolated(
        "`in_order` stands alone, with `publish`, `confirm` and `reinstate` only. Every other "
        "decision names what is wrong.",
        rule="MKT-4",
        field="/reasonCodes",
    )


def _publish(
    work: Work, listing: Listing, version: ListingVersion, decision: Decision, *, served: bool
) -> None:
    work.publish(
        public.ListingModerated.of(
            listing,
            label=version.content.title,
            version_number=version.number,
            decision=decision.decision,
            reason_codes=list(decision.reason_codes),
            served=served,
        )
    )
    if decision.decision in (D.PUBLISH, D.CONFIRM):
        categories = version.content.category_ids
        event = public.ListingPublished.of(listing, category_ids=categories, served=served)
        work.publish(event)
