"""What is measured inside a process: the gate, and the relay beside bare publishing."""

import asyncio
import time
from statistics import quantiles

from nats.js.api import DiscardPolicy, StorageType, StreamConfig

from tests.bench.setting import Stage
from thenga.domains.identity.provider import LocalDecisions
from thenga.domains.organization import public
from thenga.domains.organization.tables import Equipment
from thenga.kernel.access.actors import SYSTEM, Scope
from thenga.kernel.access.gate import Passage
from thenga.kernel.access.origin import Origin
from thenga.kernel.db.work import Work
from thenga.kernel.events import mesh
from thenga.kernel.events.accounts import TOOLS
from thenga.kernel.events.relay import Relay
from thenga.kernel.process.host import Host
from thenga.kernel.values.ids import new_id
from thenga.starting import make_host

EVENTS = 6_000


async def gate_p95(stage: Stage, calls: int = 3_000) -> tuple[float, float]:
    """The gate's median and 95th percentile in milliseconds, one call after the other."""
    host = make_host(stage.settings)
    gate = LocalDecisions(host)
    took = []
    for _ in range(calls + 200):
        began = time.perf_counter()
        passed = await gate.enter(
            credential=stage.token,
            organization_id=stage.organization_id,
            permission="organization:equipment:read",
            network="127.0.0.1",
            request_id="bench",
        )
        took.append((time.perf_counter() - began) * 1000)
        assert isinstance(passed, Passage)
    await host.close()
    cut = quantiles(took[200:], n=100)
    return cut[49], cut[94]


async def relay_speed(stage: Stage) -> tuple[float, float]:
    """Events a second through the outbox, and of bare nats-py with the same fsync."""
    host = make_host(stage.settings)
    bare = await _bare(host)
    await _fill(host, stage)
    relay = Relay(host, "organization")
    stop = asyncio.Event()
    running = asyncio.create_task(relay.run(stop))
    while not relay.published:
        await asyncio.sleep(0.001)
    began, first = time.perf_counter(), relay.published
    while relay.published < EVENTS:
        await asyncio.sleep(0.005)
    speed = (relay.published - first) / (time.perf_counter() - began)
    stop.set()
    await running
    await host.close()
    return speed, bare


async def _fill(host: Host, stage: Stage) -> None:
    for _ in range(EVENTS // 500):
        origin = Origin(action="bench", request_id="bench", correlation_id="bench")
        scope = Scope(actor=SYSTEM, organization_id=stage.organization_id)
        work = Work(host, "organization", scope, origin)
        for _ in range(500):
            made = await work.add(
                Equipment(
                    organization_id=stage.organization_id, name="Told", quantity=1, expiries=[]
                )
            )
            work.publish(
                public.EquipmentAdded(
                    organization_id=stage.organization_id,
                    record_id=made.id,
                    record_version=1,
                    change="added",
                    changed_fields=["name", "quantity"],
                    status="available",
                )
            )
        await work.finish()


async def _bare(host: Host) -> float:
    """As many messages of the same size, many in flight at once, awaited to the last."""
    client = await mesh.connect(host.settings, TOOLS)
    js = client.jetstream(publish_async_max_pending=4_000)
    await js.add_stream(
        StreamConfig(
            name="BARE", subjects=["bare.>"], storage=StorageType.FILE, discard=DiscardPolicy.NEW
        )
    )
    payload = b"x" * 700
    began = time.perf_counter()
    waiting = []
    for _ in range(EVENTS):
        headers = {"Nats-Msg-Id": str(new_id())}
        waiting.append(await js.publish_async("bare.x", payload, headers=headers))
    await asyncio.gather(*waiting)
    speed = EVENTS / (time.perf_counter() - began)
    await client.close()
    return speed
