"""Notification, whole."""

from pathlib import Path

from thenga.domains.administration import public as administration
from thenga.domains.billing import public as billing
from thenga.domains.compliance import public as compliance
from thenga.domains.identity import public as identity
from thenga.domains.notification import public
from thenga.domains.notification.adapters.senders import Senders
from thenga.domains.notification.api import (
    channels,
    deliveries,
    escalations,
    history,
    inbox,
    preferences,
    recipients,
    reminders,
    requests,
    schedules,
    templates,
)
from thenga.domains.notification.environment import ENVIRONMENT
from thenga.domains.notification.jobs import jobs
from thenga.domains.notification.lifecycles import LIFECYCLES
from thenga.domains.notification.permissions import GRANTED
from thenga.domains.notification.provider import (
    LocalEscalations,
    LocalReminders,
    LocalRequests,
)
from thenga.domains.notification.reactions import reactions
from thenga.domains.notification.services import panel, seeding
from thenga.domains.notification.settings import SETTINGS
from thenga.domains.opportunity import public as opportunity
from thenga.kernel.declare.manifest import Domain

DOMAIN = Domain(
    name="notification",
    home=Path(__file__).parent,
    # Fixed paths come before `/notifications/{notificationId}`.
    routers=(
        requests.router,
        recipients.router,
        preferences.router,
        templates.router,
        history.router,
        channels.router,
        schedules.router,
        reminders.router,
        escalations.router,
        inbox.router,
        deliveries.router,
    ),
    permissions=GRANTED,
    events=public.EVENTS,
    lifecycles=LIFECYCLES,
    provides={
        public.Requests: LocalRequests,
        public.Reminders: LocalReminders,
        public.Escalations: LocalEscalations,
    },
    needs=(identity.Decisions, identity.Members, identity.People),
    may_need=(
        administration.Integrations,
        billing.Usage,
        compliance.Documents,
        compliance.Evidence,
        opportunity.Tenders,
    ),
    reactions=reactions,
    jobs=jobs,
    environment=ENVIRONMENT,
    waits={
        "letters.oldest_unsent": "SELECT min(created_at) FROM notification.delivery WHERE "
        "channel_kind = 'email' AND status IN ('queued', 'sending') AND next_check_at IS NOT NULL"
    },
    adapters={Senders: Senders},
    at_deployment=seeding.seed,
    panel=panel.summarize,
    settings=SETTINGS,
)
