"""The organizations that Marketplace knows."""

from thenga.kernel.db.kinds import Kind
from thenga.kernel.db.rows import KnownTenant


class Tenant(
    KnownTenant, table="marketplace.tenant", kind=Kind.PRIVATE, unique=[("organization_id",)]
):
    """An organization, and whether it is a sandbox."""
