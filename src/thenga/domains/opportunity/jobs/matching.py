"""Jobs that refresh match profiles and match a tender with every company."""

from datetime import timedelta
from uuid import UUID

from thenga.domains.compliance.public import Readiness, ReadinessView
from thenga.domains.opportunity.jobs.declared import jobs
from thenga.domains.opportunity.services import board, matching
from thenga.domains.opportunity.tables import MatchProfile, TenderOpportunity
from thenga.domains.organization.public import CurrentPreferences, Preferences, Profiles
from thenga.kernel.db.work import Work
from thenga.kernel.jobs.due import when_due
from thenga.kernel.jobs.run import Run
from thenga.kernel.ports.asking import asking
from thenga.kernel.ports.binding import within


@when_due(jobs, MatchProfile, every=timedelta(seconds=5), outside=True)
async def refresh_profile(run: Run, *, match_profile_id: UUID) -> None:
    """Ask Organization and Compliance once each, and keep what matching reads of it (OPP-32)."""
    async with run.reading() as read:
        organization_id = await matching.holder_of(read, match_profile_id)
    profiles = run.port(Profiles)
    described = await within(
        profiles.port_timeout,
        profiles.port_name,
        profiles.describe(
            organization_id=organization_id,
            purpose="match",
            fact_keys=["legalName"],
            record_types=matching.RECORD_TYPES,
        ),
    )
    answers = matching.Answers(
        profile=described,
        preferences=await _preferences(run, organization_id),
        readiness=await _readiness(run, organization_id),
    )
    async with run.working() as work:
        await matching.store_profile(work, match_profile_id, answers)


async def _preferences(run: Run, organization_id: UUID) -> CurrentPreferences:
    """Whoever hears nothing takes the defaults."""
    return await asking(
        run,
        Preferences,
        lambda port: port.current(organization_id=organization_id),
        silent=CurrentPreferences(),
    )


async def _readiness(run: Run, organization_id: UUID) -> ReadinessView | None:
    """Silence means unknown."""
    return await asking(
        run, Readiness, lambda port: port.on_date(organization_id=organization_id), silent=None
    )


@jobs.implements(matching.begin_matching)
async def begin_matching(
    work: Work, *, tender_opportunity_id: UUID, occasion: str, run_id: UUID | None, alerts: bool
) -> None:
    """Percolate the watchlists, then have the companies matched in chunks (OPP-34)."""
    await work.switch_scope()
    tender = await work.get(TenderOpportunity, tender_opportunity_id)
    if alerts:
        await board.percolate(work, tender)
    await matching.begin(work, tender, run_id, alerts=alerts)


@jobs.implements(matching.match_chunk)
async def match_chunk(
    work: Work,
    *,
    run_id: UUID,
    chunk: int,
    tender_opportunity_id: UUID,
    above: UUID | None,
    up_to: UUID | None,
) -> None:
    """Match at most 500 companies, and have those told that want to know."""
    await work.switch_scope()
    await matching.run_chunk(
        work, matching.Chunk(run_id, tender_opportunity_id, above=above, up_to=up_to)
    )


@jobs.implements(matching.alert_company)
async def alert_company(work: Work, *, tender_opportunity_id: UUID, material_revision: int) -> None:
    """Tell one company of a tender for all its reasons at once (OPP-35)."""
    await board.alert_company(work, tender_opportunity_id, material_revision)
