"""What an event is: a fact in the past, with identifiers, wrapped as a CloudEvent."""

from datetime import datetime
from enum import Enum
from typing import Any, ClassVar, Self
from uuid import UUID

from pydantic import BaseModel, ConfigDict
from pydantic.alias_generators import to_camel

from thenga.kernel.values.by_name import shown_values
from thenga.kernel.values.json_writer import to_json

EVENTS: dict[str, type["Event"]] = {}
LARGEST_BYTES = 256 * 1024


class Event(BaseModel):
    """A fact; the type reads `domain.EventName.vN` and stands whole in the class line.

    `subject` names the field that identifies the aggregate. Its version becomes the envelope's
    `sequence`, so a reader that copies state can ignore what is not newer. `resource` is what the
    aggregate is called, where the field is not named after it, or the field that says it.
    """

    model_config = ConfigDict(
        frozen=True, extra="forbid", alias_generator=to_camel, populate_by_name=True
    )

    type: ClassVar[str] = ""
    subject: ClassVar[str] = ""
    resource: ClassVar[str] = ""

    def __init_subclass__(
        cls,
        *,
        type: str = "",  # noqa: A002
        subject: str = "",
        resource: str = "",
        **config: Any,
    ) -> None:
        super().__init_subclass__(**config)
        if not type:
            return
        known = EVENTS.get(type)
        if known is not None and known.__qualname__ != cls.__qualname__:
            raise TypeError(f"event type {type!r} is declared twice")
        cls.type, cls.subject = type, subject
        cls.resource = resource or subject.removesuffix("_id")
        EVENTS[type] = cls

    @classmethod
    def of(cls, row: Any, **more: Any) -> Self:
        """The fact about a row: its columns by name, `more` for what it does not have.

        A field with a default needs a value as well, so that none is forgotten. The subject is the
        row itself, unless the row has a column of that name.
        """
        if cls.subject not in more and not hasattr(row, cls.subject) and cls._is_about(row):
            more[cls.subject] = row.id
        values = shown_values(cls, row, more)
        plain = {n: v.value if isinstance(v, Enum) else v for n, v in values.items()}
        return cls.model_validate(plain, by_name=True, from_attributes=True)

    @classmethod
    def _is_about(cls, row: Any) -> bool:
        """Whether the subject names this kind of row: `case_id` does for `support_case`."""
        table = str(row.__table__.name)
        stem = cls.subject.removesuffix("_id")
        return cls.resource == table or table == stem or table.endswith(f"_{stem}")

    @classmethod
    def domain(cls) -> str:
        return cls.type.split(".")[0]

    @classmethod
    def short_name(cls) -> str:
        return cls.type.split(".")[1]

    @property
    def aggregate_id(self) -> UUID:
        found = getattr(self, self.subject)
        assert isinstance(found, UUID)  # noqa: S101  # held by the sweep over the catalogue
        return found

    @property
    def aggregate(self) -> str:
        """The CloudEvents subject: `equipment/<id>`."""
        named = self.resource
        if named in type(self).model_fields:
            named = getattr(self, named)
        return f"{named}/{self.aggregate_id}"


class Envelope(BaseModel):
    """The CloudEvents attributes of a received event, and its data still untyped."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    id: UUID
    type: str
    source: str
    subject: str
    time: datetime
    organizationid: UUID | None = None
    actorid: UUID | None = None
    correlationid: str | None = None
    causationid: str | None = None
    traceparent: str | None = None
    sequence: int | None = None
    data: dict[str, Any]

    def event(self) -> Event:
        """The typed fact; an unknown type is a defect of whoever subscribed to it."""
        return EVENTS[self.type].model_validate(self.data)


def envelope_text(
    event: Event,
    *,
    id: UUID,  # noqa: A002  # the CloudEvents name
    time: datetime,
    sequence: int,
    organization_id: UUID | None,
    actor_id: UUID | None,
    correlation_id: str,
    causation_id: str | None,
    traceparent: str | None,
) -> str:
    """The CloudEvent as JSON text, made once and carried unchanged to every reader."""
    parts = {
        "specversion": "1.0",
        "id": id,
        "type": event.type,
        "source": f"/{event.domain()}",
        "subject": event.aggregate,
        "time": time,
        "datacontenttype": "application/json",
        "dataschema": f"/events#{event.type}",
        "organizationid": organization_id,
        "actorid": actor_id,
        "correlationid": correlation_id,
        "causationid": causation_id,
        "traceparent": traceparent,
        "sequence": sequence,
        "data": event,
    }
    told = {name: value for name, value in parts.items() if value is not None}
    text = to_json(told)
    if len(text) > LARGEST_BYTES:
        raise ValueError(f"{event.type} is larger than an event may be")
    return text.decode()


def mesh_subject(event: Event, organization_id: UUID | None) -> str:
    """`thenga.<domain>.<EventName>.<organizationId or _>`."""
    return f"thenga.{event.domain()}.{event.short_name()}.{organization_id or '_'}"
