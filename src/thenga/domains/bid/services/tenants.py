"""What Bid knows of an organization itself."""

from thenga.domains.bid.tables import Tenant
from thenga.kernel.db.tenants import Tenants

TENANTS = Tenants(Tenant)
