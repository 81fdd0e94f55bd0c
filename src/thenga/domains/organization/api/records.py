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
VersionNumber = Annotated[int, Path(alias="version", ge=1, le=2**31 - 1)]


class ReferenceBody(Body):
    """Reference to a record of another domain: a document, evidence or a contract."""

    domain: Annotated[str, matching("^[a-z]{3,20}$", 20)]
    type: Annotated[str, matching("^[a-z][A-Za-z]{1,39}$", 40)]
    id: UUID


class ReferenceView(View):
    """Reference to a record of another domain."""

    domain: str
    type: str
    id: UUID


class RecordProvenanceView(View):
    """Source and time."""

    kind: RecordKind
    source: Annotated[dict[str, Any] | None, Field(description="Reference to the source.")]
    confidence: Annotated[
        float | None,
        Field(description="Confidence of a machine's suggestion, 0 to 1. Null for people."),
    ]
    recorded_at: datetime


class FieldProvenanceView(View):
    """Source of the latest value of a field."""

    kind: RecordKind
    version: Annotated[int, Field(description="Version that last changed the field.")]


class RecordView(Stored):
    """What every record shows."""

    organization_id: UUID
    provenance: Annotated[RecordProvenanceView, Field(description="Source of the latest version.")]
    field_provenance: Annotated[
        dict[str, FieldProvenanceView], Field(description="Source of each field's latest value.")
    ]
    archived_at: datetime | None


class VersionView(View):
    """A record as it was after one change. Cite it as `{type, id, version}`."""

    record_type: str
    record_id: UUID
    version: int
    kind: RecordKind
    source: dict[str, Any] | None
    changed_fields: list[str]
    snapshot: Annotated[
        dict[str, Any], Field(description="Field values in this version. Secrets are masked.")
    ]
    erased: Annotated[
        bool, Field(description="Whether personal data was erased from this version.")
    ]
    actor_kind: Annotated[ActorKind, Field(description="Kind of actor that made the change.")]
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
    """Receipt of an erasure. It holds no personal data."""

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
