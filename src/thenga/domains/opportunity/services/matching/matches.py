"""Matches: how well one tender fits one company, with the reasons (OPP-30 to OPP-33)."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import (
    ColumnElement,
    Select,
    and_,
    exists,
    func,
    literal,
    literal_column,
    not_,
    or_,
    select,
)

from thenga.domains.opportunity import settings
from thenga.domains.opportunity.services.matching.features import ProfileFeatures, TenderFeatures
from thenga.domains.opportunity.services.matching.gates import (
    Attendances,
    Gate,
    failed_codes,
    gates,
    is_eligible,
)
from thenga.domains.opportunity.services.matching.profiles import profile_features, profile_of
from thenga.domains.opportunity.services.matching.scoring import Score, score
from thenga.domains.opportunity.services.matching.tenders import own_attendance, tender_features
from thenga.domains.opportunity.settings import MatchWeights
from thenga.domains.opportunity.tables import (
    Match,
    MatchProfile,
    MatchRun,
    MatchRunStatus,
    SavedOpportunity,
    TenderOpportunity,
)
from thenga.kernel.db import configuration
from thenga.kernel.db.paging import Paged, Slice
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.rows import Instant
from thenga.kernel.db.statements import among
from thenga.kernel.db.work import Work

_NEVER: ColumnElement[datetime] = literal_column("timestamptz '9999-12-31 00:00Z'", Instant)
_BY: dict[str, ColumnElement[Any]] = {
    "score": func.coalesce(Match.score_tenths, literal_column("0")),
    "closingAt": func.coalesce(TenderOpportunity.closing_at, _NEVER),
    "computedAt": Match.computed_at,
}


@dataclass(frozen=True, slots=True)
class Computed:
    """Score and gates, before they are stored."""

    score: Score
    gates: tuple[Gate, ...]

    @property
    def failed(self) -> list[str]:
        return failed_codes(self.gates)

    def is_alerted_from(self, min_score: int) -> bool:
        """Whether a company that asks for so many points wants to know of it (OPP-35)."""
        return self.score.tenths >= min_score * 10 and not self.failed

    def columns(self) -> dict[str, Any]:
        return {
            "score_tenths": self.score.tenths,
            "band": self.score.band,
            "coverage_hundredths": self.score.coverage,
            "eligible": is_eligible(self.gates),
            "factors": [one.to_row() for one in self.score.factors],
            "gates": [one.to_row() for one in self.gates],
            "failed_gates": self.failed,
        }


@dataclass(frozen=True, slots=True)
class MatchFilters:
    """How a list of matches is narrowed."""

    min_score: int | None = None
    band: str | None = None
    eligible: bool | None = None
    stale: bool | None = None
    blocked_by: str | None = None
    saved: bool | None = None
    closing_from: datetime | None = None
    closing_to: datetime | None = None
    province: str | None = None


@dataclass(frozen=True, slots=True)
class Standing:
    """A match with its tender, and why it is stale if it is."""

    match: Match
    tender: TenderOpportunity
    stale_reasons: list[str]
    stored: bool = True


def compute(
    tender: TenderFeatures,
    profile: ProfileFeatures,
    attended: Attendances,
    weights: MatchWeights,
    *,
    now: datetime,
) -> Computed:
    """Score and gates of one tender for one company."""
    return Computed(
        score(tender, profile, weights, now=now), gates(tender, profile, attended, now=now)
    )


async def weights_in_force(read: Reader) -> tuple[MatchWeights, int]:
    """The weights and the number of their version; a new number makes matches stale (OPP-49)."""
    found = await configuration.in_force(read, settings.MATCH_WEIGHTS)
    return found.value, found.number


async def compute_own(read: Reader, tender: TenderOpportunity) -> tuple[Match, Computed]:
    """The match of this organization as it is now, not stored."""
    profile = await profile_of(read)
    weights, number = await weights_in_force(read)
    attended = await own_attendance(read, tender.id)
    made = compute(
        await tender_features(read, tender),
        profile_features(profile),
        attended,
        weights,
        now=read.now,
    )
    match = Match(
        organization_id=read.organization_id,
        tender_opportunity_id=tender.id,
        weights_version=number,
        opportunity_version=tender.version,
        match_revision=tender.match_revision,
        profile_revision=profile.revision if profile else 0,
        computed_at=read.now,
        **made.columns(),
    )
    return match, made


async def get_match(read: Reader, tender_id: UUID) -> Standing:
    """The stored match, or one computed now, so that «why not?» always has an answer (OPP-34)."""
    tender = await read.get(TenderOpportunity, tender_id)
    found = await read.find(Match, tender_opportunity_id=tender_id)
    if found is None:
        match, _ = await compute_own(read, tender)
        return Standing(match, tender, [], stored=False)
    return Standing(found, tender, await _reasons(read, found, tender))


async def store_own(work: Work, tender: TenderOpportunity, *, anyway: bool = False) -> Match:
    """Compute the match of this organization and keep it from the floor on.

    One that is stored already is kept up to date below the floor too.
    """
    made, computed = await compute_own(work, tender)
    least = (await configuration.value(work, settings.STORE_FLOOR)) * 10
    wanted = profile_features(await profile_of(work)).min_score
    below = None if computed.is_alerted_from(wanted) else work.now
    if await work.find(Match, tender_opportunity_id=tender.id) is None:
        if computed.score.tenths < least and not anyway:
            return made
        made.below_since = below
        return await work.add(made)
    match = await work.lock_by(Match, beside=True, tender_opportunity_id=tender.id)
    for name, value in made.__dict__.items():
        if name not in _KEPT:
            setattr(match, name, value)
    match.below_since = below or match.below_since
    return await work.save(match)


_KEPT = (
    "id",
    "version",
    "created_at",
    "updated_at",
    "organization_id",
    "alerted_at",
    "below_since",
)


async def request_own(work: Work, tender_id: UUID) -> tuple[Standing, MatchRun]:
    """Match one tender with this organization within the request."""
    tender = await work.get(TenderOpportunity, tender_id)
    match = await store_own(work, tender)
    run = await work.add(
        MatchRun(
            organization_id=work.organization_id,
            tender_opportunity_id=tender_id,
            scope="own",
            alerts=False,
            material_revision=tender.material_revision,
            match_revision=tender.match_revision,
            status=MatchRunStatus.SUCCEEDED,
            done=1,
            total=1,
            counts={"scored": 1},
            finished_at=work.now,
        )
    )
    return Standing(match, tender, [], stored=bool(match.version)), run


async def newest_run(read: Reader, tender_id: UUID) -> MatchRun | None:
    """The run that this organization asked for last."""
    runs = (
        select(MatchRun)
        .where(MatchRun.tender_opportunity_id == tender_id)
        .order_by(MatchRun.id.desc())
    )
    return next(iter(await read.all(runs, limit=1)), None)


async def list_matches(
    read: Reader, paged: Paged, filters: MatchFilters
) -> tuple[Slice[Match], dict[UUID, Standing]]:
    """A page of matches with their tenders."""
    _, number = await weights_in_force(read)
    statement = select(Match).join(
        TenderOpportunity.__table__, TenderOpportunity.id == Match.tender_opportunity_id
    )
    statement = _narrowed(statement, filters, number)
    page = await read.page(statement, paged, _BY[paged.sort])
    ids = [one.tender_opportunity_id for one in page.items]
    tenders = await read.all(select(TenderOpportunity).where(among(TenderOpportunity.id, ids)))
    known = {one.id: one for one in tenders}
    profile = await profile_of(read)
    revision = profile.revision if profile else 0
    standing = {
        one.id: Standing(
            one,
            known[one.tender_opportunity_id],
            stale_reasons(one, known[one.tender_opportunity_id], revision, number),
        )
        for one in page.items
    }
    return page, standing


def stale_reasons(
    match: Match, tender: TenderOpportunity, profile_revision: int, weights_version: int
) -> list[str]:
    """Why a match no longer says what would be computed now; derived, never written (OPP-33)."""
    moved: Mapping[str, bool] = {
        "tender_changed": match.match_revision < tender.match_revision,
        "profile_changed": match.profile_revision < profile_revision,
        "weights_changed": match.weights_version != weights_version,
    }
    return [reason for reason, has_moved in moved.items() if has_moved]


async def _reasons(read: Reader, match: Match, tender: TenderOpportunity) -> list[str]:
    profile = await profile_of(read)
    _, number = await weights_in_force(read)
    return stale_reasons(match, tender, profile.revision if profile else 0, number)


def _narrowed(statement: Select[Match], filters: MatchFilters, number: int) -> Select[Match]:
    given = filters
    where: list[ColumnElement[bool]] = []
    if given.min_score is not None:
        where.append(Match.score_tenths >= given.min_score * 10)
    if given.band is not None:
        where.append(Match.band == given.band)
    if given.eligible is not None:
        where.append(Match.eligible.is_(given.eligible))
    if given.blocked_by is not None:
        where.append(literal(given.blocked_by) == func.any(Match.failed_gates))
    if given.closing_from is not None:
        where.append(TenderOpportunity.closing_at >= given.closing_from)
    if given.closing_to is not None:
        where.append(TenderOpportunity.closing_at <= given.closing_to)
    if given.province is not None:
        where.append(literal(given.province) == func.any(TenderOpportunity.provinces))
    if given.saved is not None:
        where.append(_is_saved() if given.saved else not_(_is_saved()))
    if given.stale is not None:
        is_stale = _is_stale(number)
        where.append(is_stale if given.stale else not_(is_stale))
    return statement.where(and_(*where)) if where else statement


def _is_saved() -> ColumnElement[bool]:
    saved = SavedOpportunity.__table__.c
    return exists().where(
        saved.organization_id == Match.organization_id,
        saved.tender_opportunity_id == Match.tender_opportunity_id,
    )


def _is_stale(number: int) -> ColumnElement[bool]:
    profile = MatchProfile.__table__.c
    newer = exists().where(
        profile.organization_id == Match.organization_id,
        profile.revision > Match.profile_revision,
    )
    return or_(
        Match.match_revision < TenderOpportunity.match_revision,
        newer,
        Match.weights_version != number,
    )
