"""Opportunity, whole."""

from pathlib import Path

from thenga.domains.billing import public as billing
from thenga.domains.compliance import public as compliance
from thenga.domains.identity import public as identity
from thenga.domains.opportunity import public
from thenga.domains.opportunity.adapters.documents import DocumentHosts
from thenga.domains.opportunity.adapters.feeds import Feeds
from thenga.domains.opportunity.api import documents, requirements, sources
from thenga.domains.opportunity.jobs import jobs
from thenga.domains.opportunity.lifecycles import LIFECYCLES
from thenga.domains.opportunity.permissions import GRANTED
from thenga.domains.opportunity.reactions import reactions
from thenga.domains.opportunity.settings import SETTINGS
from thenga.domains.organization import public as organization
from thenga.kernel.declare.manifest import Domain

DOMAIN = Domain(
    name="opportunity",
    home=Path(__file__).parent,
    routers=(sources.router, documents.router, requirements.router),
    permissions=GRANTED,
    events=public.EVENTS,
    lifecycles=LIFECYCLES,
    needs=(identity.Decisions, billing.Entitlements),
    may_need=(
        billing.Usage,
        compliance.Readiness,
        organization.Preferences,
        organization.Profiles,
    ),
    reactions=reactions,
    jobs=jobs,
    adapters={Feeds: Feeds, DocumentHosts: DocumentHosts},
    settings=SETTINGS,
)
