"""Ask Notification to write to the payer once this transaction commits (BIL-40)."""

from uuid import UUID

from thenga.kernel.db.work import Work
from thenga.kernel.declare.job import Form, job_stub

PAYMENT_FAILED = "billing.payment_failed"
INVOICE_ISSUED = "billing.invoice_issued"
RECEIPT = "billing.receipt"
SUBSCRIPTION_CANCELLED = "billing.subscription_cancelled"
DISPUTE_LOST = "billing.dispute_lost"
GRACE_ENDING = "billing.grace_ending"
RENEWAL_DUE = "billing.renewal_due"
TRIAL_ENDING = "billing.trial_ending"

tell_payer = job_stub("billing.tell_payer", form=Form.OUTSIDE, key="{topic}:{about}:{number}")


def notify(work: Work, topic: str, about: UUID, number: int = 0) -> None:
    """Write to the payer once this commits. `number` distinguishes letters about one subject."""
    work.enqueue(tell_payer, topic=topic, about=about, number=number)
