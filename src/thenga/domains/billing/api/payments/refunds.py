"""Refunds: credit paid back through the original payment."""

from typing import Annotated
from uuid import UUID

from fastapi import Path
from pydantic import Field

from thenga.domains.billing.api.catalogue.terms import Rand
from thenga.domains.billing.api.common_fields import AllowedMoves, OrganizationRef, ProviderName
from thenga.domains.billing.api.payments.payments import PaymentId
from thenga.domains.billing.lifecycles import RefundLifecycle
from thenga.domains.billing.permissions import Permission
from thenga.domains.billing.services import payments
from thenga.domains.billing.services.invoicing import CreditExceeds
from thenga.domains.billing.services.payments import RefundNotPossible
from thenga.domains.billing.tables import Refund, RefundStatus
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.work import Work
from thenga.kernel.errors import RuleViolated
from thenga.kernel.http.bodies import Body, Stored
from thenga.kernel.http.doors import router as make_router
from thenga.kernel.http.entrances import reads, writes
from thenga.kernel.http.reference import problems
from thenga.kernel.values.fields import text
from thenga.kernel.values.money import Money

router = make_router("Billing / Refund")

RefundId = Annotated[UUID, Path(alias="refundId", description="The refund.")]


class RefundPayment(Body):
    """How much to refund, and why."""

    amount: Annotated[
        Rand,
        Field(
            description="Amount to refund. At most the available credit and what is left of "
            "the payment."
        ),
    ]
    reason: Annotated[str, text(5, 300), Field(description="Reason, kept in the audit trail.")]


class RefundView(Stored):
    """A refund of a payment."""

    organization_id: OrganizationRef
    payment_id: Annotated[UUID, Field(description="Payment it refunds.")]
    provider: ProviderName
    provider_reference: Annotated[
        str | None,
        Field(description="The provider's reference. Null until the provider accepts it."),
    ]
    amount: Annotated[Money, Field(description="Amount refunded.")]
    reason: Annotated[str, Field(description="Why it was refunded.")]
    status: Annotated[RefundStatus, Field(description="Status of the refund.")]
    allowed_moves: AllowedMoves

    @property
    def own_path(self) -> str:
        return f"/v1/billing/refunds/{self.id}"


@router.post(
    "/billing/payments/{paymentId}/refunds",
    status_code=202,
    responses=problems(RefundNotPossible, CreditExceeds, RuleViolated),
)
async def refund_payment(
    payment_id: PaymentId,
    body: RefundPayment,
    work: Annotated[Work, writes(Permission.PAYMENT_REFUND)],
) -> RefundView:
    """Refund credit through the provider that collected the payment. Operators only."""
    refund = await payments.request_refund(
        work, payment_id, amount=body.amount.money, reason=body.reason
    )
    return _view(work, refund)


@router.get("/billing/refunds/{refundId}")
async def get_refund(
    refund_id: RefundId, read: Annotated[Reader, reads(Permission.PAYMENT_READ)]
) -> RefundView:
    """Get a refund and its status."""
    return _view(read, await read.get(Refund, refund_id))


def _view(read: Reader, refund: Refund) -> RefundView:
    values = refund.__dict__ | {
        "amount": refund.amount,
        "allowed_moves": RefundLifecycle.allowed(refund, read.now),
    }
    return RefundView.model_validate(values)
