"""Organizations: creating an organization, its profile and its sandbox clock."""

from thenga.domains.organization.services.organizations.organizations import (
    change_profile,
    create_organization,
    get_organization,
    move_clock,
    move_clock_to,
)
from thenga.domains.organization.services.organizations.profiles import (
    describe_profiles,
    fact_of,
    is_sandbox,
    organization_mode,
    organization_time_zone,
    resolve_facts,
)

__all__ = [
    "change_profile",
    "create_organization",
    "describe_profiles",
    "fact_of",
    "get_organization",
    "is_sandbox",
    "move_clock",
    "move_clock_to",
    "organization_mode",
    "organization_time_zone",
    "resolve_facts",
]
