"""What every record shows, and how its versions look."""

from datetime import datetime
from typing import Annotated, Any, Literal
from uuid import UUID

from fastapi import Path
from pydantic import BaseModel, Field
from pydantic_core import to_jsonable_python

from thenga.domains.organization.services import records
from thenga.domains.organization.tables import Record, RecordKind, RecordVersion
from thenga.kernel.access.actors import ActorKind
from thenga.kernel.http.bodies import Body, Stored, View
from thenga.kernel.values.fields import matching

Province = Literal["EC", "FS", "GP", "KZN", "LP", "MP", "NW", "NC", "WC"]
Country = Annotated[str, matching("^[A-Z]{2}$", 2)]
OrganizationId = Annotated[UUID, Path(alias="organizationId")]
VersionNumber = Annotated[int, Path(alias="version", ge=1, le=2**31 - 1)]


class ReferenceBody(Body):
    """Something that another domain keeps: a document, a piece of evidence, a contract."""

    domain: Annotated[str, matching("^[a-z]{3,20}$", 20)]
    type: Annotated[str, matching("^[a-z][A-Za-z]{1,39}$", 40)]
    id: UUID


class ReferenceView(View):
    domain: str
    type: str
    id: UUID


class RecordProvenanceView(View):
    """Who said it, and when."""

    kind: RecordKind
    source: Annotated[
        dict[str, Any] | None, Field(description="Where it was taken from, as a reference.")
    ]
    confidence: Annotated[
        float | None, Field(description="Of a machine's suggestion, 0 to 1; null for people.")
    ]
    recorded_at: datetime


class FieldProvenanceView(View):
    kind: RecordKind
    version: Annotated[int, Field(description="The version that last changed the field.")]


class RecordView(Stored):
    """What every record shows."""

    organization_id: UUID
    provenance: Annotated[RecordProvenanceView, Field(description="Of the latest version.")]
    field_provenance: Annotated[
        dict[str, FieldProvenanceView], Field(description="By field: who last said it.")
    ]
    archived_at: datetime | None


class VersionView(View):
    """A record as it stood after one change; cite it as `{type, id, version}`."""

    record_type: str
    record_id: UUID
    version: int
    kind: RecordKind
    source: dict[str, Any] | None
    changed_fields: list[str]
    snapshot: Annotated[
        dict[str, Any], Field(description="The fields as they were; secret ones are masked.")
    ]
    erased: Annotated[
        bool, Field(description="What it held of a person was erased and is shown as null.")
    ]
    actor_kind: Annotated[ActorKind, Field(description="Who changed it: a person, a key, us.")]
    actor_id: UUID | None
    recorded_at: datetime

    @classmethod
    def of(cls, version: RecordVersion) -> "VersionView":
        return cls.shown(
            version.__dict__
            | {
                "version": version.record_version,
                "recorded_at": version.created_at,
                "erased": version.sealed is not None,
            }
        )


class ErasureView(View):
    """The receipt of an erasure; it holds nothing of the person."""

    record_type: str
    record_id: UUID
    outcome: Literal["erased"]
    erased_at: datetime | None

    @classmethod
    def of(cls, row: Record, erased_at: datetime | None) -> "ErasureView":
        return cls(
            record_type=records.type_of(row),
            record_id=row.id,
            outcome="erased",
            erased_at=erased_at,
        )


def given(body: Body) -> dict[str, Any]:
    """All fields of a new record as they are stored."""
    return stored({name: getattr(body, name) for name in type(body).model_fields})


def stored(fields: dict[str, Any]) -> dict[str, Any]:
    """Fields of a body as they are stored: what has parts becomes JSON."""
    return {
        name: to_jsonable_python(value, by_alias=False)
        if isinstance(value, BaseModel | list)
        else value
        for name, value in fields.items()
    }


def shown(row: Record) -> dict[str, Any]:
    """The columns of a record with what `RecordView` adds to them."""
    return {**row.__dict__, **records.origins(row)}
