"""What Supplier knows of an organization itself."""

from thenga.domains.supplier.tables import Tenant
from thenga.kernel.db.tenants import Tenants

TENANTS = Tenants(Tenant)
