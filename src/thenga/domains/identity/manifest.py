"""Identity, whole."""

from pathlib import Path

from thenga.domains.identity import public
from thenga.domains.identity.adapters.mail import Mail, SmtpMail
from thenga.domains.identity.api import auth, decisions, sessions
from thenga.domains.identity.jobs import jobs
from thenga.domains.identity.lifecycles import LIFECYCLES
from thenga.domains.identity.permissions import GRANTED
from thenga.domains.identity.provider import LocalDecisions
from thenga.domains.identity.reactions import reactions
from thenga.domains.identity.services import permissions
from thenga.kernel.manifest import Domain

DOMAIN = Domain(
    name="identity",
    home=Path(__file__).parent,
    routers=(auth.router, sessions.router, decisions.router),
    permissions=GRANTED,
    events=public.EVENTS,
    lifecycles=LIFECYCLES,
    provides={public.Decisions: LocalDecisions},
    reactions=reactions,
    jobs=jobs,
    gate=True,
    adapters={Mail: SmtpMail},
    at_deployment=permissions.seed,
)
