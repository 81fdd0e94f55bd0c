"""Sign-in at a provider of OpenID Connect: there, back again, and the links of one's account."""

from datetime import datetime
from typing import Annotated, ClassVar
from uuid import UUID

from fastapi import Path, Query, Response
from pydantic import Field

from thenga.domains.identity.api.auth import by_address
from thenga.domains.identity.permissions import Permission
from thenga.domains.identity.services import providers
from thenga.domains.identity.services.providers import (
    LastMethod,
    ProviderUnknown,
    StartedFlow,
)
from thenga.domains.identity.tables import ExternalIdentity, FlowPurpose
from thenga.kernel.db.paging import Paged
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.work import Work
from thenga.kernel.errors import NotFound, RuleViolated
from thenga.kernel.http.bodies import SHOWN_ONCE, Body, PageOf, Stored, View
from thenga.kernel.http.doors import router as make_router
from thenga.kernel.http.entrances import anyone, perhaps, reads, writes
from thenga.kernel.http.lists import paged
from thenga.kernel.http.reference import problems
from thenga.kernel.values.fields import matching

router = make_router("Identity / Provider")

Provider = Annotated[
    str,
    matching("^[a-z0-9][a-z0-9-]{0,39}$", 40),
    Path(description="Code of the provider, such as `google`."),
]
UserId = Annotated[UUID, Path(alias="userId")]
ExternalIdentityId = Annotated[UUID, Path(alias="externalIdentityId")]
ReturnTo = Annotated[str, matching("^https?://[!-~]{1,500}$", 510)]
_Sent = matching("^[!-~]{1,2000}$", 2000)


class StartSignIn(Body):
    """Page to return to."""

    return_to: Annotated[
        ReturnTo,
        Field(
            description=(
                "Page of ours that the browser returns to, with `ticket` or `error=refused` added."
            ),
            examples=["https://app.thenga.example/signed-in"],
        ),
    ]
    purpose: Annotated[
        FlowPurpose | None,
        Field(
            description=(
                "`sign_in`, or `link` to add the provider to your account. Default: `link` if you "
                "are signed in, otherwise `sign_in`."
            )
        ),
    ] = None


class StartedFlowView(View):
    """Where to send the browser."""

    own_path: ClassVar[None] = None  # ended by the callback, read nowhere

    authorization_url: Annotated[
        str, Field(description="Address at the provider. Send the browser there.")
    ]
    flow_id: UUID
    flow_secret: Annotated[
        str | None,
        SHOWN_ONCE,
        Field(
            description=(
                "Keep it in the client. The ticket of this sign-in works only together with it."
            )
        ),
    ]
    expires_at: datetime

    @classmethod
    def of(cls, flow: StartedFlow) -> "StartedFlowView":
        return cls(
            authorization_url=flow.authorization_url,
            flow_id=flow.id,
            flow_secret=flow.flow_secret,
            expires_at=flow.expires_at,
        )


class ExternalIdentityView(Stored):
    """A link between your account and an identity provider."""

    provider: Annotated[str, Field(description="Code of the provider.")]
    issuer: Annotated[str, Field(description="Address that the provider names itself by.")]
    masked_email: Annotated[
        str | None,
        Field(description="Email address at the provider, shortened. Null if it sent none."),
    ]
    linked_at: datetime

    @classmethod
    def of(cls, row: ExternalIdentity) -> "ExternalIdentityView":
        return cls.model_validate(row)


@router.post(
    "/identity/auth/providers/{provider}/start",
    status_code=201,
    responses=problems(ProviderUnknown, RuleViolated),
)
async def start_provider_sign_in(
    provider: Provider,
    body: StartSignIn,
    work: Annotated[Work, perhaps(Permission.EXTERNAL_IDENTITY_MANAGE, by_address)],
) -> StartedFlowView:
    """Start a sign-in with an identity provider, valid for ten minutes.

    Send the browser to `authorizationUrl` and keep `flowSecret`. The browser comes back to
    `returnTo` with a `ticket`; sign in with both and `method: provider`. If you are signed in, this
    links the provider to your account and needs a recent proof of identity.
    """
    flow = await providers.start_flow(
        work, provider, return_to=body.return_to, purpose=body.purpose
    )
    return StartedFlowView.of(flow)


@router.get(
    "/identity/auth/providers/{provider}/callback",
    status_code=303,
    response_class=Response,
)
async def return_from_provider(
    provider: Provider,
    work: Annotated[Work, anyone(by_address, foreign_query=True)],
    state: Annotated[str, _Sent, Query(description="`state` as we sent it.")],
    code: Annotated[
        str | None, _Sent, Query(description="Code of the provider. Missing if it refused.")
    ] = None,
    iss: Annotated[
        str | None, _Sent, Query(description="Issuer, if the provider names it (RFC 9207).")
    ] = None,
) -> Response:
    """Receive the browser from an identity provider and send it on to `returnTo`.

    The answer adds `ticket`, which is valid for one minute and works once, or `error=refused`.
    """
    address = await providers.end_flow(work, provider, state=state, code=code, issuer=iss)
    headers = {"Location": address, "Referrer-Policy": "no-referrer"}
    return Response(status_code=303, headers=headers)


@router.get("/identity/users/{userId}/external-identities")
async def list_external_identities(
    user_id: UserId,
    read: Annotated[Reader, reads(Permission.EXTERNAL_IDENTITY_MANAGE)],
    page: Annotated[Paged, paged("createdAt")],
) -> PageOf[ExternalIdentityView]:
    """List the identity providers that your account is linked to."""
    if user_id != read.actor.id:
        raise NotFound()
    found = await providers.list_identities(read, page)
    return PageOf[ExternalIdentityView].of(found, ExternalIdentityView.of)


@router.delete(
    "/identity/users/{userId}/external-identities/{externalIdentityId}",
    status_code=204,
    responses=problems(LastMethod),
)
async def remove_external_identity(
    user_id: UserId,
    external_identity_id: ExternalIdentityId,
    work: Annotated[Work, writes(Permission.EXTERNAL_IDENTITY_MANAGE)],
) -> Response:
    """Remove a link. You can no longer sign in with that provider.

    It needs a recent proof of identity, and another way to sign in.
    """
    if user_id != work.actor.id:
        raise NotFound()
    await providers.unlink(work, external_identity_id)
    return Response(status_code=204)
