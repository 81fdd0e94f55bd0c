"""Marketplace, whole."""

from pathlib import Path

from thenga.domains.billing import public as billing
from thenga.domains.compliance import public as compliance
from thenga.domains.identity import public as identity
from thenga.domains.marketplace import jobs, public
from thenga.domains.marketplace.api import (
    categories,
    displays,
    listings,
    matches,
    quote_requests,
    search,
    support_requests,
)
from thenga.domains.marketplace.lifecycles import LIFECYCLES
from thenga.domains.marketplace.permissions import GRANTED
from thenga.domains.marketplace.provider import LocalQuoteRequests
from thenga.domains.marketplace.reactions import reactions
from thenga.domains.marketplace.services import panel
from thenga.domains.opportunity import public as opportunity
from thenga.domains.organization import public as organization
from thenga.domains.supplier import public as supplier
from thenga.kernel.declare.job import Jobs
from thenga.kernel.declare.manifest import Domain

DOMAIN = Domain(
    name="marketplace",
    home=Path(__file__).parent,
    routers=(
        listings.router,
        categories.router,
        search.router,
        matches.router,
        quote_requests.router,
        support_requests.router,
        displays.router,
    ),
    permissions=GRANTED,
    events=public.EVENTS,
    lifecycles=LIFECYCLES,
    provides={public.QuoteRequests: LocalQuoteRequests},
    needs=(
        billing.Entitlements,
        identity.Members,
        organization.Profiles,
        supplier.Suppliers,
        opportunity.Tenders,
        compliance.Readiness,
    ),
    may_need=(supplier.Trust,),
    reactions=reactions,
    jobs=Jobs.declared_in("marketplace", jobs.jobs),
    panel=panel.summarize,
)
