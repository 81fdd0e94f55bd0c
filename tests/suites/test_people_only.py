"""What only people may do is refused to every key, service and agent, whatever they hold."""

from collections.abc import AsyncIterator
from uuid import uuid4

import pytest

from tests.factories import identity
from tests.factories.identity import Member
from tests.kernel import doors_domain
from tests.planting import plant
from tests.suites.calls import keys
from thenga import topology
from thenga.domains.identity.provider import LocalDecisions
from thenga.domains.identity.public import ActorRef, AgentRef, ResourceRef
from thenga.domains.identity.services.decisions import _stages
from thenga.domains.identity.services.roles import catalogue
from thenga.kernel.access.gate import Passage, problem_of
from thenga.kernel.declare.permission import Audience, Granted
from thenga.kernel.process.host import Host

# The probe has one, so that the sweep is never empty.
DOMAINS = [*topology.load(topology.DOMAINS), doors_domain.DOMAIN]
PEOPLE_ONLY = [g for domain in DOMAINS for g in domain.permissions if g.people_only]
REASON = "person_required"
_AGENT = AgentRef(agent_id="assistant", version="1")


@pytest.fixture
async def owner(host: Host, seeded: None) -> AsyncIterator[Member]:
    await catalogue.seed_permissions(host, DOMAINS)
    yield await identity.member(host, uuid4(), role="owner")
    await catalogue.seed_permissions(host, DOMAINS[:-1])


async def entered(host: Host, owner: Member, code: str, credential: str) -> str:
    """How the gate answers a credential: `allowed`, or the code and the reason of its no."""
    passed = await LocalDecisions(host).enter(
        credential=credential,
        organization_id=owner.organization_id,
        permission=code,
        network="127.0.0.1",
        request_id="a suite",
    )
    if isinstance(passed, Passage):
        return "allowed"
    return f"{problem_of(passed, code).code} {passed.reason_code}"


async def checked(
    host: Host, owner: Member, code: str, *, kind: str = "user", agent: AgentRef | None = None
) -> str:
    """What a domain hears that asks for somebody who acts later or through an agent."""
    made = await LocalDecisions(host).check(
        actor=ActorRef(type=kind, id=owner.user_id),
        organization_id=owner.organization_id,
        action=code,
        resource=ResourceRef(type="thing"),
        channel="job",
        request_id="a suite",
        agent=agent,
    )
    return made.reason_code


async def wrongly_let_in(host: Host, owner: Member) -> list[str]:
    """The machines that are not refused for being machines, one line each."""
    faults = []
    for granted in PEOPLE_ONLY:
        code = str(granted.code)
        key = await keys.key(host, owner, owner.organization_id, [code])
        heard = {
            "key": (await entered(host, owner, code, key)).removeprefix("forbidden "),
            "agent": await checked(host, owner, code, agent=_AGENT),
            "service": await checked(host, owner, code, kind="service"),
        }
        faults += [f"{code}: {who} {said}" for who, said in heard.items() if said != REASON]
    return faults


async def test_machines_are_refused_what_only_people_may_do(host: Host, owner: Member) -> None:
    faults = await wrongly_let_in(host, owner)

    print(f"people_only={len(PEOPLE_ONLY)} machines=3 let_in={len(faults)}")
    assert faults == []
    assert await entered(host, owner, doors_domain.Permission.SEAL, owner.token) == "allowed"


async def test_a_planted_gate_that_takes_machines_for_people_is_found(
    host: Host, owner: Member, monkeypatch: pytest.MonkeyPatch
) -> None:
    plant(monkeypatch, _stages, "_is_machine", lambda *_: False)

    assert len(await wrongly_let_in(host, owner)) == 3 * len(PEOPLE_ONLY)


def test_the_catalogue_offers_them_to_no_key_and_no_agent() -> None:
    sandbox = Granted("a:b:seal", "Seal", (Audience.SANDBOX, Audience.TENANT), people_only=True)

    assert {(g.keys, g.agents) for g in (*PEOPLE_ONLY, sandbox)} == {(False, "never")}
