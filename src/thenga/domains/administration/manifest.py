"""Administration, whole."""

from collections.abc import Sequence
from pathlib import Path

from thenga.domains.administration import public
from thenga.domains.administration.api import (
    admin_actions,
    audit_reviews,
    configuration,
    dashboards,
    feature_flags,
    governance_decisions,
    integration_configurations,
    policy_configurations,
    support_cases,
    support_messages,
    tenants,
)
from thenga.domains.administration.jobs import jobs
from thenga.domains.administration.lifecycles import LIFECYCLES
from thenga.domains.administration.permissions import GRANTED
from thenga.domains.administration.provider import LocalFlags, LocalIntegrations
from thenga.domains.administration.reactions import reactions
from thenga.domains.administration.services import configuration as settings
from thenga.domains.administration.services import dashboards as boards
from thenga.domains.administration.services import flags
from thenga.domains.administration.settings import SETTINGS
from thenga.domains.identity.public import Decisions, People
from thenga.kernel.declare.manifest import Domain
from thenga.kernel.process.host import Host


async def _seed(host: Host, domains: Sequence[Domain]) -> None:
    await settings.sync_declarations(host, domains)
    await flags.sync_declared(host, domains)


DOMAIN = Domain(
    name="administration",
    home=Path(__file__).parent,
    routers=(
        admin_actions.router,
        *(configuration.router, policy_configurations.router),
        *(integration_configurations.router,),
        *(feature_flags.router, support_cases.router, support_messages.router),
        *(audit_reviews.router, governance_decisions.router),
        *(dashboards.router, tenants.router),
    ),
    permissions=GRANTED,
    events=public.EVENTS,
    lifecycles=LIFECYCLES,
    provides={public.Integrations: LocalIntegrations, public.Flags: LocalFlags},
    needs=(Decisions,),
    may_need=(People,),
    reactions=reactions,
    jobs=jobs,
    at_deployment=_seed,
    panel=boards.summarize,
    settings=SETTINGS,
)
