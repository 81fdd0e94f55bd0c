"""Sessions: seen and ended by their owner, by nobody else."""

import httpx2

from tests.factories import identity as people
from thenga.kernel.host import Host


async def test_a_person_sees_their_own_sessions_and_which_one_asks(
    api: httpx2.AsyncClient, host: Host, seeded: None
):
    somebody, other = await people.person(host), await people.person(host)

    answer = await api.get("/identity/sessions", headers=somebody.headers)

    (shown,) = answer.json()["items"]
    assert (shown["id"], shown["current"]) == (str(somebody.session_id), True)
    assert str(other.session_id) not in answer.text


async def test_a_session_is_dead_on_the_next_call_after_it_was_revoked(
    api: httpx2.AsyncClient, host: Host, seeded: None
):
    somebody = await people.person(host)
    path = f"/identity/sessions/{somebody.session_id}/revoke"

    revoked = await api.post(path, headers=somebody.headers)
    after = await api.post(path, headers=somebody.headers)

    assert (revoked.status_code, revoked.json()["status"]) == (200, "revoked")
    assert (after.status_code, after.json()["code"]) == (401, "session-revoked")


async def test_another_persons_session_is_not_there(
    api: httpx2.AsyncClient, host: Host, seeded: None
):
    somebody, other = await people.person(host), await people.person(host)

    answer = await api.post(
        f"/identity/sessions/{other.session_id}/revoke", headers=somebody.headers
    )

    assert (answer.status_code, answer.json()["code"]) == (404, "not-found")
    assert (await api.get("/identity/sessions", headers=other.headers)).status_code == 200
