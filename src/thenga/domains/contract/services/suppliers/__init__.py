"""Packages and matters with suppliers, and how far a supplier is trusted (CON-35)."""

from thenga.domains.contract.services.suppliers.packages import (
    CoordinationMove,
    add_coordination,
    change_coordination,
    list_coordination,
    values_of,
)
from thenga.domains.contract.services.suppliers.relationships import relationship_of
from thenga.domains.contract.services.suppliers.rules import SubcontractLimit, share_of
from thenga.domains.contract.services.suppliers.trust import SupplierBlocked

__all__ = [
    "CoordinationMove",
    "SubcontractLimit",
    "SupplierBlocked",
    "add_coordination",
    "change_coordination",
    "list_coordination",
    "relationship_of",
    "share_of",
    "values_of",
]
