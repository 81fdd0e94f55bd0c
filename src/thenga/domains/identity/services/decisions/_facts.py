"""What a decision may look at, true at one moment; how it is read stands in `_statement.py`."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID


@dataclass(slots=True)
class Facts:
    """One row of the gate's statement, in the order of its columns (IDN-30).

    Nothing here was told by whoever asks: all of it is Identity's own (IDN-27). Not frozen: sixty
    frozen fields take eight times as long to set, and every request sets them.
    """

    kind: str  # user, api_key or service
    user_id: UUID | None
    session_id: UUID | None
    key_id: UUID | None
    token_expires_at: datetime | None
    session_status: str | None
    session_kind: str | None
    assurance: str | None
    methods: list[str] | None
    authenticated_at: datetime | None
    proven_at: datetime | None
    idle_expires_at: datetime | None
    session_expires_at: datetime | None
    user_status: str | None
    staff: bool | None
    key_status: str | None
    key_code: str | None  # why a key ended
    key_expires_at: datetime | None
    key_grace_ends_at: datetime | None
    key_holds: bool
    network_allowed: bool
    method_allowed: bool
    mfa_needed: bool
    max_sign_in_age: timedelta | None
    tenant_id: UUID | None
    tenant_status: str | None
    capabilities_off: list[str] | None
    ahead: timedelta | None
    membership_id: UUID | None
    membership_status: str | None
    permission: str
    domain: str | None
    effect: str | None
    audiences: list[str] | None
    sensitivity: str | None
    feature: str | None
    agents: str | None
    while_suspended: bool | None
    roles: list[str] | None
    scopes: list[str] | None
    permission_status: str | None
    any_role: bool
    by_role: bool  # held in the whole organization: by a role, or given directly
    denied: bool  # an active deny for the whole organization
    held_in: list[str] | None  # resources it is held on, as `domain.type/id`
    denied_in: list[str] | None
    by_platform: bool
    signal_state: str | None
    signal_access: str | None
    signal_limit: int | None
    signal_used: int | None
    signal_resets_at: datetime | None
    signal_checked_at: datetime | None
    policy_label: str | None
    half: bool | None = None  # open to a sign-in that still needs its second factor
    factor_kinds: list[str] | None = None
    sandbox: bool | None = None  # whether the organization is one
    by_owner: bool = False  # held by the role owner in the whole organization
    people_only: bool | None = None  # no key, service or agent may use it
    sponsor_user_id: UUID | None = None  # of a key
    # Filled in only where Billing was asked for this very decision (IDN-32).
    billing: str = "not_asked"  # not_asked, answered or silent
    signal_remedy: dict[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked, beside the facts: the organization named, the resource and the context."""

    organization_id: UUID | None = None
    resource_type: str = ""
    resource_id: str | None = None
    parents: tuple[str, ...] = ()
    channel: str = "http"
    agent: bool = False
    amount: int = -1
    at_door: bool = False  # a route asks, which names no resource

    @property
    def places(self) -> frozenset[str]:
        """Where the resource is, itself first, as `domain.type/id`."""
        own = () if self.resource_id is None else (f"{self.resource_type}/{self.resource_id}",)
        return frozenset((*own, *self.parents))
