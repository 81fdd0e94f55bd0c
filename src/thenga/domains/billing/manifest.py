"""Billing, whole."""

from pathlib import Path

from thenga.domains.billing import public
from thenga.domains.billing.api import accounts, ledger, meters, plan_versions, plans, trials
from thenga.domains.billing.jobs import jobs
from thenga.domains.billing.lifecycles import LIFECYCLES
from thenga.domains.billing.permissions import GRANTED
from thenga.domains.billing.reactions import reactions
from thenga.domains.billing.services import catalogue
from thenga.kernel.manifest import Domain

DOMAIN = Domain(
    name="billing",
    home=Path(__file__).parent,
    routers=(
        *(accounts.router, plans.router, plan_versions.router, trials.router),
        *(meters.router, ledger.router),
    ),
    permissions=GRANTED,
    events=public.EVENTS,
    lifecycles=LIFECYCLES,
    reactions=reactions,
    jobs=jobs,
    at_deployment=catalogue.seed,
)
