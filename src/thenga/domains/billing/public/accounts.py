"""Events about billing accounts and the books."""

from datetime import date
from uuid import UUID

from thenga.kernel.declare.event import Event


class BillingAccountOpened(Event, type="billing.BillingAccountOpened.v1", subject="account_id"):
    """A billing account was opened. Published once per organization."""

    organization_id: UUID
    account_id: UUID
    book: str


class LedgerCheckFailed(Event, type="billing.LedgerCheckFailed.v1", subject="verification_id"):
    """The nightly check found a book that does not balance. An operator must review it."""

    verification_id: UUID
    day: date
    journal_sum_minor: int
    unbalanced: int


EVENTS = (BillingAccountOpened, LedgerCheckFailed)
