"""Which moves suppliers can make."""

from thenga.domains.supplier.tables import SupplierStatus
from thenga.kernel.declare.lifecycle import Lifecycle, Move


class SupplierLifecycle(Lifecycle, initial=SupplierStatus.ACTIVE):
    """Its keeper takes a supplier out of use and back; nothing is lost."""

    deactivate = Move(SupplierStatus.ACTIVE, to=SupplierStatus.INACTIVE)
    reactivate = Move(SupplierStatus.INACTIVE, to=SupplierStatus.ACTIVE)


LIFECYCLES = (SupplierLifecycle,)
