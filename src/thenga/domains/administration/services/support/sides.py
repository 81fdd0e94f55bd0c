"""The two sides of a case: the customer who opened it, and staff of the platform."""

from uuid import UUID

from thenga.domains.administration.services import actions
from thenga.domains.administration.tables import SupportCase, TenantCard
from thenga.kernel.access.actors import OPERATOR
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.sandbox import clock_offset
from thenga.kernel.errors import NotFound


async def enter_case(read: Reader, case_id: UUID) -> None:
    """Let staff continue at the clock of the case's customer, which a sandbox may have moved."""
    if not actions.is_staff(read):
        return
    async with read.separate_reader() as other:
        case = await other.get(SupportCase, case_id)
    ahead = await clock_offset(read.host, read.domain, case.organization_id)
    await read.enter_organization(OPERATOR, ahead=ahead)


async def enter_customer(read: Reader, customer_id: UUID) -> None:
    """Staff open a case for a customer: its number is the customer's own."""
    await read.switch_scope(organization_id=customer_id)
    async with read.separate_reader() as other:
        known = await other.find(TenantCard, id=customer_id)
    if known is None:
        raise NotFound("There is no organization with this ID.")
    ahead = await clock_offset(read.host, read.domain, customer_id)
    await read.enter_organization(customer_id, ahead=ahead)
