"""What Marketplace knows of an organization itself."""

from thenga.domains.marketplace.tables.tenants import Tenant
from thenga.kernel.db.tenants import Tenants

TENANTS = Tenants(Tenant)
