"""What other domains ask of Organization, and what they may tell it by command."""

from abc import abstractmethod
from datetime import date, datetime
from typing import Literal
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field, JsonValue

from thenga.domains.organization.public.facts import Producer
from thenga.kernel.declare.port import Port, idempotent

_VALUE = ConfigDict(frozen=True)

Purpose = Literal[
    "display", "match", "reasoning", "funding_application", "bid_form", "compliance_check"
]


class Ref(BaseModel):
    """A citation of one version of a fact or record; a fact is `<organizationId>:<factKey>`."""

    model_config = _VALUE

    domain: Literal["organization"] = "organization"
    type: str
    id: str
    version: int


class Provenance(BaseModel):
    """Who stands behind a value."""

    model_config = _VALUE

    kind: str
    recorded_at: datetime
    source: dict[str, JsonValue] | None = None


class FactView(BaseModel):
    """One fact as another domain sees it; secrets are masked or left out."""

    model_config = _VALUE

    ref: Ref
    key: str
    value: JsonValue
    version: int
    provenance: Provenance
    verification_status: str
    verified_until: datetime | None
    conflict: bool
    stale: bool


class RecordView(BaseModel):
    """One record as another domain sees it; `summary` holds what the purpose may see of it."""

    model_config = _VALUE

    ref: Ref
    type: str
    status: str
    verification_status: str | None = None
    summary: dict[str, JsonValue] = {}


class ProfileView(BaseModel):
    """A company as one purpose may see it."""

    model_config = _VALUE

    status: str
    moved_to: UUID | None = None
    facts: list[FactView]
    records: list[RecordView]
    as_of_version: int


class Resolved(BaseModel):
    """What became of a citation; what one may not know of is `forbidden`."""

    model_config = _VALUE

    ref: Ref
    state: Literal["live", "stale", "moved", "erased", "forbidden"]
    current_version: int | None = None
    changed_fields: list[str] = []
    moved_to: UUID | None = None


class VerifiedFact(BaseModel):
    """A public fact that was checked, for a card."""

    model_config = _VALUE

    fact_key: str
    checked_at: datetime
    valid_until: datetime | None = None


class Card(BaseModel):
    """The only thing about a company that a display for another one may get."""

    model_config = _VALUE

    organization_id: UUID
    display_name: str
    legal_form: str | None
    registration_number: str | None
    provinces: list[str]
    status: str
    verified_facts: list[VerifiedFact]
    as_of_version: int


class Profiles(Port, name="organization.profiles", timeout=0.5):
    """Who a company says it is. Silence means unknown; a card that is not answered is not shown.

    `describe` tells the records in force of the types `capability`, `past_project`, `service`,
    `product`, `equipment`, `director`, `address`, `contact` and `user` (who may sign), at most 500
    of each in the order of their ids; `records_after` goes on behind the last one told. `resolve`
    answers for records of the organization that is named; a fact names its own.
    """

    @abstractmethod
    @idempotent
    async def describe(
        self,
        *,
        organization_id: UUID,
        purpose: Purpose,
        fact_keys: list[str] | None = None,
        record_types: list[str] | None = None,
        on: date | None = None,
        records_after: UUID | None = None,
    ) -> ProfileView: ...

    @abstractmethod
    @idempotent
    async def resolve(
        self, *, refs: list[Ref], organization_id: UUID | None = None
    ) -> list[Resolved]: ...

    @abstractmethod
    @idempotent
    async def cards(self, *, organization_ids: list[UUID]) -> list[Card]: ...

    @abstractmethod
    @idempotent
    async def mode(self, *, organization_id: UUID) -> Literal["live", "sandbox"]: ...

    @abstractmethod
    @idempotent
    async def time_zone(self, *, organization_id: UUID) -> str: ...


class SuggestionSource(BaseModel):
    """Where a machine read what it suggests; its text is data, never markup or a link."""

    model_config = _VALUE

    reference: str = Field(min_length=1, max_length=300)
    page: int | None = None
    excerpt: str | None = Field(default=None, max_length=300)


class Suggested(BaseModel):
    """The suggestion that waits for a person now."""

    model_config = _VALUE

    suggestion_id: UUID
    status: str
    created: bool


class Suggestions(Port, name="organization.suggestions", timeout=1.0):
    """Where machines bring what they think. The same key is taken once; silence: ask again."""

    @abstractmethod
    @idempotent
    async def propose(
        self,
        *,
        organization_id: UUID,
        key: str,
        fact_key: str,
        value: JsonValue,
        confidence: float,
        sources: list[SuggestionSource],
        produced_by: Producer,
        base_version: int | None = None,
        guardrail_outcome: str | None = None,
    ) -> Suggested: ...


class Recorded(BaseModel):
    """The check as it was written down; another company holding the number makes it open."""

    model_config = _VALUE

    verification_id: UUID | None
    outcome: str
    fact_version: int
    verification_status: str
    held_elsewhere: bool = False


class Verifications(Port, name="organization.verifications", timeout=1.0):
    """Where domains report what they checked. The same key is taken once; silence: ask again."""

    @abstractmethod
    @idempotent
    async def record(
        self,
        *,
        organization_id: UUID,
        key: str,
        fact_key: str,
        outcome: Literal["verified", "failed", "inconclusive"],
        method: Literal["registry", "document", "manual", "client_confirmation", "contract"],
        source: dict[str, JsonValue],
        value: JsonValue = None,
        valid_until: datetime | None = None,
        note: str | None = None,
    ) -> Recorded: ...


DisclosurePurpose = Literal["bid_form", "invoice", "funding_application"]


class DisclosureReference(BaseModel):
    """The form, invoice or application of another domain that the values are used for."""

    model_config = _VALUE

    domain: str = Field(pattern="^[a-z]{3,20}$")
    type: str = Field(pattern="^[a-z][A-Za-z]{1,39}$")
    id: UUID
    version: int | None = None


class Disclosed(BaseModel):
    """The plain values of one subject in its current version; keep the document, not the value."""

    model_config = _VALUE

    ref: Ref
    version: int
    values: dict[str, JsonValue]


class Disclosures(Port, name="organization.disclosures", timeout=1.0):
    """Sealed and masked values for one purpose, on behalf of a person who holds the right to them.

    Subjects are directors (field `idNumber`) and facts (field: the fact's key). `bid_form` may
    have identity and tax numbers, `invoice` the bank account, `funding_application` all of them.
    One disclosure is written down for each key; the same key gives the same values again, and is
    refused if they have changed. Silence: the field stays blank.
    """

    @abstractmethod
    @idempotent
    async def reveal(
        self,
        *,
        organization_id: UUID,
        subjects: list[Ref],
        fields: list[str],
        purpose: DisclosurePurpose,
        reference: DisclosureReference,
        on_behalf_of: UUID,
        key: str,
    ) -> list[Disclosed]: ...


class Clocks(Port, name="organization.clocks", timeout=1.0):
    """Moves the clock of a sandbox forward; how far it is ahead afterwards. Silence: ask again."""

    @abstractmethod
    @idempotent
    async def move(self, *, organization_id: UUID, ahead_seconds: int) -> int: ...


PORTS = (Profiles, Suggestions, Verifications, Disclosures, Clocks)
