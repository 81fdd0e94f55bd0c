"""Who can call what: every operation of flags, support, reviews, dashboards and tenants."""

from typing import Any
from uuid import UUID, uuid4

import httpx2
import pytest
from sqlalchemy import func, select

from tests.factories import flags, held, identity, organization
from tests.factories import support as cases
from tests.factories.identity import Member
from tests.suites import calls
from tests.suites.calls import administration_platform, administration_support, keys
from tests.suites.calls.sending import Sent
from thenga import topology
from thenga.domains.administration.schemas.support_cases import ResolveCase
from thenga.domains.administration.services import support
from thenga.domains.administration.tables import (
    AdminAction,
    ResolutionCode,
    SupportCase,
    SupportCaseStatus,
)
from thenga.domains.identity.tables import SessionStatus
from thenga.kernel.access.actors import OPERATOR, SYSTEM, Scope
from thenga.kernel.access.origin import Origin
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.work import Work
from thenga.kernel.http.document.operations import Operation, operations
from thenga.kernel.process.host import Host

MAKERS = administration_support.MAKERS | administration_platform.MAKERS
OPERATIONS = [one for one in operations(topology.load(["administration"])) if one.name in MAKERS]


@pytest.fixture
async def owner(host: Host, seeded: None) -> Member:
    who = await identity.person(host)
    company = await organization.organization(host, who.user_id, mode="sandbox")
    member = await identity.member(host, company.id, role="owner", who=who, sandbox=True)
    await held.with_api_keys(host, company.id)
    return member


async def _send(
    api: httpx2.AsyncClient, one: Operation, sent: Sent, headers: dict[str, str]
) -> httpx2.Response:
    path = calls.path_of(one, sent.ids, sent.parts).removeprefix("/v1")
    besides = {n: v for n, v in sent.headers.items() if n != "Authorization"}
    body = sent.body(sent.ids)
    return await api.request(one.method, path, json=body, headers=besides | headers)


async def _actions(host: Host, request_id: str) -> int:
    scope = Scope(actor=SYSTEM, platform=True)
    read = Reader(host, "administration", scope, Origin("test", "test", "test"))
    try:
        asked = AdminAction.request_id == request_id
        return await read.value(select(func.count()).where(asked)) or 0
    finally:
        await read.close()


async def test_only_holders_call_and_every_act_of_staff_is_recorded(
    api: httpx2.AsyncClient, host: Host, owner: Member
) -> None:
    stranger = await identity.member(host, uuid4(), role="owner")
    revoked = await identity.person(host, session=SessionStatus.REVOKED, staff=True)
    powerless = await identity.staff(host, "platform_curator")
    key = await keys.key(host, owner, owner.organization_id, ["administration:support_case:read"])
    refused = (
        *(stranger.headers, revoked.headers, powerless.headers, {}),
        {"Authorization": f"Bearer {key}"},
    )
    sent_calls, wrongly, missing, lost = 0, [], [], []

    for one in OPERATIONS:
        sent = await MAKERS[one.name](host, owner, owner.organization_id)
        readable = one.permission == "administration:support_case:read"
        for headers in refused[: 4 if readable else 5]:
            answer = await _send(api, one, sent, headers)
            sent_calls += 1
            wrongly += [one.name] if answer.status_code < 400 else []
        request_id = uuid4().hex
        right = sent.headers if sent.by_staff else owner.headers
        answer = await _send(api, one, sent, right | {"X-Request-Id": request_id})
        sent_calls += 1
        lost += [f"{one.name} {answer.text}"] if answer.status_code >= 300 else []
        records = sent.by_staff and (one.method != "GET" or one.name == "get_tenant")
        if await _actions(host, request_id) != int(records):
            missing.append(one.name)

    print(
        f"operations={len(OPERATIONS)} calls={sent_calls} allowed_wrongly={len(wrongly)} "
        f"actions_missing={len(missing)}"
    )
    assert (wrongly, missing, lost) == ([], [], [])


async def test_a_resolution_that_breaks_leaves_nothing_behind(
    host: Host, owner: Member, monkeypatch: pytest.MonkeyPatch
) -> None:
    case = await cases.case(host, owner.user_id, owner.organization_id)
    kills = 0

    for point in range(1, 20):
        left = [point]

        async def broken(work: Work, write: Any = Work._write, left: list[int] = left) -> Any:
            left[0] -= 1
            if left[0] == 0:
                raise ConnectionError("the process ended here")
            return await write(work)

        with monkeypatch.context() as patch:
            patch.setattr(Work, "_write", broken)
            try:
                await _resolve(host, case.id)
                break
            except ConnectionError:
                kills += 1
        assert (await _state(host, case.id))[0] is SupportCaseStatus.NEW

    status, actions_, events = await _state(host, case.id)
    gaps = int(actions_ != 1) + int(events != 1)
    print(f"kills={kills} effects=1 actions={actions_} events={events} gaps={gaps}")
    assert status is SupportCaseStatus.RESOLVED
    assert kills > 1
    assert gaps == 0


async def _resolve(host: Host, case_id: UUID) -> None:
    work = flags.by_staff(host)
    await work.switch_scope(organization_id=OPERATOR)
    try:
        given = ResolveCase(code=ResolutionCode.SPAM, text="Not a case.", reason=cases.REASON)
        await support.resolve_case(work, case_id, given)
        await work.finish()
    finally:
        await work.close()


async def _state(host: Host, case_id: UUID) -> tuple[SupportCaseStatus, int, int]:
    """The status of a case, and how many actions and events tell of its resolution."""
    origin = Origin(action="test", request_id="test", correlation_id="test")
    scope = Scope(actor=SYSTEM, platform=True)
    read = Work(host, "administration", scope, origin, login="administration_system")
    try:
        (case,) = await read.all(select(SupportCase).where(SupportCase.id == case_id))
        asked = AdminAction.resource_id == case_id
        recorded = await read.value(select(func.count()).where(asked))
        (told,) = await read.query(
            "SELECT count(*) AS n FROM administration.outbox WHERE aggregate LIKE '%' || $1 "
            "AND envelope LIKE '%SupportCaseResolved%'",
            str(case_id),
        )
        return case.status, recorded or 0, told["n"]
    finally:
        await read.close()


async def test_staff_see_a_sandbox_case_at_its_own_clock(
    api: httpx2.AsyncClient, host: Host, owner: Member
) -> None:
    agent = await cases.agent(host)
    case = await cases.case(host, owner.user_id, owner.organization_id)
    path = f"{cases.PATH}/{case.id}"
    before = await api.get(path, headers=agent.headers)
    async with host.engines.connection("administration", "administration_system") as connection:
        await connection.execute(
            "INSERT INTO administration.clock_offset (organization_id, ahead, sequence) "
            "VALUES ($1, interval '30 days', 1)",
            owner.organization_id,
        )

    after = await api.get(path, headers=agent.headers)
    resolved = await cases.resolved(api, agent, str(case.id), "spam")

    states = [a.json()["sla"]["resolution"]["state"] for a in (before, after, resolved)]
    assert states == ["running", "breached", "breached"]
    assert resolved.json()["resolution"]["at"] > case.due_at.isoformat()
