"""Events say whose they are, also those of domains that have only a `public` so far."""

from collections.abc import Iterable
from importlib import import_module
from pathlib import Path
from uuid import UUID

import pytest

from tests.suites.test_sweeps_events import event_faults
from thenga import topology
from thenga.kernel.declare.event import EVENTS, Event
from thenga.kernel.declare.manifest import Domain

HOME = Path(topology.__file__).parent / "domains"
DECLARED = sorted(
    path.name
    for path in HOME.iterdir()
    if ((path / "public.py").exists() or (path / "public").is_dir())
    and not (path / "manifest.py").exists()
)
# Written before a row between two organizations had events for both.
LEAN = ("marketplace", "supplier", "funding")


def events_of(name: str) -> tuple[type[Event], ...]:
    found: tuple[type[Event], ...] = import_module(f"thenga.domains.{name}.public").EVENTS
    return found


def unaddressed(events: Iterable[type[Event]]) -> list[str]:
    """Events that name neither their organization nor both parties, or one party twice."""
    return [
        event.type
        for event in events
        if event.__name__ != "PolicyAcknowledged"
        and len([name for name in event.model_fields if name.endswith("organization_id")])
        != (1 if "organization_id" in event.model_fields else 2)
    ]


@pytest.mark.parametrize("name", DECLARED)
def test_events_of_a_domain_to_come_follow_the_form(name: str) -> None:
    domain = Domain(name=name, home=HOME / name, events=events_of(name))

    assert event_faults([domain], {event.type: {} for event in domain.events}) == []


@pytest.mark.parametrize("name", LEAN)
def test_events_name_their_organization_or_both_parties(name: str) -> None:
    assert unaddressed(events_of(name)) == []


class QuotePlanted(Event, type="supplier.QuotePlanted.v1", subject="quote_id"):
    """Published to both parties with the name of one."""

    organization_id: UUID
    supplier_organization_id: UUID
    quote_id: UUID


EVENTS.pop(QuotePlanted.type)  # other sweeps must not find it


def test_an_event_for_two_that_belongs_to_one_is_found() -> None:
    assert unaddressed([QuotePlanted]) == [QuotePlanted.type]
