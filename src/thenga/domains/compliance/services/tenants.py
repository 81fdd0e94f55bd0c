"""What Compliance knows of an organization itself."""

from thenga.domains.compliance.tables import Tenant
from thenga.kernel.db.tenants import Tenants

TENANTS = Tenants(Tenant)
