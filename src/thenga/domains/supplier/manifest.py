"""Supplier, whole."""

from pathlib import Path

from thenga.domains.organization import public as organization
from thenga.domains.supplier import public
from thenga.domains.supplier.api import capabilities, suppliers
from thenga.domains.supplier.jobs import jobs
from thenga.domains.supplier.lifecycles import LIFECYCLES
from thenga.domains.supplier.permissions import GRANTED
from thenga.domains.supplier.provider import LocalSuppliers
from thenga.domains.supplier.reactions import reactions
from thenga.domains.supplier.services import panel
from thenga.kernel.declare.manifest import Domain

DOMAIN = Domain(
    name="supplier",
    home=Path(__file__).parent,
    routers=(suppliers.router, capabilities.router),
    permissions=GRANTED,
    events=public.EVENTS,
    lifecycles=LIFECYCLES,
    provides={public.Suppliers: LocalSuppliers},
    needs=(organization.Profiles,),
    reactions=reactions,
    jobs=jobs,
    panel=panel.summarize,
)
