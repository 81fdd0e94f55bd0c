"""Billing, whole."""

from pathlib import Path

from thenga.domains.billing import public
from thenga.domains.billing.adapters.providers import Providers
from thenga.domains.billing.api import plan_changes, trials, usage
from thenga.domains.billing.api.accounts import accounts, test_clocks
from thenga.domains.billing.api.catalogue import meters, plans
from thenga.domains.billing.api.dunning import payment_failures
from thenga.domains.billing.api.entitlements import entitlements, grants
from thenga.domains.billing.api.invoicing import credit_notes, invoices
from thenga.domains.billing.api.ledger import ledger, statements
from thenga.domains.billing.api.payments import payment_methods, payments, refunds
from thenga.domains.billing.api.plan_admin import plan_versions
from thenga.domains.billing.api.settlement import callbacks
from thenga.domains.billing.api.subscriptions import cancellations, renewals, subscriptions
from thenga.domains.billing.environment import ENVIRONMENT
from thenga.domains.billing.jobs import jobs
from thenga.domains.billing.lifecycles import LIFECYCLES
from thenga.domains.billing.permissions import GRANTED
from thenga.domains.billing.provider import (
    LocalEntitlements,
    LocalUsage,
)
from thenga.domains.billing.reactions import reactions
from thenga.domains.billing.services import panel, plan_admin
from thenga.domains.billing.settings import SETTINGS
from thenga.domains.notification.public import Requests
from thenga.domains.organization.public import Clocks, Profiles
from thenga.kernel.declare.manifest import Domain

DOMAIN = Domain(
    name="billing",
    home=Path(__file__).parent,
    routers=(
        *(accounts.router, plans.router, plan_versions.router, trials.router),
        *(meters.router, ledger.router),
        *(payment_failures.router, renewals.router, test_clocks.router),
        *(invoices.router, credit_notes.router, statements.router),
        *(subscriptions.router, plan_changes.router, cancellations.router),
        *(payments.router, payment_methods.router, refunds.router, callbacks.router),
        *(entitlements.router, grants.router, usage.router),
    ),
    permissions=GRANTED,
    events=public.EVENTS,
    lifecycles=LIFECYCLES,
    provides={public.Entitlements: LocalEntitlements, public.Usage: LocalUsage},
    needs=(Requests,),
    may_need=(Profiles, Clocks),
    reactions=reactions,
    jobs=jobs,
    environment=ENVIRONMENT,
    adapters={Providers: Providers},
    at_deployment=plan_admin.seed_catalogue,
    panel=panel.summarize,
    settings=SETTINGS,
)
