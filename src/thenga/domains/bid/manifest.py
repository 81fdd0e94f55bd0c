"""Bid, whole."""

from pathlib import Path

from thenga.domains.bid import public
from thenga.domains.bid.api import (
    approvals,
    comments,
    compliance_matrix,
    drafts,
    files,
    form_catalogue,
    outcomes,
    plans,
    pricing_workbooks,
    sbd_forms,
    sections,
    submission_packs,
    tasks,
    workspaces,
)
from thenga.domains.bid.jobs import jobs
from thenga.domains.bid.lifecycles import LIFECYCLES
from thenga.domains.bid.permissions import GRANTED
from thenga.domains.bid.provider import LocalAwards, LocalCashPlans, LocalSuggestions
from thenga.domains.bid.reactions import reactions
from thenga.domains.bid.services import forms as form_services
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
        form_catalogue.router,
        sbd_forms.router,
        pricing_workbooks.router,
        approvals.router,
        submission_packs.router,
        outcomes.router,
        files.router,
    ),
    permissions=GRANTED,
    events=public.EVENTS,
    lifecycles=LIFECYCLES,
    provides={
        public.Awards: LocalAwards,
        public.CashPlans: LocalCashPlans,
        public.Suggestions: LocalSuggestions,
    },
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
    at_deployment=form_services.seed_catalogue,
    panel=panel.summarize,
    settings=SETTINGS,
)
