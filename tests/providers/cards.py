"""A provider inside the test that answers at once, as the card says."""

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime

from thenga.domains.billing.tables import (
    Payment,
)
from thenga.domains.billing.values.provider import (
    ChargeOrder,
    ProviderAnswer,
    ProviderReport,
    RefundOrder,
    StatedStatus,
    StatementKind,
)


@dataclass
class Cards:
    """In the place of `Providers`: every provider is this one.

    What the card says is `ok`, why it declines (`soft`, `hard`, `authentication`), or `silent`.
    """

    now: Callable[[], datetime]
    says: Callable[[], str]
    charged: list[ChargeOrder] = field(default_factory=list)
    name: str = "cards"
    repeats: bool = True

    def of(self, _: str) -> "Cards":
        return self

    async def start(self, _: ChargeOrder) -> ProviderAnswer:
        return ProviderAnswer()

    async def charge(self, order: ChargeOrder) -> ProviderAnswer:
        if self.says() == "silent":
            return ProviderAnswer()
        self.charged.append(order)
        return ProviderAnswer(report=statement(order, self.says(), self.now()))

    async def fetch(self, order: ChargeOrder) -> ProviderAnswer:
        return await self.charge(order)

    async def refund(self, order: RefundOrder) -> ProviderAnswer:
        return ProviderAnswer(
            report=ProviderReport(
                reference=order.reference,
                kind=StatementKind.REFUND,
                status=StatedStatus.SUCCEEDED,
                item_reference=order.key,
                amount_minor=order.amount_minor,
                currency=order.currency,
                provider_at=self.now(),
            )
        )

    async def fetch_refund(self, order: RefundOrder) -> ProviderAnswer:
        return await self.refund(order)


def statement(payment: Payment | ChargeOrder, said: str, at: datetime) -> ProviderReport:
    """What a provider says of a charge: `ok`, or why not."""
    good = said == "ok"
    return ProviderReport(
        reference=payment.reference,
        kind=StatementKind.PAYMENT,
        status=StatedStatus.SUCCEEDED if good else StatedStatus.FAILED,
        provider_reference=f"prov-{payment.reference}",
        amount_minor=payment.amount_minor,
        currency=payment.currency,
        provider_at=at,
        code=None if good else said,
        category=None if good else said,
    )
