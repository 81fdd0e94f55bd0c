"""The intelligence graph: walked from one thing outwards, within bounds."""

from statistics import median
from time import perf_counter, process_time
from typing import Any
from uuid import UUID, uuid4

import httpx2
import pytest

from tests.factories import identity as people
from tests.factories import organization as companies
from tests.planting import plant
from tests.suites.sizes import size
from thenga.domains.organization.services import facts
from thenga.domains.organization.services.graph import graph
from thenga.domains.organization.services.records import edges, records
from thenga.domains.organization.services.records.edges import Edge, EdgeType, Node
from thenga.domains.organization.tables import Address, Capability, Director, Equipment
from thenga.kernel.db.reader import Reader
from thenga.kernel.process.host import Host
from thenga.kernel.values.ids import new_id


@pytest.fixture
async def owner(host: Host, seeded: None) -> people.Member:
    who = await people.person(host)
    company = await companies.organization(host, who.user_id)
    return await people.member(host, company.id, role="owner", who=who)


async def seen(
    api: httpx2.AsyncClient, owner: people.Member, query: str = "", status: int = 200
) -> Any:
    path = f"/organizations/{owner.organization_id}/intelligence-graph{query}"
    answer = await api.get(path, headers=owner.headers)
    assert answer.status_code == status, answer.text
    return answer.json()


async def machines(host: Host, owner: people.Member, number: int) -> list[UUID]:
    """Machines in one unit of work, each on the company by the edge that its record means."""
    work = companies.working(host, owner.user_id, owner.organization_id)
    made = []
    for n in range(number):
        item = Equipment(
            id=new_id(),
            organization_id=owner.organization_id,
            name=f"Machine {n}",
            quantity=1,
            expiries=[],
        )
        await records.add(work, item)
        made.append(item.id)
    await work.finish()
    return made


async def linked(host: Host, owner: people.Member, *pairs: tuple[UUID, UUID]) -> None:
    """Machines that prove each other, whatever that may mean."""
    said = [
        Edge(EdgeType.PROVES, Node("equipment", str(a)), Node("equipment", str(b)))
        for a, b in pairs
    ]
    work = companies.working(host, owner.user_id, owner.organization_id)
    await edges.save_edges(work, Node("equipment", str(pairs[0][0])), said, kind="imported")
    await work.finish()


@pytest.mark.rule("ORG-30")
async def test_a_record_hangs_on_the_company_as_soon_as_it_is_recorded(
    api: httpx2.AsyncClient, owner: people.Member
):
    made = await api.post(
        f"/organizations/{owner.organization_id}/equipment",
        json={"name": "Grader", "quantity": 1},
        headers=owner.headers,
    )

    found = await seen(api, owner, "?nodeTypes=equipment")

    company, machine = (
        f"organization:{owner.organization_id}",
        f"equipment:{made.json()['id']}",
    )
    assert [node["key"] for node in found["nodes"]] == [company, machine]
    assert (found["nodes"][1]["label"], found["nodes"][1]["version"]) == ("Grader", 1)
    assert [(e["from"], e["to"], e["type"]) for e in found["edges"]] == [(company, machine, "owns")]
    assert (found["truncated"], found["omitted"]) == (False, {})


@pytest.mark.rule("ORG-30")
async def test_what_is_archived_hangs_on_nothing_any_more(
    api: httpx2.AsyncClient, owner: people.Member
):
    folder = f"/organizations/{owner.organization_id}/equipment"
    body = {"name": "Grader", "quantity": 1}
    made = await api.post(folder, json=body, headers=owner.headers)
    await api.delete(f"{folder}/{made.json()['id']}", headers=owner.headers)

    found = await seen(api, owner, "?nodeTypes=equipment")

    assert (len(found["nodes"]), found["edges"]) == (1, [])


@pytest.mark.rule("ORG-30")
async def test_graph_links_facts_to_company_and_conflicts(
    api: httpx2.AsyncClient, owner: people.Member, host: Host
):
    work = companies.working(host, owner.user_id, owner.organization_id)
    source = {"domain": "compliance", "type": "document", "id": str(uuid4())}
    await facts.state_imported(
        work, "tradingName", "Mokoena Roads", register="cipc_register", source=source
    )
    await work.finish()

    found = await seen(api, owner, "?staleOnly=true&nodeTypes=fact,statement")

    torn = f"fact:{owner.organization_id}:tradingName"
    assert [(n["key"], (n["stale"] or {}).get("reason")) for n in found["nodes"]] == [
        (f"organization:{owner.organization_id}", None),
        (torn, "conflicted"),
    ]
    denied = await seen(api, owner, f"?root={torn}&depth=1&edgeTypes=conflicts_with")
    assert [node["reference"]["type"] for node in denied["nodes"]] == ["fact", "statement"]
    assert denied["nodes"][1]["label"] == "imported"


@pytest.mark.parametrize("root", ["product:{}:x", "statement:{}:x", "fact:{}"])
async def test_a_root_that_no_node_can_have_is_refused(
    api: httpx2.AsyncClient, owner: people.Member, root: str
):
    refused = await seen(api, owner, f"?root={root.format(uuid4())}", status=422)

    assert refused["errors"][0]["pointer"] == "/query/root"


@pytest.mark.rule("ORG-30")
async def test_evidence_of_another_domain_is_a_node_without_a_copy(
    api: httpx2.AsyncClient, owner: people.Member, host: Host
):
    document = {"domain": "compliance", "type": "document", "id": str(uuid4())}
    at = (host, Address, owner.organization_id, owner.user_id)
    place = await companies.record(*at, kind="branch", line1="1 Main Mall", city="Gaborone")
    machine = await companies.equipment(
        host,
        owner.organization_id,
        owner.user_id,
        location_address_id=place.id,
        document_refs=[document],
    )
    own = {"domain": "organization", "type": "equipment", "id": str(machine.id)}
    at = (host, Capability, owner.organization_id, owner.user_id)
    claimed = await companies.record(*at, title="Earthworks", evidence_refs=[own])

    found = await seen(api, owner, f"?root=equipment:{machine.id}&depth=1")

    here = f"equipment:{machine.id}"
    assert {(e["from"], e["type"], e["to"]) for e in found["edges"]} >= {
        (f"organization:{owner.organization_id}", "owns", here),
        (here, "located_at", f"address:{place.id}"),
        (here, "evidenced_by", f"compliance.document:{document['id']}"),
        (here, "proves", f"capability:{claimed.id}"),
    }
    outside = next(n for n in found["nodes"] if n["reference"]["domain"] == "compliance")
    assert (outside["reference"], outside["label"]) == (document, None)


async def test_a_machine_whose_paper_ran_out_is_stale(
    api: httpx2.AsyncClient, owner: people.Member, host: Host
):
    paper = [{"kind": "inspection", "expires_on": "2020-03-01"}]
    await companies.equipment(host, owner.organization_id, owner.user_id, expiries=paper)

    found = await seen(api, owner, "?nodeTypes=equipment")

    assert found["nodes"][1]["stale"] == {
        "reason": "evidence_expired",
        "since": "2020-03-01T22:00:00Z",
    }
    assert found["edges"][0]["stale"]["reason"] == "evidence_expired"


async def without_directors(
    api: httpx2.AsyncClient, host: Host, owner: people.Member, number: int
) -> Any:
    """The graph as a member sees it who may not read directors, of whom there are some."""
    at = (host, Director, owner.organization_id, owner.user_id)
    for n in range(number):
        await companies.record(*at, surname=f"Mokoena {n}", role="director", id_type="other")
    viewer = await people.member(host, owner.organization_id, role="viewer")
    work = people.working(host, owner.organization_id)
    await people.permission(work, viewer, "organization:director:read", effect="deny")
    await work.finish()
    return await seen(api, viewer, "?depth=3")


@pytest.mark.rule("ORG-30")
async def test_what_one_may_not_read_is_counted_and_not_shown(
    api: httpx2.AsyncClient, owner: people.Member, host: Host
):
    found = await without_directors(api, host, owner, 3)
    whole = await seen(api, owner, "?depth=3")

    shown = [n for n in found["nodes"] if n["reference"]["type"] == "director"]
    print(f"director_nodes={len(shown)} omitted_directors={found['omitted']['director']}")
    assert (shown, found["omitted"]) == ([], {"director": 3})
    assert "Mokoena 1" not in str(found)
    assert len([n for n in whole["nodes"] if n["reference"]["type"] == "director"]) == 3
    assert whole["omitted"] == {}


async def test_a_planted_walk_that_asks_nobody_is_found(
    api: httpx2.AsyncClient, owner: people.Member, host: Host, monkeypatch: pytest.MonkeyPatch
):
    async def everything(_: Reader) -> set[str]:
        return set()

    plant(monkeypatch, graph, "_unreadable", everything)

    found = await without_directors(api, host, owner, 1)

    assert any(n["reference"]["type"] == "director" for n in found["nodes"])


async def test_a_planted_record_without_its_edges_is_found(
    api: httpx2.AsyncClient, owner: people.Member, host: Host, monkeypatch: pytest.MonkeyPatch
):
    plant(monkeypatch, edges, "of_record", lambda *_: [])
    await machines(host, owner, 1)

    assert len((await seen(api, owner, "?nodeTypes=equipment"))["nodes"]) == 1


@pytest.mark.rule("ORG-30")
async def test_the_nearest_are_shown_where_a_bound_cuts(
    api: httpx2.AsyncClient, owner: people.Member, host: Host
):
    first, second, third, fourth = await machines(host, owner, 4)
    await linked(host, owner, (first, second))
    work = companies.working(host, owner.user_id, owner.organization_id)
    for gone in (second, third, fourth):  # only the first one hangs on the company
        await edges.save_edges(work, Node("equipment", str(gone)), [], kind="imported")
    await work.finish()
    await linked(host, owner, (second, third), (third, fourth))

    root = f"root=equipment:{first}"
    one = await seen(api, owner, f"?{root}&depth=1&edgeTypes=proves")
    two = await seen(api, owner, f"?{root}&depth=2&edgeTypes=proves")
    cut = await seen(api, owner, f"?{root}&depth=3&limit=2&edgeTypes=proves")

    assert [node["label"] for node in one["nodes"]] == ["Machine 0", "Machine 1"]
    assert [node["label"] for node in two["nodes"]] == ["Machine 0", "Machine 1", "Machine 2"]
    assert [node["label"] for node in cut["nodes"]] == ["Machine 0", "Machine 1"]
    assert (two["truncated"], cut["truncated"]) == (False, True)


@pytest.mark.rule("ORG-30")
async def test_a_cycle_ends(api: httpx2.AsyncClient, owner: people.Member, host: Host):
    a, b, c = await machines(host, owner, 3)
    await linked(host, owner, (a, b), (b, c), (c, a))

    found = await seen(api, owner, f"?root=equipment:{a}&depth=3&edgeTypes=proves")

    keys = [node["key"] for node in found["nodes"]]
    print(f"cycle_nodes={len(keys)} edges={len(found['edges'])}")
    assert sorted(keys) == sorted({f"equipment:{one}" for one in (a, b, c)})
    assert len(found["edges"]) == 3


@pytest.mark.parametrize(
    "query",
    [
        "?depth=4",
        "?limit=501",
        "?root=weather:1",
        "?nodeTypes=weather",
        "?edgeTypes=loves",
        "?colour=red",
    ],
)
async def test_what_is_over_a_bound_is_refused(
    api: httpx2.AsyncClient, owner: people.Member, query: str
):
    refused = await seen(api, owner, query, status=422)

    assert refused["code"] == "validation-failed"


async def test_a_root_of_another_company_is_not_there(
    api: httpx2.AsyncClient, owner: people.Member, host: Host
):
    who = await people.person(host)
    company = await companies.organization(host, who.user_id)
    other = await people.member(host, company.id, role="owner", who=who)
    (foreign,) = await machines(host, other, 1)

    await seen(api, owner, f"?root=equipment:{foreign}", status=404)
    await seen(api, owner, f"?root=equipment:{uuid4()}", status=404)


async def timed(
    api: httpx2.AsyncClient, owner: people.Member, query: str, times: int
) -> tuple[float, float]:
    """By the wall, of ninety-five calls in a hundred; of this process, of the middle one; in ms."""
    wall, own = [], []
    for _ in range(times):
        begun, used = perf_counter(), process_time()
        await seen(api, owner, query)
        wall.append((perf_counter() - begun) * 1000)
        own.append((process_time() - used) * 1000)
    place = int(times * 0.95)
    return sorted(wall)[place], median(own)


@pytest.mark.rule("ORG-30")
async def test_three_thousand_records_are_walked_within_the_bounds(
    api: httpx2.AsyncClient, owner: people.Member, host: Host
):
    made = await machines(host, owner, size(600, 3000))
    pairs = [(one, made[(n * 7 + 1) % len(made)]) for n, one in enumerate(made)]
    await linked(host, owner, *pairs)

    found = await seen(api, owner, "?depth=3&limit=500")
    wall, own = await timed(api, owner, "?depth=3&limit=500", size(10, 40))

    print(
        f"graph_ms p95={wall:.0f} own_ms p50={own:.0f} records={len(made)} "
        f"nodes={len(found['nodes'])} edges={len(found['edges'])} truncated={found['truncated']}"
    )
    assert len(found["nodes"]) == graph.MOST_NODES
    assert len(found["edges"]) <= graph.MOST_EDGES
    assert found["truncated"]
    if size(0, 1):  # beside other work the wall clock tells of that work
        assert wall <= graph.MOST_MS
