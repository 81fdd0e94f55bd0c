"""Opportunity, whole."""

from pathlib import Path

from thenga.domains.billing import public as billing
from thenga.domains.compliance import public as compliance
from thenga.domains.identity import public as identity
from thenga.domains.opportunity import public
from thenga.domains.opportunity.adapters.documents import DocumentHosts
from thenga.domains.opportunity.adapters.feeds import Feeds
from thenga.domains.opportunity.api import (
    amendments,
    briefings,
    deadlines,
    documents,
    matches,
    opportunities,
    qualification,
    recommendation,
    requirements,
    saved_opportunities,
    sources,
    watchlists,
)
from thenga.domains.opportunity.jobs import jobs
from thenga.domains.opportunity.lifecycles import LIFECYCLES
from thenga.domains.opportunity.permissions import GRANTED
from thenga.domains.opportunity.provider import LocalPassages, LocalTenders
from thenga.domains.opportunity.reactions import reactions
from thenga.domains.opportunity.services import panel
from thenga.domains.opportunity.services import sources as source_services
from thenga.domains.opportunity.settings import SETTINGS
from thenga.domains.organization import public as organization
from thenga.kernel.declare.manifest import Domain

DOMAIN = Domain(
    name="opportunity",
    home=Path(__file__).parent,
    routers=(
        sources.router,
        opportunities.router,
        amendments.router,
        documents.router,
        requirements.router,
        briefings.router,
        deadlines.router,
        matches.router,
        qualification.router,
        recommendation.router,
        watchlists.router,
        saved_opportunities.router,
    ),
    permissions=GRANTED,
    events=public.EVENTS,
    lifecycles=LIFECYCLES,
    provides={public.Tenders: LocalTenders, public.Passages: LocalPassages},
    needs=(billing.Entitlements, identity.Decisions),
    may_need=(
        billing.Usage,
        compliance.Readiness,
        organization.Preferences,
        organization.Profiles,
    ),
    reactions=reactions,
    jobs=jobs,
    adapters={Feeds: Feeds, DocumentHosts: DocumentHosts},
    at_deployment=source_services.seed_portal,
    panel=panel.summarize,
    settings=SETTINGS,
)
