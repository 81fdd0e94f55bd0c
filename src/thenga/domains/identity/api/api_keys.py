"""API keys: what the programs of an organization carry instead of a session."""

from datetime import datetime, timedelta
from typing import Annotated
from uuid import UUID

from fastapi import Path, Query
from pydantic import Field

from thenga.domains.identity.api.scopes import StatusReason
from thenga.domains.identity.lifecycles import ApiKeyLifecycle
from thenga.domains.identity.permissions import Permission
from thenga.domains.identity.services import api_keys
from thenga.domains.identity.services.api_keys import Minted, ScopeUnfit
from thenga.domains.identity.services.roles import GrantAboveOwn
from thenga.domains.identity.tables import ApiKey, ApiKeyStatus
from thenga.kernel.db.paging import Paged
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.work import Work
from thenga.kernel.declare.lifecycle import AllowedMove
from thenga.kernel.errors import (
    EntitlementRequired,
    InvalidTransition,
    PlanLimitReached,
    RuleViolated,
)
from thenga.kernel.http.bodies import SHOWN_ONCE, Body, PageOf, Stored
from thenga.kernel.http.document.operations import PREFIX
from thenga.kernel.http.doors import router as make_router
from thenga.kernel.http.entrances import reads, writes
from thenga.kernel.http.lists import paged
from thenga.kernel.http.reference import problems
from thenga.kernel.values.fields import Instant, matching, text, whole
from thenga.kernel.values.networks import Network

router = make_router("Identity / API key")
ApiKeyId = Annotated[UUID, Path(alias="apiKeyId")]
Reason = Annotated[str, text(1, 500)]
PermissionCode = Annotated[str, matching("^[a-z_]{2,40}:[a-z_]{2,40}:[a-z_]{2,40}$", 122)]


class CreateApiKey(Body):
    """API key to create."""

    name: Annotated[str, text(1, 80)]
    scopes: Annotated[
        list[PermissionCode],
        Field(
            min_length=1,
            max_length=50,
            description="Permission codes that keys can hold and that you hold yourself.",
            examples=[["organization:equipment:read"]],
        ),
    ]
    expires_at: Annotated[
        Instant | None, Field(description="Expiry, within 365 days. Defaults to 90 days from now.")
    ] = None
    allowed_networks: Annotated[
        list[Network],
        Field(
            max_length=20,
            description="Networks that can use the key. If empty, the key works from anywhere.",
        ),
    ] = []
    reason: Annotated[
        Reason, Field(description="Why the key is needed. Stored in the audit trail.")
    ]


class RotateApiKey(Body):
    """Options for the successor of an API key."""

    grace_period_hours: Annotated[
        int,
        whole(0, 720),
        Field(description="Hours for which the old key still works. Use 0 after a leak."),
    ] = 24
    expires_at: Annotated[
        Instant | None, Field(description="Expiry of the successor. Defaults to 90 days from now.")
    ] = None
    reason: Reason


class RevokeApiKey(Body):
    """Reason for revoking an API key."""

    reason: Reason


class ApiKeyView(Stored):
    """An API key without its text. `prefix` and `last4` identify it."""

    organization_id: UUID
    name: str
    scopes: list[str]
    environment: Annotated[str, Field(description="`test` for a sandbox key, otherwise `live`.")]
    prefix: str
    last4: str
    allowed_networks: list[str]
    status: ApiKeyStatus
    status_reason: StatusReason | None
    status_changed_at: datetime | None
    status_changed_by: UUID | None
    expires_at: datetime
    sponsor_user_id: Annotated[UUID, Field(description="User responsible for the key.")]
    sponsor_state: str
    grace_ends_at: Annotated[
        datetime | None, Field(description="Time until which a rotated key still works.")
    ]
    rotated_from_id: UUID | None
    rotated_to_id: UUID | None
    last_used_at: Annotated[
        datetime | None, Field(description="Time of the last use, accurate to a minute.")
    ]
    last_used_network: str | None
    allowed_moves: list[AllowedMove]

    @classmethod
    def of(cls, key: ApiKey, now: datetime) -> "ApiKeyView":
        return cls.shown(_shown(key, now))


class NewApiKeyView(ApiKeyView):
    """A new API key with its text."""

    plaintext: Annotated[
        str | None,
        SHOWN_ONCE,
        Field(
            description=(
                "Text of the key. Shown only in this answer; null when the answer is repeated."
            )
        ),
    ]

    @property
    def own_path(self) -> str:
        """Where the key is read again; a successor stands beside the key it replaces."""
        return f"{PREFIX}/identity/api-keys/{self.id}"

    @classmethod
    def minted(cls, minted: Minted, now: datetime) -> "NewApiKeyView":
        return cls.shown(_shown(minted.key, now) | {"plaintext": minted.plaintext})


def _shown(key: ApiKey, now: datetime) -> dict[str, object]:
    status = api_keys.shown_status(key, now)
    known = status is key.status
    reason = None
    if key.status_code is not None:
        reason = StatusReason(code=key.status_code, text=key.status_text)
    return key.__dict__ | {
        "status": status,
        "status_reason": reason,
        "allowed_networks": [str(one) for one in key.allowed_networks],
        "allowed_moves": ApiKeyLifecycle.allowed(key, now) if known else [],
    }


@router.post(
    "/identity/api-keys",
    status_code=201,
    responses=problems(
        EntitlementRequired, PlanLimitReached, GrantAboveOwn, ScopeUnfit, RuleViolated
    ),
)
async def create_api_key(
    body: CreateApiKey, work: Annotated[Work, writes(Permission.API_KEY_CREATE)]
) -> NewApiKeyView:
    """Create an API key for your organization. Its text is shown once, in this answer.

    A key can do what its scopes allow, never more than you can do yourself, and nothing that needs
    recent proof of identity. Sandbox keys start with `thk_test_`, all others with `thk_live_`.
    """
    minted = await api_keys.create(
        work,
        name=body.name,
        scopes=body.scopes,
        expires_at=body.expires_at,
        allowed_networks=body.allowed_networks,
        reason=body.reason,
    )
    return NewApiKeyView.minted(minted, work.now)


@router.get("/identity/api-keys")
async def list_api_keys(
    read: Annotated[Reader, reads(Permission.API_KEY_READ)],
    page: Annotated[Paged, paged("createdAt", "lastUsedAt")],
    status: Annotated[ApiKeyStatus | None, Query()] = None,
    sponsor_user_id: Annotated[UUID | None, Query(alias="sponsorUserId")] = None,
    expiring_within_days: Annotated[
        int | None, Query(alias="expiringWithinDays", ge=1, le=365)
    ] = None,
) -> PageOf[ApiKeyView]:
    """List the API keys of your organization, including ended ones, without their text."""
    found = await api_keys.list_all(
        read,
        page,
        status=status,
        sponsor_user_id=sponsor_user_id,
        expiring_within_days=expiring_within_days,
    )
    now = read.now
    return PageOf[ApiKeyView].of(found, lambda key: ApiKeyView.of(key, now))


@router.get("/identity/api-keys/{apiKeyId}")
async def get_api_key(
    api_key_id: ApiKeyId, read: Annotated[Reader, reads(Permission.API_KEY_READ)]
) -> ApiKeyView:
    """Retrieve an API key, without its text."""
    return ApiKeyView.of(await read.get(ApiKey, api_key_id), read.now)


@router.post(
    "/identity/api-keys/{apiKeyId}/rotate",
    status_code=201,
    responses=problems(
        EntitlementRequired, PlanLimitReached, GrantAboveOwn, InvalidTransition, RuleViolated
    ),
)
async def rotate_api_key(
    api_key_id: ApiKeyId,
    body: RotateApiKey,
    work: Annotated[Work, writes(Permission.API_KEY_ROTATE)],
) -> NewApiKeyView:
    """Replace an API key with a successor that has the same name, scopes and networks.

    Both work until the grace period ends, so that programs can switch without a gap. With
    `gracePeriodHours` 0 the old key stops working at once. You must hold the permissions of the key
    yourself.
    """
    minted = await api_keys.rotate(
        work,
        api_key_id,
        grace=timedelta(hours=body.grace_period_hours),
        expires_at=body.expires_at,
        reason=body.reason,
    )
    return NewApiKeyView.minted(minted, work.now)


@router.post("/identity/api-keys/{apiKeyId}/revoke", responses=problems(InvalidTransition))
async def revoke_api_key(
    api_key_id: ApiKeyId,
    body: RevokeApiKey,
    work: Annotated[Work, writes(Permission.API_KEY_REVOKE)],
) -> ApiKeyView:
    """Revoke an API key permanently. The next request with it is refused."""
    return ApiKeyView.of(await api_keys.revoke(work, api_key_id, reason=body.reason), work.now)
