"""A status changes only by a move: every other way is refused, and a repeat has no effect."""

from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from uuid import uuid4

import httpx2
import pytest

from tests.factories import identity
from tests.planting import plant
from tests.suites import allowed, moves
from thenga import topology
from thenga.domains.billing.lifecycles import GrantLifecycle
from thenga.domains.organization import public
from thenga.domains.organization.lifecycles import EquipmentLifecycle
from thenga.domains.organization.services.assets import equipment, expiry_watch
from thenga.domains.organization.tables import Equipment, EquipmentStatus
from thenga.kernel.declare.lifecycle import By, Lifecycle, Move
from thenga.kernel.errors import InvalidTransition
from thenga.kernel.process.host import Host

DOMAINS = topology.load(topology.DOMAINS)
LIFECYCLES = [lifecycle for domain in DOMAINS for lifecycle in domain.lifecycles]
WRITTEN = (Path(__file__).parents[2] / "docs" / "lifecycles.md").read_text()


def test_every_move_is_refused_from_every_state_outside_its_row() -> None:
    swept = moves.sweep(LIFECYCLES)

    print(
        f"lifecycles={len(LIFECYCLES)} moves={swept.moves} made={swept.made} "
        f"refused={swept.refused} repeats={swept.repeats} faults={len(swept.faults)}"
    )
    assert swept.faults == []


def test_the_moves_are_those_that_are_written_down() -> None:
    assert moves.document_faults(WRITTEN, DOMAINS) == []


def test_a_move_that_a_caller_is_shown_can_be_called() -> None:
    assert moves.uncallable(DOMAINS) == allowed.CALLED_OTHERWISE.keys()


def test_allowed_moves_name_each_operation_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where several moves are one operation: it is possible if one of them is."""
    monkeypatch.setattr("thenga.kernel.declare.lifecycle.LIFECYCLES", [])

    def full(row: Any, at: datetime) -> None:
        raise InvalidTransition("It is full.")

    class SeveralLifecycle(Lifecycle, initial=EquipmentStatus.AVAILABLE):
        fill = Move(
            EquipmentStatus.AVAILABLE, to=EquipmentStatus.IN_USE, called="decide", guard=full
        )
        retire = Move(EquipmentStatus.AVAILABLE, to=EquipmentStatus.RETIRED, called="decide")
        lend = Move(EquipmentStatus.AVAILABLE, to=EquipmentStatus.IN_USE, guard=full)

    row, now = SimpleNamespace(status=EquipmentStatus.AVAILABLE), datetime.now(UTC)
    told = SeveralLifecycle.allowed(row, now)

    assert [(one["move"], one["possible"], one["reason"]) for one in told] == [
        ("decide", True, None),
        ("lend", False, "It is full."),
    ]
    assert SeveralLifecycle.open(row) == ["decide", "lend"]


async def test_every_door_keeps_to_the_table_and_repeats_nothing(
    api: httpx2.AsyncClient, host: Host, unchecked_views: None
) -> None:
    owner = await identity.member(host, uuid4(), role="owner")
    doors = moves.moving_doors(DOMAINS)
    swept = moves.Swept()

    for door in doors:
        await moves.knock(swept, api, host, owner, door)

    print(
        f"moving_doors={len(doors)} made={swept.made} refused={swept.refused} "
        f"repeats={swept.repeats} doubled={len(swept.faults)}"
    )
    assert swept.faults == []
    assert {door.lifecycle for door in doors} >= {EquipmentLifecycle}


class CarelessMove(Move):
    """A move that looks at no state."""

    def __call__(self, row: Any, *, at: datetime) -> bool:
        row.status = self.to
        return True


def test_a_planted_move_with_a_wrong_source_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("thenga.kernel.declare.lifecycle.LIFECYCLES", [])

    class PlantedLifecycle(Lifecycle, initial=EquipmentStatus.AVAILABLE):
        revive = CarelessMove(EquipmentStatus.AVAILABLE, to=EquipmentStatus.IN_USE)
        retire = Move(
            EquipmentStatus.AVAILABLE,
            EquipmentStatus.RETIRED,
            to=EquipmentStatus.RETIRED,
            guard=lambda row, at: None,
        )

    faults = moves.sweep([PlantedLifecycle]).faults

    assert "PlantedLifecycle.revive from retired: is made and leads to in_use" in faults
    assert "PlantedLifecycle.retire: leads from ['available', 'retired'] to retired" in faults
    assert "PlantedLifecycle.retire: its guard has no name" in faults


def test_a_planted_move_of_time_that_is_shown_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(GrantLifecycle.lapse, "by", By.CALLER)

    assert "Grant.lapse" in moves.uncallable(DOMAINS)


def test_a_planted_source_that_is_not_written_down_is_found(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    planted = EquipmentLifecycle.assign.sources | {EquipmentStatus.RETIRED}
    monkeypatch.setattr(EquipmentLifecycle.assign, "sources", planted)

    faults = moves.document_faults(WRITTEN, DOMAINS)

    assert faults == ["organization: Equipment: retired --> in_use: assign is declared only"]


async def test_a_planted_service_that_repeats_its_effect_is_found(
    api: httpx2.AsyncClient, host: Host, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def move_always(work: Any, equipment_id: Any, move: Move) -> Any:
        item = await work.lock(Equipment, equipment_id)
        item.status = move.to
        await work.touch(item)
        work.publish(public.EquipmentChanged(**expiry_watch.told(item, move.verb, ["status"])))
        return item

    plant(monkeypatch, equipment, "move_equipment", move_always)
    owner = await identity.member(host, uuid4(), role="owner")
    (door,) = (d for d in moves.moving_doors(DOMAINS) if d.name == "assign_equipment")
    swept = moves.Swept()

    await moves.knock(swept, api, host, owner, door)

    assert len(swept.faults) == len(EquipmentStatus)
