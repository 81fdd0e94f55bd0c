"""Every event, permission and problem code is declared once, whole, with a sentence of its own."""

import inspect
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from uuid import UUID, uuid4

import pytest

from tests.conftest import Opening
from tests.suites import allowed
from thenga import topology
from thenga.domains.organization.tables import Equipment
from thenga.kernel.access.origin import Origin
from thenga.kernel.db.work import Work
from thenga.kernel.declare.event import EVENTS, Event
from thenga.kernel.declare.manifest import Domain
from thenga.kernel.errors import PROBLEMS, Problem
from thenga.kernel.process.logs import names_a_secret
from thenga.kernel.process.settings import Settings
from thenga.kernel.standing.answered import bind
from thenga.starting import make_host

DOMAINS = topology.load(topology.DOMAINS)
SCHEMAS = Path(__file__).parents[2] / "docs" / "schemas" / "events.json"
_TYPE = re.compile(r"([a-z_]+)\.([A-Z][A-Za-z0-9]+)\.v[1-9][0-9]*")
_PERMISSION = re.compile(r"[a-z_]+:[a-z_]+:[a-z_]+")
_CODE = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")
# Beyond identifiers, an event holds no personal data.
_PERSONAL = {"email", "phone", "display_name", "first_name", "last_name", "id_number", "address"}


def event_faults(domains: Sequence[Domain], schemas: Mapping[str, object]) -> list[str]:
    """What is wrong with the events that the manifests name, or leave out."""
    named = {event: domain for domain in domains for event in domain.events}
    names = [domain.name for domain in domains]
    faults = [
        f"{event.type}: is declared and in no manifest"
        for event in EVENTS.values()
        if event.domain() in names and event not in named
    ]
    for event, domain in named.items():
        faults += [f"{event.type}: {fault}" for fault in _faults_of(event, domain, schemas)]
    return faults


def _faults_of(event: type[Event], domain: Domain, schemas: Mapping[str, object]) -> Iterable[str]:
    found = _TYPE.fullmatch(event.type)
    if found is None or found[1] != domain.name or found[2] != event.__name__:
        yield f"does not read {domain.name}.{event.__name__}.vN"
    if not event.__doc__ or event.__doc__ == Event.__doc__:
        yield "says nothing of itself"
    if event.subject not in event.model_fields:
        yield f"has no field {event.subject!r} for its subject"
    elif event.model_fields[event.subject].annotation is not UUID:
        yield f"{event.subject} is not an identifier"
    for name in event.model_fields:
        if f"{event.__name__}.{name}" in allowed.TOLD:
            continue
        if names_a_secret(name) or name in _PERSONAL:
            yield f"{name} must not be told"
    if event.type not in schemas:
        yield "is not in docs/schemas/events.json"


def permission_faults(domains: Sequence[Domain]) -> list[str]:
    faults = []
    for domain in domains:
        codes = [str(granted.code) for granted in domain.permissions]
        faults += [f"{code}: is granted twice" for code in set(codes) if codes.count(code) > 1]
        for granted in domain.permissions:
            if not _PERMISSION.fullmatch(granted.code) or not granted.title:
                faults.append(f"{granted.code}: does not read domain:resource:action with a title")
            if granted.code.split(":")[0] != domain.name:
                faults.append(f"{granted.code}: does not belong to {domain.name}")
    return faults


def problem_faults(problems: Mapping[str, type[Problem]]) -> list[str]:
    faults = []
    for code, kind in problems.items():
        if not _CODE.fullmatch(code) or kind.code != code:
            faults.append(f"{code}: is not in kebab case")
        if not inspect.cleandoc(kind.__doc__ or "") or not kind.title:
            faults.append(f"{code}: does not say what to do about it")
        if not 400 <= kind.status <= 599:
            faults.append(f"{code}: {kind.status} is no refusal")
    return faults


def test_every_event_is_in_its_manifest_and_told_by_identifiers() -> None:
    events = [event for domain in DOMAINS for event in domain.events]

    faults = event_faults(DOMAINS, json.loads(SCHEMAS.read_text()))

    print(f"events={len(events)} faults={len(faults)}")
    assert faults == []


def test_permissions_and_problem_codes_follow_their_form() -> None:
    permissions = [granted for domain in DOMAINS for granted in domain.permissions]
    # Tests declare problems of their own; those of the source are meant.
    problems = {c: p for c, p in PROBLEMS.items() if p.__module__.startswith("thenga.")}

    faults = permission_faults(DOMAINS) + problem_faults(problems)

    print(f"permissions={len(permissions)} problem_codes={len(problems)} faults={len(faults)}")
    assert faults == []


class EquipmentPlanted(Event, type="organization.EquipmentPlanted.v1", subject="equipment_id"):
    equipment_id: str
    access_token: str


EVENTS.pop(EquipmentPlanted.type)  # other sweeps must not see it


def test_a_planted_event_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    (organization,) = (domain for domain in DOMAINS if domain.name == "organization")
    planted = replace(organization, events=(*organization.events, EquipmentPlanted))

    faults = event_faults([planted], json.loads(SCHEMAS.read_text()))

    name = EquipmentPlanted.type
    assert faults == [
        f"{name}: says nothing of itself",
        f"{name}: equipment_id is not an identifier",
        f"{name}: access_token must not be told",
        f"{name}: is not in docs/schemas/events.json",
    ]
    monkeypatch.setitem(EVENTS, name, EquipmentPlanted)
    assert f"{name}: is declared and in no manifest" in event_faults([organization], {name: {}})


class PlantedFact(Event, type="organization.PlantedFact.v1", subject="equipment_id"):
    """Known to Python, named by no manifest."""

    equipment_id: UUID


EVENTS.pop(PlantedFact.type)


async def test_an_event_that_no_manifest_names_is_refused(
    settings: Settings, opening: Opening
) -> None:
    host = make_host(settings)
    for domain in DOMAINS:
        bind(domain, host)
    scope = opening.work(uuid4())._scope
    work = Work(host, "organization", scope, Origin("test", "test", "test"))
    item = await work.add(
        Equipment(organization_id=work.organization_id, name="Digger", quantity=1, expiries=[])
    )

    with pytest.raises(LookupError, match="not in the manifest of organization"):
        work.publish(PlantedFact(equipment_id=item.id))

    await work.close()
    await host.close()


class PlantedRefusal(Problem):
    code, status, title = "PlantedRefusal", 200, ""


PROBLEMS.pop(PlantedRefusal.code)


def test_a_planted_problem_is_found() -> None:
    faults = problem_faults({PlantedRefusal.code: PlantedRefusal})

    assert len(faults) == 3
