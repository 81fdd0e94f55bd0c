"""What Contract knows of an organization itself."""

from thenga.domains.contract.tables import Tenant
from thenga.kernel.db.tenants import Tenants

TENANTS = Tenants(Tenant)
