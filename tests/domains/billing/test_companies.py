"""The company behind an organization: it fills in who is billed, and has one trial."""

import asyncio
from typing import Any
from uuid import uuid4

import httpx2
import pytest

from tests.factories import billing, held
from tests.factories import identity as people
from tests.factories import organization as companies
from tests.planting import plant
from thenga.domains.billing.services.accounts import accounts
from thenga.domains.billing.services.customer import company_profile as asked
from thenga.domains.billing.tables import AccountStatus
from thenga.domains.organization.services.facts import Check, Given, verify
from thenga.domains.organization.services.organizations import organizations
from thenga.domains.organization.tables import Outcome
from thenga.kernel.errors import DependencyUnavailable
from thenga.kernel.process.host import Host
from thenga.kernel.values.ids import new_id

PROFILE = {"legalName": "Mokoena Plant Hire (Pty) Ltd", "legalForm": "private_company"}


def number() -> str:
    """A registration number that nobody had before."""
    return f"2019/{new_id().int % 1_000_000:06}/07"


async def founded(
    host: Host, mode: str = "live", who: people.Person | None = None, **profile: str
) -> people.Member:
    """An organization with a profile and its owner; Billing has not heard of it yet."""
    who = who or await people.person(host)
    work = companies.working(host, who.user_id)
    made = await organizations.create_organization(
        work,
        organization_type="enterprise",
        mode=mode,
        time_zone="Africa/Johannesburg",
        locale="en-ZA",
        profile={key: Given(value) for key, value in (PROFILE | profile).items()},
    )
    work._events.clear()
    await work.finish()
    return await people.member(host, made.id, role="owner", who=who, sandbox=mode == "sandbox")


async def company(
    host: Host, mode: str = "live", who: people.Person | None = None, **profile: str
) -> people.Member:
    """As `founded`, with an account that nobody has filled in."""
    owner = await founded(host, mode, who, **profile)
    book = "sandbox" if mode == "sandbox" else "live"
    provisional = AccountStatus.PROVISIONAL
    await billing.account(host, owner.organization_id, status=provisional, book=book)
    return owner


async def silent(seconds: float, name: str, answer: Any) -> Any:
    """Organization does not answer."""
    answer.close()
    raise DependencyUnavailable()


async def start(api: httpx2.AsyncClient, owner: people.Member) -> httpx2.Response:
    return await api.post("/billing/trials", json={}, headers=owner.acting)


async def patient(api: httpx2.AsyncClient, owner: people.Member) -> httpx2.Response:
    """As a client that tries again when it is told to: a port may time out on a busy machine."""
    for _ in range(10):
        answer = await start(api, owner)
        if answer.status_code != 503:
            break
    return answer


async def verified(host: Host, owner: people.Member) -> people.Member:
    """The company's number is verified by a checker."""
    work = companies.working(host, uuid4(), owner.organization_id)
    check = Check(Outcome.VERIFIED, "register", {"register": "cipc_register"})
    try:
        await verify(work, "registrationNumber", check)
        work._events.clear()
        await work.finish()
    finally:
        await work.close()
    return owner


async def lapsed(host: Host, owner: people.Member) -> None:
    """The check of a company's number is over, so that another may hold it."""
    async with host.engines.connection("organization", "organization_system") as connection:
        await connection.execute(
            "UPDATE organization.verification SET ended_at = now() WHERE organization_id = $1",
            owner.organization_id,
        )


@pytest.mark.rule("BIL-17")
async def test_registered_company_has_one_trial_across_organizations(
    api: httpx2.AsyncClient, host: Host, seeded: None
):
    registered = number()
    first = await verified(host, await company(host, registrationNumber=registered))
    other = await verified(host, await company(host, registrationNumber=number()))

    answers = [await patient(api, one) for one in (first, first, other)]
    await lapsed(host, first)
    without = await company(host, registrationNumber=registered.replace("/", ""))
    second = await verified(host, without)
    answers.append(await patient(api, second))

    codes = [one.json().get("code") for one in answers]
    texts = [answers[n].json()["detail"] for n in (1, 3)]
    print(f"answers={[one.status_code for one in answers]} same_text={texts[0] == texts[1]}")
    assert [one.status_code for one in answers] == [201, 409, 201, 409]
    assert (codes[1], codes[3]) == ("billing-trial-used", "billing-trial-used")
    assert texts[0] == texts[1]
    assert registered not in answers[3].text


@pytest.mark.rule("SEC-69")
async def test_an_unverified_number_takes_no_trial_from_its_company(
    api: httpx2.AsyncClient, host: Host, seeded: None
):
    registered = number()
    attackers = [await company(host, registrationNumber=registered) for _ in range(3)]
    taken = [(await patient(api, one)).status_code for one in attackers]
    real = await verified(host, await company(host, registrationNumber=registered))

    answer = await patient(api, real)

    print(f"attackers={taken} company={answer.status_code}")
    assert (taken, answer.status_code) == ([201] * 3, 201)


@pytest.mark.rule("SEC-69")
async def test_a_person_has_one_trial_without_a_verified_number(
    api: httpx2.AsyncClient, host: Host, seeded: None
):
    who = await people.person(host)
    owners = [await company(host, who=who, registrationNumber=number()) for _ in range(4)]
    proven = await verified(host, owners.pop())

    answers = await asyncio.gather(*(patient(api, one) for one in owners))
    with_number = await patient(api, proven)

    codes = sorted(one.status_code for one in answers)
    print(f"organizations={len(owners)} answers={codes} verified={with_number.status_code}")
    assert codes == [201, 409, 409]
    assert {one.json().get("code") for one in answers} == {None, "billing-trial-used"}
    assert with_number.status_code == 201


@pytest.mark.rule("BIL-17")
async def test_a_sandbox_uses_no_trial_of_its_company_up(
    api: httpx2.AsyncClient, host: Host, seeded: None
):
    registered = number()
    played = await company(host, "sandbox", registrationNumber=registered)
    real = await verified(host, await company(host, registrationNumber=registered))

    answers = [await start(api, one) for one in (played, real)]

    assert [one.status_code for one in answers] == [201, 201]


@pytest.mark.rule("BIL-17")
async def test_the_number_is_kept_as_a_keyed_hash_only(
    api: httpx2.AsyncClient, host: Host, seeded: None
):
    registered = number()
    owner = await verified(host, await company(host, registrationNumber=registered))
    await start(api, owner)

    async with host.engines.connection("billing", "billing_system") as connection:
        rows = await connection.fetch("SELECT row_to_json(c)::text FROM billing.trial_company c")
        trail = await connection.fetch(
            "SELECT entry FROM billing.audit_entry WHERE organization_id = $1",
            owner.organization_id,
        )

    kept = " ".join(row[0] for row in [*rows, *trail])
    assert registered not in kept
    assert registered.replace("/", "") not in kept


@pytest.mark.rule("BIL-17")
async def test_silence_of_organization_gives_no_second_trial(
    api: httpx2.AsyncClient, host: Host, seeded: None, monkeypatch: pytest.MonkeyPatch
):
    owner = await verified(host, await company(host, registrationNumber=number()))
    plant(monkeypatch, asked, "within", silent)
    waits = await start(api, owner)
    monkeypatch.undo()

    answer = await start(api, owner)

    assert (waits.status_code, waits.headers["retry-after"]) == (503, "2")
    assert answer.status_code == 201


async def test_the_profile_fills_in_who_is_billed(
    api: httpx2.AsyncClient, host: Host, seeded: None
):
    registered = number()
    owner = await company(host, registrationNumber=registered, tradingName="Mokoena")
    body = {"prefillFromOrganization": True, "billTo": {"legalName": "Mokoena Holdings"}}

    made = await api.post("/billing/accounts", json=body, headers=owner.acting)

    account = made.json()
    assert (made.status_code, account["status"]) == (201, "active")
    assert account["billTo"]["legalName"] == "Mokoena Holdings"  # what is said counts
    assert account["billTo"]["tradingName"] == "Mokoena"
    assert account["billTo"]["registrationNumber"] == registered
    assert account["billToProvenance"]["kind"] == "imported"
    assert account["billToProvenance"]["source"]["domain"] == "organization"


@pytest.mark.parametrize("prefill", [True, False])
async def test_without_a_name_nobody_is_billed(
    api: httpx2.AsyncClient,
    host: Host,
    seeded: None,
    monkeypatch: pytest.MonkeyPatch,
    prefill: bool,
):
    owner = await company(host)
    plant(monkeypatch, asked, "within", silent)

    made = await api.post(
        "/billing/accounts", json={"prefillFromOrganization": prefill}, headers=owner.acting
    )

    assert (made.status_code, made.json()["rule"]) == (422, "bill-to-whole")
    assert made.json()["missing"] == ["/billTo/legalName"]


async def test_a_planted_number_that_is_not_remembered_is_found(
    api: httpx2.AsyncClient, host: Host, seeded: None, monkeypatch: pytest.MonkeyPatch
):
    async def forgets(*_: Any) -> bool:
        return False

    who = await people.person(host)
    owners = [await company(host, who=who) for _ in range(2)]
    plant(monkeypatch, asked, "has_used_trial", forgets)

    answers = [await start(api, one) for one in owners]

    assert [one.status_code for one in answers] != [201, 409]


@pytest.mark.rule("BIL-16")
@pytest.mark.rule("BIL-29")
@pytest.mark.parametrize("mode", ["live", "sandbox"])
async def test_trial_opens_an_account_that_does_not_exist_yet(
    api: httpx2.AsyncClient, host: Host, seeded: None, mode: str
):
    owner = await founded(host, mode)

    made = await start(api, owner)
    work = billing.working(host, owner.organization_id)
    await accounts.open_account(work, sandbox=mode == "sandbox")  # the event comes late
    await work.finish()

    found = (await api.get("/billing/accounts", headers=owner.acting)).json()["items"]
    told = await held.told(host, owner.organization_id, "BillingAccountOpened")
    assert (made.status_code, made.json()["status"]) == (201, "active")
    assert [(one["status"], one["book"]) for one in found] == [("provisional", mode)]
    assert [one["book"] for one in told] == [mode]


@pytest.mark.rule("BIL-16")
async def test_two_first_trials_at_once_open_one_account(
    api: httpx2.AsyncClient, host: Host, seeded: None
):
    owner = await founded(host)

    answers = await asyncio.gather(*(start(api, owner) for _ in range(4)))

    found = (await api.get("/billing/accounts", headers=owner.acting)).json()["items"]
    assert [one.status_code for one in answers].count(201) == 1
    assert {one.status_code for one in answers} <= {201, 409, 503}
    assert len(found) == 1


async def test_account_is_not_opened_before_its_book_is_known(
    api: httpx2.AsyncClient, host: Host, seeded: None, monkeypatch: pytest.MonkeyPatch
):
    owner = await founded(host)
    plant(monkeypatch, asked, "within", silent)

    waits = await start(api, owner)

    assert (waits.status_code, waits.headers["retry-after"]) == (503, "2")
