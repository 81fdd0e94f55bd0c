"""Organizations: the lock of a tenant, and what its plan includes."""

from thenga.domains.identity.services.organizations.billing_signals import (
    ask_entitlement,
    refresh_entitlements,
    remedy_of,
)
from thenga.domains.identity.services.organizations.organization_lock import (
    Tenant,
    find_organization,
    is_sandbox,
    lock_organization,
    organization_name,
    organization_names,
)

__all__ = [
    "Tenant",
    "ask_entitlement",
    "find_organization",
    "is_sandbox",
    "lock_organization",
    "organization_name",
    "organization_names",
    "refresh_entitlements",
    "remedy_of",
]
