"""What Organization tells of the company and its facts."""

from datetime import datetime
from uuid import UUID

from pydantic import BaseModel, ConfigDict
from pydantic.alias_generators import to_camel

from thenga.kernel.declare.event import Event

_WIRE = ConfigDict(frozen=True, alias_generator=to_camel, populate_by_name=True)


class OrganizationCreated(
    Event, type="organization.OrganizationCreated.v1", subject="organization_id"
):
    """A company is on the platform; whoever founded it becomes its first owner."""

    organization_id: UUID
    created_by_user_id: UUID
    organization_type: str
    mode: str
    status: str


class FactChange(BaseModel):
    """What happened to one fact; the value is read through the port, never carried."""

    model_config = _WIRE

    fact_key: str
    fact_version: int
    kind: str
    change: str
    conflict_status: str
    verification_status: str


class ProfileFactChanged(
    Event, type="organization.ProfileFactChanged.v1", subject="organization_id"
):
    """Facts of the profile were stated, withdrawn, checked, resolved or confirmed, in one command.

    `change` is `stated`, `withdrawn`, `verified`, `conflict`, `resolved`, `confirmed` or
    `activated`; `conflict` says that live statements differ from now on.
    """

    organization_id: UUID
    changes: list[FactChange]


class CheckedSubject(BaseModel):
    """What a check is about: a fact, or a record of some type; and the version of it."""

    model_config = _WIRE

    fact_key: str | None = None
    record_type: str | None = None
    record_id: UUID | None = None
    version: int


class VerificationRequested(
    Event, type="organization.VerificationRequested.v1", subject="subject_id"
):
    """The company asks that one of its facts or records be checked."""

    organization_id: UUID
    subject_id: UUID
    subject_of: CheckedSubject


class FactVerificationExpired(
    Event, type="organization.FactVerificationExpired.v1", subject="verification_id"
):
    """A check is over; what it proved counts as unproven again. Told once a check."""

    organization_id: UUID
    verification_id: UUID
    subject_of: CheckedSubject
    expired_at: datetime


class FactStale(Event, type="organization.FactStale.v1", subject="freshness_id"):
    """Nobody has said for long that a fact is still right; told once until it is confirmed."""

    organization_id: UUID
    freshness_id: UUID
    subject_of: CheckedSubject
    stale_after: datetime


class SensitiveFactChangeAnnounced(
    Event, type="organization.SensitiveFactChangeAnnounced.v1", subject="statement_id"
):
    """Somebody changed the bank account; every owner is told at once, the change comes later."""

    organization_id: UUID
    statement_id: UUID
    fact_key: str
    effective_from: datetime


class SensitiveFactDisclosed(
    Event,
    type="organization.SensitiveFactDisclosed.v1",
    subject="disclosure_id",
    resource="disclosure",
):
    """Another domain was given sealed or masked values for a person; the values are not carried."""

    organization_id: UUID
    disclosure_id: UUID
    on_behalf_of: UUID
    purpose: str
    subjects: list[CheckedSubject]
    fields: list[str]


class SuggestionTarget(BaseModel):
    """What a suggestion is about: a fact, or a field of a record that is there or would be new."""

    model_config = _WIRE

    fact_key: str | None = None
    record_type: str | None = None
    record_id: UUID | None = None
    field: str | None = None


class Producer(BaseModel):
    """Which program made a suggestion, and in which run of it."""

    model_config = _WIRE

    name: str
    version: str
    execution_id: UUID | None = None


class OrganizationFactSuggested(
    Event, type="organization.OrganizationFactSuggested.v1", subject="suggestion_id"
):
    """A machine suggests a value; the fact itself is unchanged."""

    organization_id: UUID
    suggestion_id: UUID
    target: SuggestionTarget
    confidence: float
    produced_by: Producer


class SuggestionDecided(Event, type="organization.SuggestionDecided.v1", subject="suggestion_id"):
    """A suggestion was accepted, edited, rejected, overtaken or forgotten; for calibration."""

    organization_id: UUID
    suggestion_id: UUID
    target: SuggestionTarget
    decision: str
    edited: bool
    confidence: float
    produced_by: Producer


class SandboxClockMoved(Event, type="organization.SandboxClockMoved.v1", subject="organization_id"):
    """A sandbox's clock was moved forward; every domain follows it."""

    organization_id: UUID
    ahead_seconds: int
    move_number: int


EVENTS = (
    OrganizationCreated,
    ProfileFactChanged,
    VerificationRequested,
    FactVerificationExpired,
    FactStale,
    SensitiveFactChangeAnnounced,
    SensitiveFactDisclosed,
    OrganizationFactSuggested,
    SuggestionDecided,
    SandboxClockMoved,
)
