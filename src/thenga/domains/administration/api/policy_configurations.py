"""Policy configurations: documents that the target domain enforces once another person approved."""

from datetime import datetime
from typing import Annotated, Any
from uuid import UUID

from fastapi import Path, Query
from pydantic import Field

from thenga.domains.administration.api.configuration import DomainName, Key, ScopeView
from thenga.domains.administration.api.documents import JsonDocument
from thenga.domains.administration.lifecycles import PolicyLifecycle
from thenga.domains.administration.permissions import Permission
from thenga.domains.administration.schemas.reasons import Reasoned
from thenga.domains.administration.services import policies
from thenga.domains.administration.services.configuration import (
    ChangeInFlight,
    EffectiveDateInvalid,
    UnknownKey,
)
from thenga.domains.administration.services.policies import PolicyInvalid
from thenga.domains.administration.tables import PolicyConfiguration, PolicyKind, PolicyStatus
from thenga.kernel.db.paging import Paged
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.work import Work
from thenga.kernel.declare.lifecycle import AllowedMove, By
from thenga.kernel.errors import InvalidTransition, SamePerson
from thenga.kernel.http.bodies import PageOf, Stored, View
from thenga.kernel.http.doors import router as make_router
from thenga.kernel.http.entrances import reads, writes
from thenga.kernel.http.lists import paged
from thenga.kernel.http.reference import problems
from thenga.kernel.values.fields import Instant, Note

router = make_router("Administration / Policy")

ConfigId = Annotated[UUID, Path(alias="configId", description="ID of the policy configuration.")]


class SubmitPolicy(Reasoned):
    """A policy document to submit."""

    policy_key: Annotated[Key, Field(description="Key of the policy, for example `billing.pause`.")]
    document: Annotated[
        JsonDocument,
        Field(description="The policy: a JSON document, or Cedar text for `identity.access`."),
    ]
    effective_from: Annotated[
        Instant | None,
        Field(description="Time from which it applies. Defaults to now; at most 366 days ahead."),
    ] = None
    note: Annotated[Note | None, Field(description="Note for the person who approves it.")] = None


class PolicyAcknowledgementView(View):
    """Answer of the target domain."""

    outcome: Annotated[str, Field(description="`applied` or `refused`.")]
    at: Annotated[datetime, Field(description="When the answer arrived.")]
    number: Annotated[int, Field(description="Number of the document it answers.")]
    refusal_code: Annotated[str | None, Field(description="Why it was refused.")]


class PolicyView(Stored):
    """A numbered document of a policy: published by us, enforced by the target domain."""

    policy_key: Annotated[str, Field(description="Key of the policy.")]
    scope: Annotated[ScopeView, Field(description="Where it applies.")]
    policy_number: Annotated[int, Field(description="Number of this document of the policy.")]
    based_on: Annotated[int, Field(description="Number of the document before it; 0 if none.")]
    target_domain: Annotated[str, Field(description="Domain that enforces it.")]
    kind: Annotated[PolicyKind, Field(description="Kind of document.")]
    document: Annotated[Any, Field(description="Policy document.")]
    document_hash: Annotated[str, Field(description="SHA-256 of the document.")]
    effective_from: Annotated[datetime, Field(description="Time from which it applies.")]
    note: Annotated[str | None, Field(description="Note of the author.")]
    status: Annotated[PolicyStatus, Field(description="Status of the policy.")]
    late: Annotated[
        bool, Field(description="Whether the acknowledgement of its domain is overdue.")
    ]
    blocked: Annotated[str | None, Field(description="Why it was not published after approval.")]
    created_by: Annotated[UUID, Field(description="Person who submitted it.")]
    approved_by: Annotated[UUID | None, Field(description="Person who approved or rejected it.")]
    approved_at: Annotated[datetime | None, Field(description="Time of the decision.")]
    published_at: Annotated[datetime | None, Field(description="When it was first published.")]
    publish_attempts: Annotated[int, Field(description="Number of times it was published.")]
    acknowledgement: Annotated[
        PolicyAcknowledgementView | None, Field(description="Answer of the target domain.")
    ]
    enforcement_lag_seconds: Annotated[
        int | None, Field(description="Seconds from publishing to the answer.")
    ]
    ignored_acknowledgements: Annotated[
        int,
        Field(description="Number of ignored answers, from another domain or to another number."),
    ]
    allowed_moves: Annotated[
        list[AllowedMove],
        Field(description="Operations that are possible now, and why the others are not."),
    ]

    @classmethod
    def of(
        cls, policy: PolicyConfiguration, *, late_since: datetime, now: datetime
    ) -> "PolicyView":
        return cls.shown(
            policy.__dict__
            | {
                "scope": ScopeView(kind="platform"),
                "late": policies.is_late(policy, late_since),
                "acknowledgement": _acknowledgement(policy),
                "enforcement_lag_seconds": policies.lag_seconds(policy),
                "allowed_moves": PolicyLifecycle.allowed(policy, now, by=By.STAFF),
            }
        )


def _acknowledgement(policy: PolicyConfiguration) -> PolicyAcknowledgementView | None:
    if policy.acknowledged_at is None:
        return None
    refused = policy.status is PolicyStatus.REFUSED
    return PolicyAcknowledgementView(
        outcome="refused" if refused else "applied",
        at=policy.acknowledged_at,
        number=policy.policy_number,
        refusal_code=policy.refusal_code,
    )


@router.get("/administration/policy-configurations")
async def list_policy_configurations(
    read: Annotated[Reader, reads(Permission.POLICY_CONFIGURATION_READ)],
    page: Annotated[Paged, paged("createdAt", default="-createdAt")],
    policy_key: Annotated[
        Key | None, Query(alias="policyKey", description="Filter by key.")
    ] = None,
    target_domain: Annotated[
        DomainName | None, Query(alias="targetDomain", description="Filter by domain.")
    ] = None,
    status: Annotated[PolicyStatus | None, Query(description="Filter by status.")] = None,
    in_force: Annotated[
        bool | None, Query(alias="inForce", description="Filter by whether it is enforced now.")
    ] = None,
    late: Annotated[
        bool | None, Query(description="Filter by whether the answer is overdue.")
    ] = None,
) -> PageOf[PolicyView]:
    """List all versions of policies, newest first."""
    found = await policies.list_policies(
        read,
        page,
        policy_key=policy_key,
        target_domain=target_domain,
        status=status,
        in_force=in_force,
        late=late,
    )
    since = await policies.late_since(read)
    return PageOf[PolicyView].of(
        found, lambda one: PolicyView.of(one, late_since=since, now=read.now)
    )


@router.get("/administration/policy-configurations/{configId}")
async def get_policy_configuration(
    config_id: ConfigId, read: Annotated[Reader, reads(Permission.POLICY_CONFIGURATION_READ)]
) -> PolicyView:
    """Get a policy with its publication and what its domain enforces."""
    return await _view(read, await read.get(PolicyConfiguration, config_id))


@router.post(
    "/administration/policy-configurations",
    status_code=201,
    responses=problems(UnknownKey, PolicyInvalid, EffectiveDateInvalid, ChangeInFlight),
)
async def create_policy_configuration(
    body: SubmitPolicy, work: Annotated[Work, writes(Permission.POLICY_CONFIGURATION_CREATE)]
) -> PolicyView:
    """Submit a policy under its next number. The target domain checks the document now.

    Another person approves it. One document of a policy can be in progress at a time.
    """
    made = await policies.create(
        work,
        policy_key=body.policy_key,
        document=body.document,
        effective_from=body.effective_from,
        note=body.note,
        reason=body.reason,
    )
    return await _view(work, made)


@router.post(
    "/administration/policy-configurations/{configId}/approve",
    responses=problems(SamePerson, InvalidTransition),
)
async def approve_policy_configuration(
    config_id: ConfigId,
    body: Reasoned,
    work: Annotated[Work, writes(Permission.POLICY_CONFIGURATION_APPROVE, if_match=True)],
) -> PolicyView:
    """Approve a policy that another person submitted.

    Requires recent identity verification and `If-Match`. It is published shortly after if you are
    still allowed to approve it then.
    """
    return await _view(work, await policies.approve(work, config_id, reason=body.reason))


@router.post(
    "/administration/policy-configurations/{configId}/reject",
    responses=problems(SamePerson, InvalidTransition),
)
async def reject_policy_configuration(
    config_id: ConfigId,
    body: Reasoned,
    work: Annotated[Work, writes(Permission.POLICY_CONFIGURATION_APPROVE)],
) -> PolicyView:
    """Reject a policy that another person submitted."""
    return await _view(work, await policies.reject(work, config_id, reason=body.reason))


@router.post(
    "/administration/policy-configurations/{configId}/withdraw",
    responses=problems(InvalidTransition),
)
async def withdraw_policy_configuration(
    config_id: ConfigId,
    body: Reasoned,
    work: Annotated[Work, writes(Permission.POLICY_CONFIGURATION_SUBMIT)],
) -> PolicyView:
    """Withdraw your own policy before it is published."""
    return await _view(work, await policies.withdraw(work, config_id, reason=body.reason))


async def _view(read: Reader, policy: PolicyConfiguration) -> PolicyView:
    since = await policies.late_since(read)
    return PolicyView.of(policy, late_since=since, now=read.now)
