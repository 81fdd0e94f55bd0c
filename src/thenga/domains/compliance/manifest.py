"""Compliance, whole."""

from pathlib import Path

from thenga.domains.compliance import public
from thenga.domains.compliance.api import (
    ai_suggestions,
    documents,
    downloads,
    evidence,
    expiry,
    profiles,
    readiness,
    requirements,
    risks,
    verifications,
    za_context,
)
from thenga.domains.compliance.jobs import jobs
from thenga.domains.compliance.lifecycles import LIFECYCLES
from thenga.domains.compliance.permissions import GRANTED
from thenga.domains.compliance.provider import (
    LocalAttestations,
    LocalDocuments,
    LocalEvidence,
    LocalReadiness,
    LocalSuggestions,
)
from thenga.domains.compliance.reactions import reactions
from thenga.domains.compliance.services import panel
from thenga.domains.compliance.services import requirements as requirement_services
from thenga.domains.compliance.settings import SETTINGS
from thenga.domains.identity import public as identity
from thenga.domains.opportunity import public as opportunity
from thenga.domains.organization import public as organization
from thenga.kernel.declare.manifest import Domain

DOMAIN = Domain(
    name="compliance",
    home=Path(__file__).parent,
    routers=(
        profiles.router,
        requirements.router,
        documents.router,
        downloads.router,
        evidence.router,
        verifications.router,
        expiry.router,
        readiness.router,
        risks.router,
        ai_suggestions.router,
        za_context.router,
    ),
    permissions=GRANTED,
    events=public.EVENTS,
    lifecycles=LIFECYCLES,
    provides={
        public.Documents: LocalDocuments,
        public.Evidence: LocalEvidence,
        public.Attestations: LocalAttestations,
        public.Readiness: LocalReadiness,
        public.Suggestions: LocalSuggestions,
    },
    needs=(identity.Decisions, identity.Members, organization.Profiles),
    may_need=(opportunity.Tenders,),
    reactions=reactions,
    jobs=jobs,
    at_deployment=requirement_services.seed_catalogue,
    panel=panel.summarize,
    settings=SETTINGS,
)
