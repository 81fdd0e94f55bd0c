"""Letters to one address, over all causes and organizations (SEC-66)."""

import re
from uuid import uuid4

import httpx2
import pytest

from tests.domains.identity.inviting import address, invite
from tests.factories import identity as people
from tests.factories.identity import Member
from tests.letters import Letters as Received
from tests.settling import Settle
from thenga import topology
from thenga.domains.identity.adapters import mail
from thenga.kernel.host import Host
from thenga.kernel.letters import OURS, UNPROVEN, Letter, Letters, rendered

WORDS = "Win now: https://evil.example/prize"
# Facts that people write themselves; they go to proven addresses only.
WRITTEN_BY_PEOPLE = {"name", "device"}


async def annoy(api: httpx2.AsyncClient, by: Member, email: str, times: int) -> None:
    """Invite and revoke in turn."""
    for _ in range(times):
        sent = await invite(api, by, email, "viewer", message=WORDS)
        assert sent.status_code == 201, sent.text
        path = f"/identity/invitations/{sent.json()['id']}/revoke"
        await api.post(path, json={"reason": "again"}, headers=by.acting)


async def quiet(host: Host) -> bool:
    """Whether no letter waits to be handed over."""
    async with host.engines.connection("identity", "identity_system") as connection:
        return not await connection.fetchval(
            "SELECT count(*) FROM identity.procrastinate_jobs "
            "WHERE task_name ~ 'deliver_|tell_person|note_lock' AND status IN ('todo', 'doing')"
        )


async def flood(
    api: httpx2.AsyncClient, host: Host, received: Received, settle: Settle
) -> tuple[int, str]:
    """Five organizations and the forms for strangers write to one address; how many came."""
    email = address()
    for _ in range(5):
        owner = await people.member(host, uuid4(), role="owner")
        await annoy(api, owner, email, 4)
        await invite(api, owner, email, "viewer", message=WORDS)
    for _ in range(4):
        body = {"email": email, "displayName": WORDS}
        await api.post("/identity/auth/register", json=body)
        await api.post("/identity/auth/password-resets", json={"email": email})
    await settle(lambda: quiet(host))
    count = received.count(email)
    return count, "".join([await received.to(email, number=n + 1) for n in range(count)])


@pytest.mark.rule("SEC-66")
async def test_letters_to_one_address_stay_within_the_limit(
    api: httpx2.AsyncClient, host: Host, seeded: None, letters: Received, settle: Settle
):
    count, said = await flood(api, host, letters, settle)

    limit = UNPROVEN[0].amount
    print(f"organizations=5 asked=33 letters_per_recipient={count} limit={limit}")
    assert 1 <= count <= limit
    assert "evil" not in said and "prize" not in said


async def test_a_planted_limit_per_cause_is_found(
    api: httpx2.AsyncClient,
    host: Host,
    seeded: None,
    letters: Received,
    settle: Settle,
    monkeypatch: pytest.MonkeyPatch,
):
    monkeypatch.setattr("thenga.kernel.letters.UNPROVEN", ())

    count, _ = await flood(api, host, letters, settle)

    print(f"planted: letters_per_recipient={count}")
    assert count > UNPROVEN[0].amount


@pytest.mark.rule("SEC-66")
async def test_a_flood_of_strangers_leaves_room_for_own_notices(
    host: Host, letters: Received, seeded: None
):
    post, email = Letters(host), address()
    template = mail.LETTERS / "account_locked.txt"
    facts = {"name": "Thabo", "until": "noon"}

    strangers = [
        await post.send(Letter(email, template, facts, str(uuid4()), proven=False))
        for _ in range(30)
    ]
    # Another process counts the same letters.
    own = await Letters(host).send(Letter(email.upper(), template, facts, "own", proven=True))

    print(f"strangers_sent={sum(strangers)} own_notice_sent={own}")
    assert (sum(strangers), own) == (UNPROVEN[0].amount, True)
    assert (await letters.to(email)).splitlines()[0] == "Good day,"


@pytest.mark.rule("SEC-66")
async def test_a_lock_of_an_unproven_account_repeats_no_name(
    api: httpx2.AsyncClient, host: Host, seeded: None, letters: Received, settle: Settle
):
    email = address()
    await api.post("/identity/auth/register", json={"email": email, "displayName": WORDS})
    first = await letters.to(email)
    guess = {"method": "password", "email": email, "password": "not the right one"}
    for _ in range(10):
        await api.post("/identity/auth/sign-in", json=guess)
    await settle(lambda: quiet(host))
    said = [await letters.to(email, number=n + 1) for n in range(letters.count(email))]

    assert first == said[0]
    assert not any("evil" in one for one in said)


@pytest.mark.rule("SEC-66")
def test_every_fact_of_every_letter_is_ours_or_withheld():
    found: dict[str, set[str]] = {}
    for domain in topology.load(topology.DOMAINS):
        for file in sorted(domain.home.glob("content/letters/*.txt")):
            for fact in re.findall(r"\{\{(\w+)\}\}", file.read_text()):
                found.setdefault(fact, set()).add(file.stem)
    file = mail.LETTERS / "confirm_address.txt"
    _, text = rendered(file, {"name": WORDS, "link": "thl_x"}, proven=False)

    assert found.keys() <= OURS | WRITTEN_BY_PEOPLE
    assert "evil" not in text and "thl_x" in text and "Good day,\n" in text
