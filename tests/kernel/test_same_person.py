"""Where two people must act, a key counts as the person who answers for it."""

from uuid import UUID, uuid4

import pytest

from tests.conftest import Opening
from tests.factories import identity
from tests.planting import plant
from tests.suites.calls import keys
from thenga.domains.identity.provider import LocalDecisions
from thenga.kernel.access.actors import SYSTEM, Actor, ActorKind
from thenga.kernel.access.gate import Passage
from thenga.kernel.db.acting import same_person
from thenga.kernel.jobs.run import Carried
from thenga.kernel.process.host import Host

PERSON, OTHER, KEY = (UUID(int=number) for number in (1, 2, 3))
READ = "organization:equipment:read"


def is_same(opening: Opening, actor: Actor, *actor_ids: UUID | None) -> bool:
    work = opening.work(uuid4())
    work._scope.actor = actor
    return same_person(work, *actor_ids)


def test_a_person_is_compared_with_everybody_who_acted_before(opening: Opening) -> None:
    person = Actor(ActorKind.USER, PERSON)

    assert is_same(opening, person, OTHER, PERSON)
    assert not is_same(opening, person, OTHER, None)
    assert not is_same(opening, person)


def test_a_key_counts_as_the_person_who_answers_for_it(
    opening: Opening, monkeypatch: pytest.MonkeyPatch
) -> None:
    key = Actor(ActorKind.API_KEY, KEY, answered_by=PERSON)

    assert is_same(opening, key, PERSON)
    assert is_same(opening, key, KEY)
    assert not is_same(opening, key, OTHER)
    plant(monkeypatch, Actor, "person_id", property(lambda self: None))
    assert not is_same(opening, key, PERSON)


def test_a_job_for_nobody_is_nobody(opening: Opening) -> None:
    assert not is_same(opening, SYSTEM, None, OTHER)
    assert SYSTEM.person_id is None


async def test_the_gate_names_who_answers_for_a_key(host: Host, seeded: None) -> None:
    owner = await identity.member(host, uuid4(), role="owner")
    text = await keys.key(host, owner, owner.organization_id, [READ])

    passed = await LocalDecisions(host).enter(
        credential=text,
        organization_id=owner.organization_id,
        permission=READ,
        network="127.0.0.1",
        request_id="a test",
    )

    assert isinstance(passed, Passage)
    assert (passed.actor.kind, passed.actor.person_id) == (ActorKind.API_KEY, owner.user_id)
    assert passed.user_id is None


def test_jobs_carry_the_person_and_older_ones_are_still_read() -> None:
    row = {"arguments": {}, "id": str(uuid4()), "correlation_id": "a test"}
    known = {"kind": "api_key", "id": str(KEY), "session_id": None}

    older = Carried.model_validate(row | {"actor": known})
    newer = Carried.model_validate(row | {"actor": known | {"answered_by": str(PERSON)}})

    assert (older.actor.person_id, newer.actor.person_id) == (None, PERSON)
