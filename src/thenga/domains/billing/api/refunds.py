"""Refunds: credit that goes back the way it came."""

from typing import Annotated
from uuid import UUID

from fastapi import Path
from pydantic import Field

from thenga.domains.billing.api.payments import PaymentId
from thenga.domains.billing.api.terms import Rand
from thenga.domains.billing.lifecycles import RefundLifecycle
from thenga.domains.billing.permissions import Permission
from thenga.domains.billing.services import payments
from thenga.domains.billing.services.invoicing import CreditExceeds
from thenga.domains.billing.tables import Refund, RefundStatus
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.work import Work
from thenga.kernel.declare.lifecycle import AllowedMove
from thenga.kernel.errors import InvalidTransition, RuleViolated
from thenga.kernel.http.bodies import Body, Stored
from thenga.kernel.http.doors import router as make_router
from thenga.kernel.http.entrances import reads, writes
from thenga.kernel.http.reference import problems
from thenga.kernel.values.fields import text
from thenga.kernel.values.money import Money

router = make_router("Billing / Refund")

RefundId = Annotated[UUID, Path(alias="refundId")]


class RefundPayment(Body):
    amount: Annotated[Rand, Field(description="At most the credit, and what the payment brought.")]
    reason: Annotated[str, text(5, 300)]


class RefundView(Stored):
    organization_id: UUID
    payment_id: UUID
    provider: str
    provider_reference: str | None
    amount: Money
    reason: str
    status: RefundStatus
    allowed_moves: list[AllowedMove]

    @property
    def own_path(self) -> str:
        return f"/v1/billing/refunds/{self.id}"


@router.post(
    "/billing/payments/{paymentId}/refunds",
    status_code=202,
    responses=problems(InvalidTransition, CreditExceeds, RuleViolated),
)
async def refund_payment(
    payment_id: PaymentId,
    body: RefundPayment,
    work: Annotated[Work, writes(Permission.PAYMENT_REFUND)],
) -> RefundView:
    """Pay credit back through the provider that brought it. Operators of the platform do this."""
    refund = await payments.request_refund(
        work, payment_id, amount=body.amount.money, reason=body.reason
    )
    return _view(work, refund)


@router.get("/billing/refunds/{refundId}")
async def get_refund(
    refund_id: RefundId, read: Annotated[Reader, reads(Permission.PAYMENT_READ)]
) -> RefundView:
    """How far a refund has come."""
    return _view(read, await read.get(Refund, refund_id))


def _view(read: Reader, refund: Refund) -> RefundView:
    values = refund.__dict__ | {
        "amount": refund.amount,
        "allowed_moves": RefundLifecycle.allowed(refund, read.now),
    }
    return RefundView.model_validate(values)
