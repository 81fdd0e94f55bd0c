"""Fields and filters that many resources of Billing share, each described once."""

from typing import Annotated
from uuid import UUID

from fastapi import Path
from pydantic import Field

from thenga.kernel.declare.lifecycle import AllowedMove

OrganizationRef = Annotated[UUID, Field(description="Organization it belongs to.")]
AccountRef = Annotated[UUID, Field(description="Billing account it belongs to.")]
SubscriptionRef = Annotated[UUID, Field(description="Subscription it belongs to.")]
InvoiceRef = Annotated[UUID, Field(description="Invoice it belongs to.")]
PaymentRef = Annotated[UUID, Field(description="Payment it belongs to.")]
PlanCodeText = Annotated[str, Field(description="Code of the plan, for example `professional`.")]
PlanVersionNumber = Annotated[int, Field(description="Version of the plan.")]
ProviderName = Annotated[str, Field(description="Payment provider, for example `paystack`.")]
AllowedMoves = Annotated[
    list[AllowedMove],
    Field(description="Operations on this resource, and whether each is possible now."),
]

SubscriptionId = Annotated[UUID, Path(alias="subscriptionId", description="The subscription.")]
