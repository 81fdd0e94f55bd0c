"""The decision and its reference model agree, in a great many worlds (IDN-29)."""

import random
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from tests.domains.identity.deciding import model, worlds
from tests.domains.identity.deciding.model import World
from tests.suites.sizes import size
from thenga.domains.identity.services.decisions import (
    Facts,
    Question,
    _entitled,
    _holding,
    _stages,
)

CASES = size(20_000, 1_000_000)
SEED = 15

Told = tuple[str, str | None, tuple[str, ...]]


def allows(made: Told) -> bool:
    return made[0] == "allowed"


def _dead(w: World) -> bool:
    person = w["actor"] == "person" and w["session"] in ("revoked", "signed_out", "expired")
    return person or (w["actor"] == "key" and w["key"] in ("revoked", "expired"))


def _without(w: World, **taken: Any) -> World:
    return w | taken


# What must hold whatever the table says; each looks at a world and what was decided in it.
PROPERTIES: dict[str, Callable[[World, Told], bool]] = {
    "the dead are never let in": lambda w, made: not (_dead(w) and allows(made)),
    "a deny beats every allow of the organization": lambda w, made: (
        not (w["actor"] == "person" and w["deny"] and made[1] == "tenant" and not w["owner"])
    ),
    "no deny takes anything from an owner": lambda w, made: (
        not w["owner"] or made == worlds.produced(_without(w, deny=False, denied_on=()))
    ),
    "a stranger is let in by nobody": lambda w, made: (
        not (w["actor"] == "person" and w["membership"] is None and made[1] == "tenant")
    ),
    "a key does nothing that asks for a proof": lambda w, made: (
        not (
            w["actor"] == "key"
            and w["sensitivity"] in ("sensitive", "administration")
            and allows(made)
        )
    ),
    "a suspended organization does only what it then may": lambda w, made: (
        not (
            w["tenant_state"] in ("suspended", "closed")
            and not w["while_suspended"]
            and made[1] == "tenant"
        )
    ),
    "a machine does nothing that machines never may": lambda w, made: (
        not (w["agent"] and w["agents"] == "never" and allows(made))
    ),
    "what only people may do no machine does": lambda w, made: (
        not (w["people_only"] and (w["actor"] != "person" or w["agent"]) and allows(made))
    ),
    "what errs denies": lambda w, made: not (w["policy"] == "erring" and allows(made)),
    "less given is never more allowed": lambda w, made: (
        allows(made)
        or w["audiences"] != ("tenant",)
        or not allows(worlds.produced(_without(w, held=False, held_on=(), platform_role=False)))
    ),
}


def compared(cases: int) -> tuple[list[str], Counter[str], set[str]]:
    """Disagreements, how often each reason was met, and the properties that were broken."""
    chance = random.Random(SEED)
    differences, reasons, broken = [], Counter[str](), set()
    for number in range(cases):
        world = worlds.draw(chance)
        expected, made = model.decide(world), worlds.produced(world)
        reasons[made[0]] += 1
        if expected != made:
            differences.append(f"{number}: model {expected}, code {made}, {world}")
        broken |= {name for name, holds in PROPERTIES.items() if not holds(world, made)}
    return differences, reasons, broken


@pytest.mark.rule("IDN-29")
def test_production_and_model_agree_in_random_worlds():
    differences, reasons, broken = compared(CASES)

    kept = len(PROPERTIES) - len(broken)
    print(
        f"cases={CASES} disagreements={len(differences)} properties={kept}/{len(PROPERTIES)} "
        f"reasons={len(reasons)} allowed={reasons['allowed']}"
    )
    assert differences[:3] == []
    assert broken == set()
    assert len(reasons) == 31
    assert min(reasons.values()) >= CASES // 5_000


_of_member = _holding._of_member


def denying(facts: Facts, question: Question) -> _holding.Holding:
    """The stage as it was when a deny counted for owners too."""
    return _of_member(replace(facts, by_owner=False), question)


_NONE: Callable[..., None] = lambda *_: None  # noqa: E731
BUGS: dict[str, tuple[Any, str, Any]] = {
    "no deny": (_holding, "_is_denied_there", lambda *_: False),
    "owners are denied": (_holding, "_of_member", denying),
    "no tenant state": (_stages, "_tenant_state", _NONE),
    "no proof": (_stages, "_proof", _NONE),
    "no plan": (_stages, "_entitlement", _NONE),
    "silence is yes": (_entitled, "_UNKNOWN", None),
    "keys never end": (_stages, "_key", _NONE),
    "machines are people": (_stages, "_is_machine", lambda *_: False),
}


@pytest.mark.parametrize("bug", BUGS)
def test_a_planted_wrong_stage_is_found(bug: str, monkeypatch: pytest.MonkeyPatch):
    module, name, wrong = BUGS[bug]
    right = getattr(module, name)
    stages = tuple((n, wrong if stage is right else stage) for n, stage in _stages.STAGES)
    differences, _, _ = compared(1_000)
    assert differences == []
    monkeypatch.setattr(module, name, wrong)
    monkeypatch.setattr(_stages, "STAGES", stages)

    differences, _, _ = compared(3_000)

    print(f"planted {bug}: disagreements={len(differences)}")
    assert differences


def test_a_planted_swap_of_two_stages_is_found(monkeypatch: pytest.MonkeyPatch):
    first, *middle, last = _stages.STAGES
    monkeypatch.setattr(_stages, "STAGES", (last, *middle, first))

    assert compared(3_000)[0]
