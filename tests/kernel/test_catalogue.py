"""The event catalogue: the AsyncAPI document that is made from the event classes."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest

from tests.kernel.paper import SheetFolded, SheetWritten, paper
from thenga import topology
from thenga.kernel.db.work import Work
from thenga.kernel.declare.event import Envelope, Event
from thenga.kernel.declare.manifest import Domain
from thenga.kernel.declare.reaction import Reactions
from thenga.kernel.events import catalogue

STANDARD = json.loads((Path(__file__).parent / "asyncapi-3.0.0.json").read_text())


@pytest.fixture
def domain(tmp_path: Path) -> Domain:
    reactions = Reactions("paper")

    @reactions.on(SheetWritten)
    async def put_away(work: Work, event: SheetWritten) -> None:
        """What is written is put away."""

    @reactions.on_type("elsewhere.SomethingHappened.v1")
    async def look_up(work: Work, envelope: Envelope) -> None:
        """Told by a domain that does not run here."""

    return replace(paper(tmp_path), reactions=reactions)


def _wrong(made: dict[str, Any]) -> list[str]:
    return [error.message for error in jsonschema_rs.validator_for(STANDARD).iter_errors(made)]


def test_the_document_is_asyncapi(domain: Domain) -> None:
    assert _wrong(catalogue.asyncapi([domain])) == []


def test_the_document_of_all_domains_is_asyncapi() -> None:
    assert _wrong(catalogue.asyncapi(topology.load(topology.DOMAINS))) == []


def test_a_document_that_is_not_asyncapi_would_be_found(domain: Domain) -> None:
    made = catalogue.asyncapi([domain])
    made["operations"]["send.paper.SheetFolded.v1"]["action"] = "shout"

    assert len(_wrong(made)) == 1


def test_each_event_has_the_channel_of_its_mesh_subject(domain: Domain) -> None:
    channels = catalogue.asyncapi([domain])["channels"]

    channel = channels["paper.SheetFolded"]

    assert channel["address"] == "thenga.paper.SheetFolded.{organizationId}"
    assert channel["description"] == "A sheet is folded now."
    assert list(channel["messages"]) == ["paper.SheetFolded.v1"]


def test_it_says_who_sends_and_who_receives(domain: Domain) -> None:
    told = catalogue.asyncapi([domain])["operations"]

    assert sorted(told) == [
        "receive.paper.SheetWritten.v1.paper.put_away",
        "send.paper.SheetFolded.v1",
        "send.paper.SheetWritten.v1",
    ]
    assert told["receive.paper.SheetWritten.v1.paper.put_away"]["action"] == "receive"


@pytest.mark.parametrize("event", [SheetWritten, SheetFolded])
def test_an_example_fits_what_is_promised(domain: Domain, event: type[Event]) -> None:
    made = catalogue.asyncapi([domain])
    message = made["components"]["messages"][event.type]

    example = message["examples"][0]["payload"]

    schema = {**message["payload"], "components": made["components"]}
    jsonschema_rs.validate(schema, example)
    assert isinstance(Envelope.model_validate(example).event(), event)


def test_a_payload_that_is_wrong_inside_is_refused(domain: Domain) -> None:
    made = catalogue.asyncapi([domain])
    message = made["components"]["messages"]["paper.SheetWritten.v1"]
    example = message["examples"][0]["payload"]

    example["data"]["size"]["width"] = "wide"

    schema = {**message["payload"], "components": made["components"]}
    assert not jsonschema_rs.is_valid(schema, example)


def test_schemas_are_by_type_and_stand_alone(domain: Domain) -> None:
    found = catalogue.schemas([domain])

    assert list(found) == ["paper.SheetWritten.v1", "paper.SheetFolded.v1"]
    assert found["paper.SheetWritten.v1"]["properties"]["size"] == {"$ref": "#/$defs/Size"}
