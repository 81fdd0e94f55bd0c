"""The event catalogue: an AsyncAPI document made from the event classes and the manifests."""

import inspect
from collections.abc import Sequence
from typing import Any

from thenga.kernel.declare.event import Event
from thenga.kernel.declare.manifest import Domain
from thenga.kernel.events.sample import sample

Json = dict[str, Any]

CONTENT_TYPE = "application/cloudevents+json"

_TEXT = {"type": "string"}
_UUID = {"type": "string", "format": "uuid"}
_ENVELOPE: Json = {
    "type": "object",
    "description": "CloudEvents 1.0 in JSON, with our extensions.",
    "required": [
        *("specversion", "id", "type", "source", "subject", "time"),
        *("datacontenttype", "dataschema", "correlationid", "sequence", "data"),
    ],
    "properties": {
        "specversion": {"const": "1.0"},
        "id": _UUID | {"description": "Also the message id of the mesh; take each id once."},
        "type": _TEXT | {"description": "`<domain>.<EventName>.v<number>`"},
        "source": _TEXT | {"description": "The domain that tells it: `/<domain>`"},
        "subject": _TEXT | {"description": "What it is about: `<resource>/<id>`"},
        "time": {"type": "string", "format": "date-time"},
        "datacontenttype": {"const": "application/json"},
        "dataschema": _TEXT | {"description": "Where the catalogue describes `data`."},
        "organizationid": _UUID | {"description": "Whose it is; absent for the platform's own."},
        "actorid": _UUID | {"description": "Who caused it."},
        "correlationid": _TEXT | {"description": "The request that all of it began with."},
        "causationid": _TEXT | {"description": "The event that caused this one."},
        "traceparent": _TEXT | {"description": "W3C trace context."},
        "sequence": {
            "type": "integer",
            "description": "The version of the subject; ignore what is not newer than you have.",
        },
        "data": {"type": "object"},
    },
}
_DESCRIPTION = (
    "Facts that the domains of Thenga tell. Each commits with the change that it tells of, reaches "
    "every subscriber at least once, and in order for one subject. A reader takes each `id` once."
)


def events(domains: Sequence[Domain]) -> list[type[Event]]:
    """Every event of these domains, in the order of the manifests."""
    return [event for domain in domains for event in domain.events]


def schemas(domains: Sequence[Domain]) -> dict[str, Json]:
    """The schema of each event's `data` by type; references point into its own `$defs`."""
    return {event.type: data_schema(event) for event in events(domains)}


def data_schema(event: type[Event], at: str = "#") -> Json:
    """The schema of `data`, where `at` is the place that it will stand in a document."""
    return event.model_json_schema(
        by_alias=True, mode="serialization", ref_template=at + "/$defs/{model}"
    )


def example(event: type[Event]) -> Json:
    """An envelope as a subscriber gets it, with sample values."""
    data = sample(data_schema(event))
    field = event.model_fields.get(event.subject)
    found = data.get((field.alias if field is not None else None) or event.subject)
    named = event.model_fields.get(event.resource)
    subject = event.resource if named is None else data[named.alias or event.resource]
    return {
        "specversion": "1.0",
        "id": "019a0000-0000-7000-8000-0000000000e1",
        "type": event.type,
        "source": f"/{event.domain()}",
        "subject": f"{subject}/{found}",
        "time": "2026-11-14T08:30:00Z",
        "datacontenttype": "application/json",
        "dataschema": f"/events#{event.type}",
        "organizationid": data.get("organizationId", "019a0000-0000-7000-8000-000000000001"),
        "correlationid": "019a0000-0000-7000-8000-0000000000f1",
        "sequence": 1,
        "data": data,
    }


def description(event: type[Event]) -> str:
    # Without a docstring of its own a model shows that of its base class.
    return inspect.cleandoc(vars(event).get("__doc__") or event.short_name())


def asyncapi(domains: Sequence[Domain]) -> Json:
    """The AsyncAPI 3.0 document: a channel for each event, who sends and who receives."""
    return {
        "asyncapi": "3.0.0",
        "info": {"title": "Events of Thenga", "version": "1", "description": _DESCRIPTION},
        "defaultContentType": CONTENT_TYPE,
        "channels": _channels(domains),
        "operations": _sending(domains) | _receiving(domains),
        "components": {
            "schemas": {
                "Envelope": _ENVELOPE,
                **{
                    e.type: data_schema(e, f"#/components/schemas/{e.type}")
                    for e in events(domains)
                },
            },
            "messages": {event.type: _message(event) for event in events(domains)},
        },
    }


def _channel(event: type[Event]) -> str:
    """Versions of one event share a channel, because they share an address on the mesh."""
    return f"{event.domain()}.{event.short_name()}"


def _channels(domains: Sequence[Domain]) -> Json:
    found: Json = {}
    for event in events(domains):
        channel = found.setdefault(
            _channel(event),
            {
                "address": f"thenga.{_channel(event)}.{{organizationId}}",
                "description": description(event),
                "messages": {},
                "parameters": {
                    "organizationId": {
                        "description": "The organization it belongs to, or `_` where to none."
                    }
                },
            },
        )
        channel["messages"][event.type] = {"$ref": f"#/components/messages/{event.type}"}
    return found


def _message(event: type[Event]) -> Json:
    return {
        "name": event.type,
        "title": event.short_name(),
        "summary": description(event).partition("\n")[0],
        "contentType": CONTENT_TYPE,
        "payload": {
            "allOf": [
                {"$ref": "#/components/schemas/Envelope"},
                {
                    "type": "object",
                    "properties": {
                        "type": {"const": event.type},
                        "source": {"const": f"/{event.domain()}"},
                        "dataschema": {"const": f"/events#{event.type}"},
                        "data": {"$ref": f"#/components/schemas/{event.type}"},
                    },
                },
            ]
        },
        "examples": [{"name": event.short_name(), "payload": example(event)}],
    }


def _sending(domains: Sequence[Domain]) -> Json:
    return {
        f"send.{event.type}": _operation("send", event, description(event))
        for event in events(domains)
    }


def _receiving(domains: Sequence[Domain]) -> Json:
    known = {event.type: event for event in events(domains)}
    return {
        f"receive.{kind}.{domain.name}.{name}": _operation("receive", known[kind], text)
        for domain in domains
        for kind, name, text in reactions(domain)
        if kind in known  # in a split process the event may be told by a domain elsewhere
    }


def _operation(action: str, event: type[Event], text: str) -> Json:
    channel = f"#/channels/{_channel(event)}"
    return {
        "action": action,
        "channel": {"$ref": channel},
        "description": text,
        "messages": [{"$ref": f"{channel}/messages/{event.type}"}],
    }


def reactions(domain: Domain) -> list[tuple[str, str, str]]:
    """What a domain reacts to: the event's type, the reaction's name, and what it achieves."""
    declared = domain.reactions.all if domain.reactions is not None else ()
    return [(one.event_type, one.name, one.doc or one.name) for one in declared]
