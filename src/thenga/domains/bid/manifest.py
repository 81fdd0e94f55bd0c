"""Bid, whole."""

from pathlib import Path

from thenga.domains.bid import public
from thenga.domains.bid.api import (
    comments,
    compliance_matrix,
    drafts,
    outcomes,
    plans,
    sections,
    tasks,
    workspaces,
)
from thenga.domains.bid.jobs import jobs
from thenga.domains.bid.lifecycles import LIFECYCLES
from thenga.domains.bid.permissions import GRANTED
from thenga.domains.bid.provider import LocalAwards, LocalSuggestions
from thenga.domains.bid.reactions import reactions
from thenga.domains.bid.services import panel
from thenga.domains.bid.settings import SETTINGS
from thenga.domains.billing import public as billing
from thenga.domains.compliance import public as compliance
from thenga.domains.identity import public as identity
from thenga.domains.opportunity import public as opportunity
from thenga.domains.organization import public as organization
from thenga.kernel.declare.manifest import Domain

DOMAIN = Domain(
    name="bid",
    home=Path(__file__).parent,
    routers=(
        workspaces.router,
        plans.router,
        tasks.router,
        comments.router,
        drafts.router,
        sections.router,
        compliance_matrix.router,
        outcomes.router,
    ),
    permissions=GRANTED,
    events=public.EVENTS,
    lifecycles=LIFECYCLES,
    provides={public.Awards: LocalAwards, public.Suggestions: LocalSuggestions},
    needs=(billing.Entitlements, identity.Decisions),
    may_need=(
        billing.Usage,
        compliance.Attestations,
        compliance.Documents,
        compliance.Evidence,
        compliance.Readiness,
        identity.Members,
        identity.People,
        opportunity.Tenders,
        organization.Disclosures,
        organization.Profiles,
    ),
    reactions=reactions,
    jobs=jobs,
    panel=panel.summarize,
    settings=SETTINGS,
)
