"""What one may do in Supplier; roles that hold these are Identity's data."""

from enum import StrEnum

from thenga.kernel.declare.permission import Audience, Granted

_TENANT = (Audience.TENANT,)
_BUYERS = ("bid_manager", "contributor", "finance_manager")
_EVERYBODY = (*_BUYERS, "approver", "compliance_officer", "viewer")


class Permission(StrEnum):
    """Permissions of Supplier."""

    SUPPLIER_CREATE = "supplier:supplier:create"
    SUPPLIER_READ = "supplier:supplier:read"
    SUPPLIER_UPDATE = "supplier:supplier:update"
    CAPABILITY_CREATE = "supplier:capability:create"


P = Permission

GRANTED = (
    Granted(P.SUPPLIER_CREATE, "Register suppliers", _TENANT, _BUYERS),
    Granted(P.SUPPLIER_READ, "Read suppliers", _TENANT, _EVERYBODY, while_suspended=True),
    Granted(P.SUPPLIER_UPDATE, "Change suppliers", _TENANT, _BUYERS),
    Granted(P.CAPABILITY_CREATE, "Declare capabilities of suppliers", _TENANT, _BUYERS),
)
