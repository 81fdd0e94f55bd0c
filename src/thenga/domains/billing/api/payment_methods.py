"""Payment methods: cards and accounts that may be charged; we keep a sealed token, no number."""

from datetime import date
from typing import Annotated
from uuid import UUID

from fastapi import Path, Response
from pydantic import Field

from thenga.domains.billing.api.payments import (
    PaymentView,
    Provider,
    ReturnUrl,
    view_of,
)
from thenga.domains.billing.lifecycles import PaymentMethodLifecycle
from thenga.domains.billing.permissions import Permission
from thenga.domains.billing.services import dunning, payments
from thenga.domains.billing.services.customer import AccountParked
from thenga.domains.billing.services.payments import ProviderNotAllowed
from thenga.domains.billing.tables import Account, MethodKind, MethodStatus, PaymentMethod
from thenga.kernel.db.paging import Paged
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.work import Work
from thenga.kernel.declare.lifecycle import AllowedMove
from thenga.kernel.errors import InvalidTransition, RuleViolated
from thenga.kernel.http.bodies import Body, PageOf, Stored
from thenga.kernel.http.doors import router as make_router
from thenga.kernel.http.entrances import reads, writes
from thenga.kernel.http.lists import paged
from thenga.kernel.http.reference import problems

router = make_router("Billing / Payment method")

AccountId = Annotated[UUID, Path(alias="accountId")]
MethodId = Annotated[UUID, Path(alias="methodId")]


class AddPaymentMethod(Body):
    provider: Annotated[Provider, Field(description="Who keeps the card.")]
    return_url: Annotated[
        ReturnUrl | None, Field(description="Where the customer comes back to.")
    ] = None


class PaymentMethodView(Stored):
    """A way to be charged; what identifies it at the provider is never shown."""

    organization_id: UUID
    account_id: UUID
    provider: str
    kind: MethodKind
    brand: str | None
    last4: str | None
    expires_on: Annotated[date | None, Field(description="Its last day.")]
    off_session: Annotated[bool, Field(description="May be charged without the customer.")]
    status: MethodStatus
    is_default: Annotated[bool, Field(description="The one that is charged.")]
    needed: Annotated[
        bool, Field(description="Without it nothing is left to charge a live plan with.")
    ]
    allowed_moves: list[AllowedMove]


@router.post(
    "/billing/accounts/{accountId}/payment-methods",
    status_code=201,
    responses=problems(ProviderNotAllowed, RuleViolated, AccountParked),
)
async def add_payment_method(
    account_id: AccountId,
    body: AddPaymentMethod,
    work: Annotated[Work, writes(Permission.PAYMENT_METHOD_MANAGE)],
) -> PaymentView:
    """Add a card. One rand is charged to learn it and stays as credit; the method is there once
    that payment has succeeded."""
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
    """The ways to pay that are on file; those that were taken away are not shown."""
    await read.get(Account, account_id)
    found = await payments.list_methods(read, account_id, page)
    default = await payments.default_method(read, account_id)
    shown = {one.id: await _view(read, one, default) for one in found.items}
    return PageOf[PaymentMethodView].of(found, lambda method: shown[method.id])


@router.post(
    "/billing/payment-methods/{methodId}/make-default", responses=problems(InvalidTransition)
)
async def make_default_payment_method(
    method_id: MethodId, work: Annotated[Work, writes(Permission.PAYMENT_METHOD_MANAGE)]
) -> PaymentMethodView:
    """Charge this one from now on; what is still owed is tried with it at once."""
    method = await payments.set_default_method(work, method_id)
    await dunning.retry_with_new_method(work, method)
    return await _view(work, method, method)


@router.delete("/billing/payment-methods/{methodId}", status_code=204)
async def remove_payment_method(
    method_id: MethodId, work: Annotated[Work, writes(Permission.PAYMENT_METHOD_MANAGE)]
) -> Response:
    """Take a way to pay away; its token is forgotten. `needed` says beforehand what that means."""
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
