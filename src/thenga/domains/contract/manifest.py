"""Contract, whole."""

from pathlib import Path

from thenga.domains.billing import public as billing
from thenga.domains.compliance import public as compliance
from thenga.domains.contract import public
from thenga.domains.contract.api import (
    awards,
    closeout,
    deliverables,
    delivery_plan,
    invoices,
    journal,
    lessons,
    milestones,
    payments,
    performance,
    risks,
    supplier_coordination,
    variations,
    workspaces,
)
from thenga.domains.contract.jobs import jobs
from thenga.domains.contract.lifecycles import LIFECYCLES
from thenga.domains.contract.permissions import GRANTED
from thenga.domains.contract.provider import LocalCashPlans, LocalRelationships
from thenga.domains.contract.reactions import reactions
from thenga.domains.contract.services import panel
from thenga.domains.contract.settings import SETTINGS
from thenga.domains.identity import public as identity
from thenga.domains.organization import public as organization
from thenga.domains.supplier import public as supplier
from thenga.kernel.declare.manifest import Domain

DOMAIN = Domain(
    name="contract",
    home=Path(__file__).parent,
    routers=(
        awards.router,
        workspaces.router,
        delivery_plan.router,
        milestones.router,
        deliverables.router,
        supplier_coordination.router,
        variations.router,
        invoices.router,
        payments.router,
        journal.router,
        risks.router,
        performance.router,
        closeout.router,
        lessons.router,
    ),
    permissions=GRANTED,
    events=public.EVENTS,
    lifecycles=LIFECYCLES,
    provides={
        public.CashPlans: LocalCashPlans,
        public.Relationships: LocalRelationships,
    },
    needs=(
        billing.Entitlements,
        identity.Decisions,
        identity.Members,
        organization.Profiles,
    ),
    may_need=(billing.Usage, compliance.Readiness, organization.Disclosures, supplier.Trust),
    reactions=reactions,
    jobs=jobs,
    panel=panel.summarize,
    settings=SETTINGS,
)
