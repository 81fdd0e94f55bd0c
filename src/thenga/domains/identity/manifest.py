"""Identity, whole."""

from pathlib import Path

from thenga.domains.administration.public import Integrations
from thenga.domains.billing.public import Entitlements
from thenga.domains.identity import public
from thenga.domains.identity.adapters.openid import OpenId
from thenga.domains.identity.api import (
    api_keys,
    audit_events,
    auth,
    decisions,
    devices,
    invitations,
    memberships,
    mfa,
    providers,
    recovery,
    role_assignments,
    roles,
    sessions,
    users,
)
from thenga.domains.identity.api import permissions as permissions_api
from thenga.domains.identity.jobs import jobs
from thenga.domains.identity.lifecycles import LIFECYCLES
from thenga.domains.identity.permissions import GRANTED
from thenga.domains.identity.provider import (
    LocalDecisions,
    LocalMembers,
    LocalMemberships,
    LocalPeople,
)
from thenga.domains.identity.reactions import reactions
from thenga.domains.identity.services import panel
from thenga.domains.identity.services import roles as role_services
from thenga.domains.identity.settings import SETTINGS
from thenga.domains.identity.values.openid import OpenIdClient
from thenga.domains.notification.public import Requests
from thenga.domains.organization.public import Profiles
from thenga.kernel.declare.manifest import Domain

DOMAIN = Domain(
    name="identity",
    home=Path(__file__).parent,
    routers=(
        auth.router,
        providers.router,
        recovery.router,
        users.router,
        devices.router,
        sessions.router,
        mfa.router,
        memberships.router,
        invitations.router,
        roles.router,
        role_assignments.router,
        permissions_api.router,
        decisions.router,
        api_keys.router,
        audit_events.router,
    ),
    permissions=GRANTED,
    events=public.EVENTS,
    lifecycles=LIFECYCLES,
    provides={
        public.Decisions: LocalDecisions,
        public.Members: LocalMembers,
        public.Memberships: LocalMemberships,
        public.People: LocalPeople,
    },
    needs=(Requests,),
    may_need=(Entitlements, Integrations, Profiles),
    reactions=reactions,
    jobs=jobs,
    gate=True,
    adapters={OpenIdClient: OpenId},
    at_deployment=role_services.seed_permissions,
    panel=panel.summarize,
    settings=SETTINGS,
)
