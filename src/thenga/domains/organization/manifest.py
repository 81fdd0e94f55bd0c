"""Organization, whole."""

from pathlib import Path

from thenga.domains.organization import public
from thenga.domains.organization.api import equipment, organizations
from thenga.domains.organization.jobs import jobs
from thenga.domains.organization.lifecycles import LIFECYCLES
from thenga.domains.organization.permissions import GRANTED
from thenga.kernel.manifest import Domain

DOMAIN = Domain(
    name="organization",
    home=Path(__file__).parent,
    routers=(organizations.router, equipment.router),
    permissions=GRANTED,
    events=public.EVENTS,
    lifecycles=LIFECYCLES,
    jobs=jobs,
)
