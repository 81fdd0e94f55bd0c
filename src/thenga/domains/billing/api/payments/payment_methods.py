"""Payment methods: saved cards and bank accounts. Only an encrypted token is stored, never a
card number."""

from datetime import date
from typing import Annotated
from uuid import UUID

from fastapi import Path, Response
from pydantic import Field

from thenga.domains.billing.api.common_fields import (
    AccountRef,
    AllowedMoves,
    OrganizationRef,
    ProviderName,
)
from thenga.domains.billing.api.payments.payments import (
    PaymentView,
    Provider,
    ReturnUrl,
    view_of,
)
from thenga.domains.billing.lifecycles import PaymentMethodLifecycle
from thenga.domains.billing.permissions import Permission
from thenga.domains.billing.services import dunning, payments
from thenga.domains.billing.services.customer import AccountParked
from thenga.domains.billing.services.invoicing import SellerNotSet
from thenga.domains.billing.services.payments import ProviderNotAllowed
from thenga.domains.billing.tables import Account, MethodKind, MethodStatus, PaymentMethod
from thenga.kernel.db.paging import Paged
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.work import Work
from thenga.kernel.errors import InvalidTransition, RuleViolated
from thenga.kernel.http.bodies import Body, PageOf, Stored
from thenga.kernel.http.doors import router as make_router
from thenga.kernel.http.entrances import reads, writes
from thenga.kernel.http.lists import paged
from thenga.kernel.http.reference import problems

router = make_router("Billing / Payment method")

AccountId = Annotated[UUID, Path(alias="accountId", description="The billing account.")]
MethodId = Annotated[UUID, Path(alias="methodId", description="The payment method.")]


class AddPaymentMethod(Body):
    """Which provider stores the new payment method."""

    provider: Annotated[Provider, Field(description="Payment provider that stores the card.")]
    return_url: Annotated[
        ReturnUrl | None, Field(description="Page of ours the customer returns to.")
    ] = None


class PaymentMethodView(Stored):
    """A saved payment method. Its identifier at the provider is never shown."""

    organization_id: OrganizationRef
    account_id: AccountRef
    provider: ProviderName
    kind: Annotated[MethodKind, Field(description="Card, bank account or EFT.")]
    brand: Annotated[str | None, Field(description="Card brand.")]
    last4: Annotated[str | None, Field(description="Last four digits.")]
    expires_on: Annotated[date | None, Field(description="Last day it can be charged.")]
    off_session: Annotated[
        bool, Field(description="Whether it can be charged without the customer present.")
    ]
    status: Annotated[MethodStatus, Field(description="Status now.")]
    is_default: Annotated[
        bool, Field(description="Whether it is the default method, used for automatic charges.")
    ]
    needed: Annotated[
        bool,
        Field(
            description="Whether removing it would leave an active plan without a payment method."
        ),
    ]
    allowed_moves: AllowedMoves


@router.post(
    "/billing/accounts/{accountId}/payment-methods",
    status_code=201,
    responses=problems(ProviderNotAllowed, RuleViolated, AccountParked, SellerNotSet),
)
async def add_payment_method(
    account_id: AccountId,
    body: AddPaymentMethod,
    work: Annotated[Work, writes(Permission.PAYMENT_METHOD_MANAGE)],
) -> PaymentView:
    """Add a card. It is verified with a charge of one rand, which stays as credit; the payment
    method is saved once that payment succeeds."""
    payment = await payments.add_method(
        work, account_id, provider=body.provider, return_url=body.return_url
    )
    return view_of(payment, work.now)


@router.get("/billing/accounts/{accountId}/payment-methods")
async def list_payment_methods(
    account_id: AccountId,
    read: Annotated[Reader, reads(Permission.PAYMENT_METHOD_MANAGE)],
    page: Annotated[Paged, paged("createdAt")],
) -> PageOf[PaymentMethodView]:
    """List the saved payment methods. Removed ones are not shown."""
    await read.get(Account, account_id)
    found = await payments.list_methods(read, account_id, page)
    default = await payments.default_method(read, account_id)
    shown = {method.id: await _view(read, method, default) for method in found.items}
    return PageOf[PaymentMethodView].of(found, lambda method: shown[method.id])


@router.post(
    "/billing/payment-methods/{methodId}/make-default", responses=problems(InvalidTransition)
)
async def make_default_payment_method(
    method_id: MethodId, work: Annotated[Work, writes(Permission.PAYMENT_METHOD_MANAGE)]
) -> PaymentMethodView:
    """Make this the default method. Unpaid invoices are charged to it at once."""
    method = await payments.set_default_method(work, method_id)
    await dunning.retry_with_new_method(work, method)
    return await _view(work, method, method)


@router.delete("/billing/payment-methods/{methodId}", status_code=204)
async def remove_payment_method(
    method_id: MethodId, work: Annotated[Work, writes(Permission.PAYMENT_METHOD_MANAGE)]
) -> Response:
    """Remove a payment method and delete its token. Check `needed` first: it says whether an
    active plan depends on it."""
    await payments.revoke_method(work, method_id)
    return Response(status_code=204)


async def _view(
    read: Reader, method: PaymentMethod, default: PaymentMethod | None
) -> PaymentMethodView:
    is_default = default is not None and default.id == method.id
    values = method.__dict__ | {
        "status": payments.method_status(method, read.now),
        "is_default": is_default,
        "needed": is_default and await payments.is_method_needed(read, method),
        "allowed_moves": PaymentMethodLifecycle.allowed(method, read.now),
    }
    return PaymentMethodView.model_validate(values)
