"""Marketplace, whole."""

from pathlib import Path

from thenga.domains.marketplace import jobs, public
from thenga.domains.marketplace.api import categories, displays, quote_requests, support_requests
from thenga.domains.marketplace.lifecycles import LIFECYCLES
from thenga.domains.marketplace.permissions import GRANTED
from thenga.domains.marketplace.provider import LocalQuoteRequests
from thenga.domains.marketplace.reactions import reactions
from thenga.domains.marketplace.services import panel
from thenga.domains.organization import public as organization
from thenga.domains.supplier import public as supplier
from thenga.kernel.declare.job import Jobs
from thenga.kernel.declare.manifest import Domain

DOMAIN = Domain(
    name="marketplace",
    home=Path(__file__).parent,
    routers=(
        categories.router,
        quote_requests.router,
        support_requests.router,
        displays.router,
    ),
    permissions=GRANTED,
    events=public.EVENTS,
    lifecycles=LIFECYCLES,
    provides={public.QuoteRequests: LocalQuoteRequests},
    needs=(organization.Profiles, supplier.Suppliers),
    may_need=(supplier.Trust,),
    reactions=reactions,
    jobs=Jobs.declared_in("marketplace", jobs.jobs),
    panel=panel.summarize,
)
