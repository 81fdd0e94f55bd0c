"""What Billing tells of accounts and of its books."""

from datetime import date
from uuid import UUID

from thenga.kernel.declare.event import Event


class BillingAccountOpened(Event, type="billing.BillingAccountOpened.v1", subject="account_id"):
    """An organization can be billed from now on; told once, when its account is there."""

    organization_id: UUID
    account_id: UUID
    book: str


class LedgerCheckFailed(Event, type="billing.LedgerCheckFailed.v1", subject="verification_id"):
    """The nightly check found books that do not balance; somebody must look."""

    verification_id: UUID
    day: date
    journal_sum_minor: int
    unbalanced: int


EVENTS = (BillingAccountOpened, LedgerCheckFailed)
