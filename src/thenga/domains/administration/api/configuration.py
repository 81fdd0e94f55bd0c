"""Configuration: versions of settings, each approved by another person."""

from datetime import datetime
from typing import Annotated, Any, Literal
from uuid import UUID

from fastapi import Path, Query
from pydantic import Field

from thenga.domains.administration.api.documents import JsonDocument
from thenga.domains.administration.lifecycles import ConfigurationLifecycle
from thenga.domains.administration.permissions import Permission
from thenga.domains.administration.schemas.reasons import Reasoned
from thenga.domains.administration.services import configuration
from thenga.domains.administration.services.configuration import (
    BaseVersionOutdated,
    ChangeInFlight,
    EffectiveDateInvalid,
    Phase,
    UnknownKey,
    ValueInvalid,
)
from thenga.domains.administration.tables import ConfigurationStatus, ConfigurationVersion
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
from thenga.kernel.values.fields import Instant, Note, matching, whole

router = make_router("Administration / Configuration")

VersionId = Annotated[UUID, Path(alias="versionId", description="ID of the version of a setting.")]
Key = Annotated[str, matching(r"^[a-z][a-z0-9]*(\.[a-z][A-Za-z0-9_]*){1,4}$", 120)]
DomainName = Annotated[str, matching("^[a-z]{2,40}$", 40)]


class ChangeSetting(Reasoned):
    """A new version of a setting."""

    key: Annotated[Key, Field(description="Key of the setting, for example `law.vat.rate`.")]
    value: Annotated[JsonDocument, Field(description="New value, in the type of the setting.")]
    base_version: Annotated[
        int,
        whole(0, 2**31 - 1),
        Field(description="Number of the newest approved version you read; 0 if none."),
    ]
    effective_from: Annotated[
        Instant | None,
        Field(description="Time from which it applies. Defaults to now; at most 366 days ahead."),
    ] = None
    note: Annotated[Note | None, Field(description="Note for the person who approves it.")] = None


class ScopeView(View):
    """Where a value applies."""

    kind: Annotated[Literal["platform"], Field(description="`platform` is everywhere.")]


class AcknowledgementView(View):
    """Answer of a domain."""

    domain: Annotated[str, Field(description="Domain that uses the setting.")]
    outcome: Annotated[str, Field(description="`applied` or `refused`.")]
    refusal_code: Annotated[str | None, Field(description="Why it was refused.")]
    at: Annotated[datetime, Field(description="When the answer arrived.")]


class ConfigurationView(Stored):
    """A version of a setting. It never changes; a correction is a new version."""

    key: Annotated[str, Field(description="Key of the setting.")]
    scope: Annotated[ScopeView, Field(description="Where it applies.")]
    number: Annotated[int, Field(description="Number of this version of the setting.")]
    value: Annotated[Any, Field(description="Value of this version.")]
    base_version: Annotated[int, Field(description="Number of the version it replaces; 0 if none.")]
    effective_from: Annotated[datetime, Field(description="Time from which it applies.")]
    note: Annotated[str | None, Field(description="Note of the author.")]
    status: Annotated[ConfigurationStatus, Field(description="Status of the version.")]
    phase: Annotated[
        Phase | None, Field(description="Whether it applies now. Null if it is not approved.")
    ]
    schema_hash: Annotated[str, Field(description="Hash of the JSON Schema used to check it.")]
    created_by: Annotated[UUID, Field(description="Person who created it.")]
    decided_by: Annotated[UUID | None, Field(description="Person who approved or rejected it.")]
    decided_at: Annotated[datetime | None, Field(description="Time of the decision.")]
    acknowledgements: Annotated[
        list[AcknowledgementView], Field(description="Answers of the domains that use the setting.")
    ]
    allowed_moves: Annotated[
        list[AllowedMove],
        Field(description="Operations that are possible now, and why the others are not."),
    ]

    @classmethod
    def of(
        cls, version: ConfigurationVersion, phase: Phase | None, now: datetime
    ) -> "ConfigurationView":
        answered = sorted(version.acknowledgements.items())
        return cls.shown(
            version.__dict__
            | {
                "scope": ScopeView(kind="platform"),
                "phase": phase,
                "acknowledgements": [
                    AcknowledgementView.model_validate({"domain": name} | answer)
                    for name, answer in answered
                ],
                "allowed_moves": ConfigurationLifecycle.allowed(version, now, by=By.STAFF),
            }
        )


@router.get("/administration/configuration")
async def list_configuration(
    read: Annotated[Reader, reads(Permission.CONFIGURATION_READ)],
    page: Annotated[Paged, paged("createdAt", "effectiveFrom", default="-createdAt")],
    key: Annotated[Key | None, Query(description="Filter by key.")] = None,
    domain: Annotated[
        DomainName | None, Query(description="Filter by the first part of the key.")
    ] = None,
    status: Annotated[ConfigurationStatus | None, Query(description="Filter by status.")] = None,
    phase: Annotated[Phase | None, Query(description="Filter by phase.")] = None,
    since: Annotated[
        Instant | None, Query(alias="from", description="Applies from this time or later.")
    ] = None,
    until: Annotated[
        Instant | None, Query(alias="to", description="Applies from a time before this one.")
    ] = None,
) -> PageOf[ConfigurationView]:
    """List versions of settings, newest first."""
    found = await configuration.list_versions(
        read,
        page,
        key=key,
        domain=domain,
        status=status,
        phase=phase,
        since=since,
        until=until,
    )
    shown = await configuration.phases(read, found.items)
    return PageOf[ConfigurationView].of(
        found, lambda one: ConfigurationView.of(one, shown[one.id], read.now)
    )


@router.get("/administration/configuration/{versionId}")
async def get_configuration(
    version_id: VersionId, read: Annotated[Reader, reads(Permission.CONFIGURATION_READ)]
) -> ConfigurationView:
    """Get a version of a setting with the answer of each domain."""
    return await _view(read, await read.get(ConfigurationVersion, version_id))


@router.post(
    "/administration/configuration",
    status_code=201,
    responses=problems(
        *(UnknownKey, ValueInvalid, EffectiveDateInvalid, BaseVersionOutdated, ChangeInFlight)
    ),
)
async def create_configuration(
    body: ChangeSetting, work: Annotated[Work, writes(Permission.CONFIGURATION_CREATE)]
) -> ConfigurationView:
    """Create the next version of a setting.

    Another person must approve it, unless the setting needs no approval. Send the number of the
    newest version you have seen in `baseVersion`, so that no change is lost.
    """
    made = await configuration.create(
        work,
        key=body.key,
        value=body.value,
        base_version=body.base_version,
        effective_from=body.effective_from,
        note=body.note,
        reason=body.reason,
    )
    return await _view(work, made)


@router.post(
    "/administration/configuration/{versionId}/approve",
    responses=problems(SamePerson, InvalidTransition, UnknownKey, ValueInvalid),
)
async def approve_configuration(
    version_id: VersionId,
    body: Reasoned,
    work: Annotated[Work, writes(Permission.CONFIGURATION_APPROVE, if_match=True)],
) -> ConfigurationView:
    """Approve a version that another person created.

    Requires recent identity verification and `If-Match`. Domains that use the setting apply the
    version from `effectiveFrom` on and acknowledge it.
    """
    return await _view(work, await configuration.approve(work, version_id, reason=body.reason))


@router.post(
    "/administration/configuration/{versionId}/reject",
    responses=problems(SamePerson, InvalidTransition),
)
async def reject_configuration(
    version_id: VersionId,
    body: Reasoned,
    work: Annotated[Work, writes(Permission.CONFIGURATION_APPROVE)],
) -> ConfigurationView:
    """Reject a version that another person created. It never applies."""
    return await _view(work, await configuration.reject(work, version_id, reason=body.reason))


async def _view(read: Reader, version: ConfigurationVersion) -> ConfigurationView:
    shown = await configuration.phases(read, [version])
    return ConfigurationView.of(version, shown[version.id], read.now)
