"""Letters to one address, over all causes and organizations (SEC-66)."""

from datetime import timedelta
from uuid import UUID, uuid4

import httpx2
import pytest

from tests.conftest import Time
from tests.domains.identity.inviting import address, invite
from tests.factories import accounts
from tests.factories import identity as people
from tests.factories import notification_deliveries as deliveries
from tests.factories.identity import Member
from tests.factories.organization import organization
from tests.letters import Letters as Received
from tests.letters import written
from tests.planting import plant
from tests.settling import Settle
from thenga.domains.identity.tables import UserStatus
from thenga.domains.notification.adapters import senders
from thenga.domains.notification.adapters.senders import ALERTS, UNPROVEN, Senders
from thenga.domains.notification.services import templates
from thenga.domains.notification.services.delivery import budgets
from thenga.domains.notification.services.delivery.sending import OWN_FACTS
from thenga.domains.notification.values.messages import Budget
from thenga.kernel.process.host import Host

pytestmark = pytest.mark.domains("identity", "organization", "notification")

ORGANIZATIONS = UNPROVEN[0].amount + 2
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
) -> tuple[list[str], str]:
    """Organizations and the forms for strangers write to one address; what came.

    A letter is not sent once its invitation is revoked: only the last of each organization is sure.
    """
    email = address()
    for _ in range(ORGANIZATIONS):
        owner = await people.member(host, uuid4(), role="owner")
        await annoy(api, owner, email, 2)
        await invite(api, owner, email, "viewer", message=WORDS)
    for _ in range(4):
        body = {"email": email, "displayName": WORDS}
        await api.post("/identity/auth/register", json=body)
        await api.post("/identity/auth/password-resets", json={"email": email})
    await settle(lambda: quiet(host))
    subjects = received.subjects(email)
    texts = [await received.to(email, number=n + 1) for n in range(len(subjects))]
    return subjects, "".join(texts)


@pytest.mark.rule("SEC-66")
async def test_letters_to_one_address_stay_within_the_limit(
    api: httpx2.AsyncClient, host: Host, seeded: None, letters: Received, settle: Settle
):
    subjects, said = await flood(api, host, letters, settle)

    limit = UNPROVEN[0].amount  # of invitations; registering has as much for itself
    invited = sum("invites you" in subject for subject in subjects)
    own = len(subjects) - invited
    print(f"organizations={ORGANIZATIONS} invited={invited} own={own} limit={limit}")
    assert 1 <= invited <= limit
    assert 1 <= own <= limit
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

    subjects, _ = await flood(api, host, letters, settle)

    invited = sum("invites you" in subject for subject in subjects)
    print(f"planted: invited={invited}")
    assert invited > UNPROVEN[0].amount


@pytest.mark.rule("SEC-66")
async def test_a_flood_of_strangers_leaves_room_for_own_notices(host: Host, seeded: None):
    post, email = Senders(host), address()
    invitation, ordinary = Budget("security", "identity.invitation"), Budget("ordinary")

    waits = [await post.wait_for_room(email, invitation, is_proven=False) for _ in range(30)]
    # Another process counts the same letters.
    other = Senders(host)
    same = await other.wait_for_room(email.upper(), invitation, is_proven=False)
    own = await other.wait_for_room(email.upper(), ordinary, is_proven=True)

    print(f"strangers_sent={waits.count(None)} own_notice_waits={own}")
    assert (waits.count(None), own) == (UNPROVEN[0].amount, None)
    assert same is not None


@pytest.mark.rule("NOT-50")
@pytest.mark.parametrize("topic", ["identity.confirm_address", "identity.invitation"])
async def test_strangers_delay_a_letter_with_a_code_but_do_not_lose_it(
    api: httpx2.AsyncClient,
    host: Host,
    seeded: None,
    letters: Received,
    settle: Settle,
    clock: Time,
    monkeypatch: pytest.MonkeyPatch,
    topic: str,
):
    email = address()
    await use_up(host, email, topic)
    if topic == "identity.invitation":
        owner = await people.member(host, uuid4(), role="owner")
        await invite(api, owner, email, "viewer")
    else:
        await api.post("/identity/auth/register", json={"email": email, "displayName": "Thabo"})
    await settle(lambda: quiet(host))
    crowded = letters.count(email)

    monkeypatch.setattr(senders, "UNPROVEN", ())  # the hour of Redis has passed
    clock.move(timedelta(hours=1, minutes=6))
    code = await letters.link_to(email)

    assert (crowded, letters.count(email), code[:4]) == (0, 1, "thl_")


@pytest.mark.rule("IDN-10")
async def test_an_earlier_code_works_while_the_newer_letter_waits(
    api: httpx2.AsyncClient, host: Host, seeded: None, letters: Received, settle: Settle
):
    email = address()
    await api.post("/identity/auth/register", json={"email": email, "displayName": "Thabo"})
    code = await letters.link_to(email)
    await use_up(host, email, "identity.confirm_address")
    await api.post("/identity/auth/register", json={"email": email, "displayName": "Thabo"})
    await settle(lambda: quiet(host))

    proof = {"token": code, "password": accounts.PASSWORD}
    proved = await api.post("/identity/auth/verify-address", json=proof)

    assert (proved.status_code, letters.count(email)) == (200, 1)


@pytest.mark.rule("NOT-50")
def test_room_comes_before_a_code_of_a_day_expires():
    longest = [rule.seconds * (1 + 1 / rule.amount) for rule in senders.UNPROVEN]

    assert max(longest) < timedelta(days=1).total_seconds()


async def use_up(host: Host, email: str, topic: str) -> None:
    """Fill what one unproven address receives of a kind, as strangers can."""
    post = Senders(host)
    budget = Budget("security", topic)
    while await post.wait_for_room(email, budget, is_proven=False) is None:
        pass


ALERT = {
    "tender": "Repair of the road",
    "reason": "it fits your company",
    "score": "72.0",
    "closingAt": "16 September 2199, 11:00 SAST",
}


async def reset_after_alerts(
    api: httpx2.AsyncClient, host: Host, received: Received, settle: Settle, times: int
) -> tuple[int, bool]:
    """So many alerts to one person, who then asks for a password: alerts and whether it came."""
    account, organization_id = await accounts.account(host), uuid4()
    work = people.working(host, user_id=account.user_id)
    begun = await people.sessions.start_session(work, account.user_id, methods=["password"])
    await work.finish()
    who = people.Person(account.user_id, begun.session.id, "", "")
    owner = await people.member(host, organization_id, role="owner", who=who)
    await deliveries.tenant(host, organization_id)
    email = account.email
    for _ in range(times):
        await deliveries.message(
            *(host, organization_id, owner.user_id, "email"),
            topic_code="opportunity.matched",
            facts=ALERT,
        )
    await settle(lambda: sent_or_held(host, organization_id))
    alerts = received.count(email)
    asked = await api.post("/identity/auth/password-resets", json={"email": email})
    assert asked.status_code == 202, asked.text
    await settle(lambda: quiet(host))
    return alerts, any("password" in subject for subject in received.subjects(email))


async def sent_or_held(host: Host, organization_id: UUID) -> bool:
    """Whether nothing of an organization is to be sent at once."""
    async with host.engines.connection("notification", "notification_system") as connection:
        found = await connection.fetchval(
            "SELECT count(*) FROM notification.delivery "
            "WHERE organization_id = $1 AND status IN ('queued', 'sending')",
            organization_id,
        )
    return found == 0


@pytest.mark.rule("NOT-50")
async def test_password_reset_comes_after_a_flood_of_alerts(
    api: httpx2.AsyncClient, host: Host, seeded: None, letters: Received, settle: Settle
):
    alerts, reset = await reset_after_alerts(api, host, letters, settle, 200)

    print(f"alerts_asked=200 alerts_sent={alerts} reset_sent={reset}")
    assert (alerts, reset) == (ALERTS.amount, True)


@pytest.mark.rule("NOT-50")
@pytest.mark.parametrize("is_proven", [True, False])
async def test_alerts_and_other_letters_take_no_room_of_each_other(
    host: Host, seeded: None, is_proven: bool
):
    alert = budgets.budget_of(templates.topics()["opportunity.matched"])
    rules = senders.EVERY if is_proven else (*senders.UNPROVEN, *senders.EVERY)
    room = min(rule.amount for rule in rules)
    for first, second in ((alert, Budget("ordinary")), (Budget("ordinary"), alert)):
        post, email = Senders(host), address()
        sent = {}
        for budget in (first, second):
            waits = [
                await post.wait_for_room(email, budget, is_proven=is_proven) for _ in range(30)
            ]
            sent[budget] = waits.count(None)
        print(f"is_proven={is_proven} {sent}")
        assert sent == {alert: min(ALERTS.amount, room), Budget("ordinary"): room}


@pytest.mark.rule("NOT-50")
async def test_alert_waits_no_longer_than_a_quarter_of_a_day(host: Host, seeded: None):
    alert = budgets.budget_of(templates.topics()["opportunity.matched"])
    post, email = Senders(host), address()

    waits = [await post.wait_for_room(email, alert, is_proven=True) for _ in range(30)]

    longest = max(wait for wait in waits if wait is not None)
    print(f"longest_wait={longest}")
    assert longest <= timedelta(hours=6)


async def test_planted_common_budget_is_found(
    api: httpx2.AsyncClient,
    host: Host,
    seeded: None,
    letters: Received,
    settle: Settle,
    monkeypatch: pytest.MonkeyPatch,
):
    plant(monkeypatch, budgets, "budget_of", lambda _: Budget("ordinary"))

    _, reset = await reset_after_alerts(api, host, letters, settle, 25)

    assert not reset


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
