"""Organizations: creating an organization, its profile and its sandbox clock."""

from thenga.domains.organization.services.organizations.citations import (
    company_of,
    resolve_citations,
)
from thenga.domains.organization.services.organizations.disclosures import (
    Request,
    list_disclosures,
    reveal,
)
from thenga.domains.organization.services.organizations.organizations import (
    change_profile,
    create_organization,
    get_organization,
    move_clock,
    move_clock_to,
)
from thenga.domains.organization.services.organizations.profiles import (
    describe_profiles,
    is_sandbox,
    organization_mode,
    organization_time_zone,
)

__all__ = [
    "Request",
    "change_profile",
    "company_of",
    "create_organization",
    "describe_profiles",
    "get_organization",
    "is_sandbox",
    "list_disclosures",
    "move_clock",
    "move_clock_to",
    "organization_mode",
    "organization_time_zone",
    "resolve_citations",
    "reveal",
]
