"""Letters to one address, over all causes and organizations (SEC-66)."""

from uuid import uuid4

import httpx2
import pytest

from tests.domains.identity.inviting import address, invite
from tests.factories import accounts
from tests.factories import identity as people
from tests.factories.identity import Member
from tests.factories.organization import organization
from tests.letters import Letters as Received
from tests.letters import written
from tests.settling import Settle
from thenga.domains.identity.tables import UserStatus
from thenga.domains.notification.adapters.senders import UNPROVEN, Senders
from thenga.domains.notification.services import templates
from thenga.domains.notification.services.delivery.sending import OWN_FACTS
from thenga.kernel.host import Host

WORDS = "Win now: https://evil.example/prize"
# Facts that people write themselves; they go to proven addresses only.
WRITTEN_BY_PEOPLE = {"name", "device", "organization", "inviter"}


async def annoy(api: httpx2.AsyncClient, by: Member, email: str, times: int) -> None:
    """Invite and revoke in turn."""
    for _ in range(times):
        sent = await invite(api, by, email, "viewer", message=WORDS)
        assert sent.status_code == 201, sent.text
        path = f"/identity/invitations/{sent.json()['id']}/revoke"
        await api.post(path, json={"reason": "again"}, headers=by.acting)


_WAITING = {
    "identity": "deliver_|tell_person|note_lock",
    "notification": "plan_batch|move_delivery|send_delivery",
}


async def quiet(host: Host) -> bool:
    """Whether no letter waits to be handed over or sent."""
    for domain, tasks in _WAITING.items():
        async with host.engines.connection(domain, f"{domain}_system") as connection:
            if await connection.fetchval(
                f"SELECT count(*) FROM {domain}.procrastinate_jobs "
                f"WHERE task_name ~ '{tasks}' AND status IN ('todo', 'doing')"
            ):
                return False
    return True


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
    monkeypatch.setattr("thenga.domains.notification.adapters.senders.UNPROVEN", ())

    count, _ = await flood(api, host, letters, settle)

    print(f"planted: letters_per_recipient={count}")
    assert count > UNPROVEN[0].amount


@pytest.mark.rule("SEC-66")
async def test_a_flood_of_strangers_leaves_room_for_own_notices(host: Host, seeded: None):
    post, email = Senders(host), address()

    strangers = [await post.has_room(email, is_proven=False) for _ in range(30)]
    # Another process counts the same letters.
    own = await Senders(host).has_room(email.upper(), is_proven=True)

    print(f"strangers_sent={sum(strangers)} own_notice_sent={own}")
    assert (sum(strangers), own) == (UNPROVEN[0].amount, True)


@pytest.mark.rule("SEC-66")
async def test_an_invitation_gives_names_to_proven_addresses_only(
    api: httpx2.AsyncClient, host: Host, seeded: None, letters: Received, settle: Settle
):
    founder = await people.person(host)
    company = await organization(host, founder.user_id, name="Mokoena Ltd")
    owner = await people.member(host, company.id, role="owner")
    known, stranger = await accounts.account(host), address()
    waiting = await accounts.account(host, status=UserStatus.PENDING_VERIFICATION)

    for email in (known.email, stranger, waiting.email):
        assert (await invite(api, owner, email, "viewer", message=WORDS)).status_code == 201
    proven, unproven = await letters.to(known.email), await letters.to(stranger)
    half = await letters.to(waiting.email)

    print(*letters.subjects(known.email), *letters.subjects(stranger), sep="; ")
    assert "Lindiwe Mokoena invites you to join Mokoena Ltd on Thenga." in proven
    assert "A colleague invites you to join an organization on Thenga." in unproven
    assert "A colleague invites you to join an organization on Thenga." in half
    assert all("thl_" in one and "evil" not in one for one in (proven, unproven, half))


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
    found = {
        one.name
        for code in templates.topics()
        if code.startswith(("identity.", "billing."))
        for one in templates.platform_content(code).variables
    }
    letter = written("identity.confirm_address", {"name": WORDS, "link": "thl_x"})

    assert found <= OWN_FACTS | WRITTEN_BY_PEOPLE
    assert WRITTEN_BY_PEOPLE.isdisjoint(OWN_FACTS)
    assert "evil" not in letter.text and "thl_x" in letter.text and "Good day,\n" in letter.text
