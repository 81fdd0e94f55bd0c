"""What operators see of a company's suppliers."""

from thenga.domains.supplier.tables import Capability, Supplier, SupplierKind
from thenga.kernel.db.reader import Reader
from thenga.kernel.standing import panels
from thenga.kernel.standing.panels import Panel, PanelState


async def summarize(read: Reader) -> Panel:
    """How many suppliers the company keeps, and what it says it can deliver."""
    mine = read.organization_id
    figures = await panels.count(
        read,
        suppliers_external=(
            Supplier,
            (Supplier.organization_id == mine) & (Supplier.kind == SupplierKind.EXTERNAL),
        ),
        capabilities_active=(
            Capability,
            (Capability.organization_id == mine) & ~Capability.withdrawn,
        ),
    )
    return Panel(figures=figures, state=PanelState.OK)
