"""The first staff of an installation: invited at the console, then by staff alone."""

from datetime import timedelta
from typing import Any
from uuid import uuid4

import httpx2
import pyotp
import pytest

from tests.conftest import Time
from tests.console import thenga
from tests.domains.identity.test_by_time import by_system
from tests.domains.identity.test_users import bearer
from tests.factories import accounts
from tests.factories import identity as people
from tests.factories.accounts import PASSWORD
from tests.letters import Letters
from tests.planting import plant
from tests.settling import Settle
from thenga.domains.identity import jobs as declared
from thenga.domains.identity.permissions import PLATFORM_ROLES
from thenga.domains.identity.services import first_staff
from thenga.domains.identity.services.roles import platform_roles
from thenga.domains.identity.tables import UserStatus
from thenga.domains.notification.adapters.senders import Senders
from thenga.domains.notification.values.messages import Budget
from thenga.kernel.errors import RuleViolated
from thenga.kernel.process.host import Host

pytestmark = pytest.mark.settles("identity", "notification")

FIRST = ("platform_operator", "platform_security", "platform_curator", "platform_policy_author")
SECOND = (
    *("platform_operator", "platform_support", "platform_auditor"),
    "platform_policy_approver",
)
Headers = dict[str, str]


def address() -> str:
    return f"{uuid4().hex}@example.test"


def roles(codes: tuple[str, ...]) -> list[str]:
    return [part for code in codes for part in ("--role", code)]


@pytest.fixture(autouse=True)
async def nobody_yet(host: Host, seeded: None) -> None:
    await people.vacate_roles(host)


async def join(api: httpx2.AsyncClient, host: Host, token: str) -> Headers:
    """Prove the address with the code of the letter, and set up an authenticator app."""
    proof = {"token": token, "password": PASSWORD}
    headers = bearer(await api.post("/identity/auth/verify-address", json=proof))
    factor = (
        await api.post("/identity/mfa/factors", json={"kind": "totp"}, headers=headers)
    ).json()
    code = {"code": pyotp.TOTP(factor["secret"]).at(host.now())}
    path = f"/identity/mfa/factors/{factor['id']}/verify"
    assert (await api.post(path, json=code, headers=headers)).status_code == 200
    return headers


async def own_id(api: httpx2.AsyncClient, headers: Headers) -> str:
    return str((await api.get("/identity/me", headers=headers)).json()["account"]["id"])


@pytest.mark.rule("IDN-53")
async def test_two_people_fill_all_roles_and_close_the_console(
    api: httpx2.AsyncClient, host: Host, letters: Letters, settle: Settle
):
    one, other, third = address(), address(), address()

    lost = await thenga("staff", "invite", one, *roles(FIRST))
    again = await thenga("staff", "invite", one, *roles(FIRST))
    invited = await thenga("staff", "invite", other, *roles(SECOND))
    first = await join(api, host, await letters.link_to(one, number=2))
    open_still = await thenga("staff", "invite", one, *roles(FIRST))
    second = await join(api, host, await letters.link_to(other))
    closed = await thenga("staff", "invite", third, "--role", "platform_auditor")
    by_staff = {"email": third, "displayName": "Thabo", "staff": True, "reason": "Joins us"}
    made = await api.post("/identity/users", json=by_staff, headers=first)

    assert {lost.returncode, again.returncode, invited.returncode, open_still.returncode} == {0}
    assert set(FIRST) | set(SECOND) == set(PLATFORM_ROLES)
    assert "The person signs in as before." in open_still.stdout
    assert (closed.returncode, closed.stdout, len(closed.stderr.splitlines())) == (1, "", 1)
    assert "only staff invite staff" in closed.stderr
    assert made.status_code == 201, made.text
    await _trail_shows(api, second, {await own_id(api, first), await own_id(api, second)})
    await _roles_are_their_own(api, first, second)


async def _trail_shows(api: httpx2.AsyncClient, auditor: Headers, invited: set[str]) -> None:
    """The platform's trail says who was invited with what, from which machine and by whom."""
    path = "/identity/audit-events?action=identity.staff.invited"
    found = (await api.get(path, headers=auditor)).json()["items"]
    shown = [event for event in found if event["target"]["id"] in invited]
    assert {event["target"]["id"] for event in shown} == invited
    assert {event["actor"]["kind"] for event in shown} == {"system"}
    assert all(event["detail"]["reason"].startswith("At the console of ") for event in shown)
    assert sorted(shown[0]["detail"]["roles"]) in (sorted(FIRST), sorted(SECOND))


async def _roles_are_their_own(api: httpx2.AsyncClient, first: Headers, second: Headers) -> None:
    """Each does the work of their roles, and nobody gives themselves what is another's."""
    users = await api.get("/identity/users", headers=second)
    third = {"email": address(), "displayName": "Thabo", "staff": True, "reason": "Joins us"}
    made = await api.post("/identity/users", json=third, headers=second)
    body = {"userId": await own_id(api, first), "roleCode": "platform_policy_approver"}
    own = await api.post(
        "/identity/role-assignments", json=body | {"reason": "I need it"}, headers=first
    )
    by_colleague = await api.post(
        "/identity/role-assignments", json=body | {"reason": "They asked"}, headers=second
    )
    assert (users.status_code, made.status_code) == (200, 404)
    assert (own.status_code, own.json()["rule"]) == (422, "IDN-20")
    assert by_colleague.status_code in (403, 422), by_colleague.text


@pytest.mark.rule("IDN-24")
async def test_the_console_combines_no_author_with_an_approver(host: Host, letters: Letters):
    both, later = address(), address()
    policy = ("platform_policy_author", "platform_policy_approver")

    at_once = await thenga("staff", "invite", both, *roles(policy))
    one = await thenga("staff", "invite", later, "--role", policy[0])
    then = await thenga("staff", "invite", later, "--role", policy[1])
    unknown = await thenga("staff", "invite", both, "--role", "owner")
    wrong = await thenga("staff", "invite", "nobody", "--role", "platform_auditor")

    assert (at_once.returncode, one.returncode, then.returncode) == (1, 0, 1)
    assert "cannot both write and approve policies" in at_once.stderr
    assert "cannot both write and approve policies" in then.stderr
    assert (unknown.returncode, wrong.returncode) == (1, 1)
    assert "platform_curator" in unknown.stderr
    assert all(len(run.stderr.splitlines()) == 1 for run in (at_once, then, unknown, wrong)), (
        wrong.stderr
    )
    assert letters.count(both) == 0


async def test_the_console_makes_no_customer_staff(
    api: httpx2.AsyncClient, host: Host, letters: Letters, settle: Settle
):
    customer = await accounts.account(host)
    closed = await accounts.account(host, status=UserStatus.DISABLED, staff=True)
    squatted = await accounts.account(host, status=UserStatus.PENDING_VERIFICATION)

    refused = await thenga("staff", "invite", customer.email, "--role", "platform_support")
    disabled = await thenga("staff", "invite", closed.email, "--role", "platform_support")
    taken = await thenga("staff", "invite", squatted.email, "--role", "platform_support")
    headers = await join(api, host, await letters.link_to(squatted.email))

    assert (refused.returncode, disabled.returncode, taken.returncode) == (1, 1, 0)
    assert "belongs to a customer" in refused.stderr
    assert "closed" in disabled.stderr
    me = (await api.get("/identity/me", headers=headers)).json()["account"]
    assert (me["id"], me["displayName"]) == (
        str(squatted.user_id),
        squatted.email.partition("@")[0],
    )
    assert (await api.get("/identity/users", headers=headers)).status_code == 200


async def test_roles_of_an_invitation_that_nobody_answered_end_with_it(
    api: httpx2.AsyncClient, host: Host, clock: Time
):
    auditor = await people.staff(host, "platform_auditor")
    await first_staff.invite(host, address=address(), role_codes=["platform_curator"])
    path = "/identity/role-assignments?roleCode=platform_curator&status={}&sort=-createdAt"

    async def newest(status: str) -> dict[str, Any]:
        found = await api.get(path.format(status), headers=auditor.headers)
        return dict(found.json()["items"][0])

    before = await newest("active")
    clock.move(timedelta(days=15))
    await by_system(host, declared.remove_unverified)
    clock.restore()

    after = await newest("revoked")
    assert after["id"] == before["id"]


@pytest.mark.rule("NOT-50")
async def test_strangers_do_not_hold_up_the_letter_of_the_console(
    api: httpx2.AsyncClient, host: Host, letters: Letters, settle: Settle
):
    email, senders = address(), Senders(host)
    strangers = Budget("security", "identity.confirm_address")
    while await senders.wait_for_room(email, strangers, is_proven=False) is None:
        pass

    await first_staff.invite(host, address=email, role_codes=["platform_curator"])
    await api.post("/identity/auth/register", json={"email": email, "displayName": "Stranger"})
    headers = await join(api, host, await letters.link_to(email))

    assert (await api.get("/identity/me", headers=headers)).json()["account"]["staff"] is True


async def is_closed(host: Host) -> bool:
    """Whether the console refuses once every role has a holder with a second factor."""
    for code in PLATFORM_ROLES:
        await accounts.totp(host, await people.staff(host, code))
    try:
        await first_staff.invite(host, address=address(), role_codes=["platform_operator"])
    except RuleViolated as refusal:
        return refusal.facts["rule"] == "IDN-53"
    return False


@pytest.mark.rule("IDN-53")
async def test_a_holder_without_a_second_factor_does_not_count(host: Host):
    for code in PLATFORM_ROLES:
        await people.staff(host, code)

    said = await first_staff.invite(host, address=address(), role_codes=["platform_operator"])

    assert all(code in said for code in PLATFORM_ROLES)
    assert await is_closed(host)


async def test_the_last_vacant_role_is_filled(host: Host):
    *others, last = PLATFORM_ROLES
    for code in others:
        await accounts.totp(host, await people.staff(host, code))
    colleague = await accounts.account(host, staff=True)
    await accounts.totp(host, colleague)

    said = await first_staff.invite(host, address=colleague.email, role_codes=[last])

    assert "second factor: none." in said


async def test_a_planted_console_that_stays_open_is_found(
    host: Host, monkeypatch: pytest.MonkeyPatch
):
    async def always(_: Host) -> list[str]:
        return ["platform_auditor"]

    plant(monkeypatch, platform_roles, "roles_without_holder", always)

    assert not await is_closed(host)
