"""Administration, whole."""

from pathlib import Path

from thenga.domains.administration import public
from thenga.domains.administration.api import (
    admin_actions,
    configuration,
    integration_configurations,
    policy_configurations,
)
from thenga.domains.administration.jobs import jobs
from thenga.domains.administration.lifecycles import LIFECYCLES
from thenga.domains.administration.permissions import GRANTED
from thenga.domains.administration.provider import LocalIntegrations
from thenga.domains.administration.reactions import reactions
from thenga.domains.administration.services.configuration import sync_declarations
from thenga.domains.administration.settings import SETTINGS
from thenga.domains.identity.public import Decisions, People
from thenga.kernel.declare.manifest import Domain

DOMAIN = Domain(
    name="administration",
    home=Path(__file__).parent,
    routers=(
        admin_actions.router,
        *(configuration.router, policy_configurations.router),
        *(integration_configurations.router,),
    ),
    permissions=GRANTED,
    events=public.EVENTS,
    lifecycles=LIFECYCLES,
    provides={public.Integrations: LocalIntegrations},
    needs=(Decisions,),
    may_need=(People,),
    reactions=reactions,
    jobs=jobs,
    at_deployment=sync_declarations,
    settings=SETTINGS,
)
