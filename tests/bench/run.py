"""`make bench`: requests a second of the real routes against bare ones, side by side."""

import asyncio
import re
import subprocess
import sys
import tempfile
from contextlib import ExitStack
from statistics import median

from tests.bench import inside
from tests.bench.setting import Stage, serving, staged

ROUNDS, SECONDS, CONNECTIONS = 5, 4, 16
LEAST, MOST_GROWTH = 0.50, 1.3
GROWTH_ROUNDS = 9
GROWTH = ((10_000, 10), (1_000_000, 10), (1_000_000, 10_000))

_POST = """
wrk.method = "POST"
wrk.body = '{"name":"Excavator","quantity":1}'
wrk.headers["Content-Type"] = "application/json"
local n = 0
local id = tostring(os.time()) .. tostring({})
request = function()
  n = n + 1
  wrk.headers["Idempotency-Key"] = id:gsub("[^0-9a-z]", "") .. "-" .. n
  return wrk.format()
end
"""


def wrk(
    url: str,
    token: str,
    script: str | None = None,
    *,
    seconds: int = SECONDS,
    connections: int = CONNECTIONS,
) -> tuple[float, float]:
    """Requests a second and the median in ms; an answer that is not 2xx ends the run."""
    command = ["wrk", "-t1", f"-c{connections}", f"-d{seconds}s", "--latency"]
    command += ["-H", f"Authorization: Bearer {token}"]
    with tempfile.NamedTemporaryFile("w", suffix=".lua") as file:
        if script is not None:
            file.write(script)
            file.flush()
            command += ["-s", file.name]
        said = subprocess.run([*command, url], capture_output=True, text=True, check=True).stdout
    if "Non-2xx" in said or "Socket errors" in said:
        raise RuntimeError(said)
    rate = re.search(r"Requests/sec:\s+([0-9.]+)", said)
    middle = re.search(r"50%\s+([0-9.]+)(us|ms|s)", said)
    assert rate is not None and middle is not None
    return float(rate[1]), float(middle[1]) * {"us": 0.001, "ms": 1.0, "s": 1000.0}[middle[2]]


def compare(stage: Stage, real: str, bare: str) -> dict[str, float]:
    """The ratio of each route, as the median of alternating rounds."""
    base = f"/v1/organizations/{stage.organization_id}/equipment"
    routes = {
        "get_one": (f"{base}/{stage.equipment_id}", None),
        "list_50": (base, None),
        "create": (base, _POST),
    }
    ratios = {}
    for name, (path, script) in routes.items():
        for address in (real, bare):
            wrk(address + path, stage.token, script, seconds=1)
        rounds = [
            [wrk(address + path, stage.token, script)[0] for address in (real, bare)]
            for _ in range(ROUNDS)
        ]
        # Of each round by itself, because the machine's own speed drifts from minute to minute.
        ratios[name] = median(ours / theirs for ours, theirs in rounds)
        ours, theirs = (median(side) for side in zip(*rounds, strict=True))
        told = f"real={ours:.0f}/s bare={theirs:.0f}/s ratio={ratios[name]:.2f}"
        print(f"{name} {told}", flush=True)
    return ratios


def growth() -> dict[str, float]:
    """How the medians grow with rows and tenants: all stages stand at once, rounds alternate."""
    with ExitStack() as stack:
        paths: list[tuple[Stage, dict[str, str]]] = []
        for rows, tenants in GROWTH:
            stage = stack.enter_context(staged(rows, tenants))
            real = stack.enter_context(serving(stage, "thenga.main:app", factory=True))
            base = f"{real}/v1/organizations/{stage.organization_id}/equipment"
            paths.append((stage, {"get_one": f"{base}/{stage.equipment_id}", "list_50": base}))
        return {name: _grown(name, paths) for name in ("get_one", "list_50")}


def _grown(name: str, paths: list[tuple[Stage, dict[str, str]]]) -> float:
    rounds = [
        [wrk(path[name], stage.token, seconds=1, connections=2)[1] for stage, path in paths]
        for _ in range(GROWTH_ROUNDS + 1)
    ][1:]  # the first warms up
    for (rows, tenants), took in zip(GROWTH, zip(*rounds, strict=True), strict=True):
        print(f"growth {name} rows={rows} tenants={tenants} p50_ms={median(took):.2f}")
    # Of each round by itself, as above.
    worst = max(median(took[n] / took[0] for took in rounds) for n in range(1, len(GROWTH)))
    print(f"growth {name} ratio={worst:.2f}", flush=True)
    return worst


def main() -> int:
    failed = []
    with staged(10_000) as stage:
        gate = asyncio.run(inside.gate_p95(stage))
        print(f"gate p50_ms={gate[0]:.2f} p95_ms={gate[1]:.2f} statements_per_enter=1", flush=True)
        relay, bare_relay = asyncio.run(inside.relay_speed(stage))
        share = relay / bare_relay
        print(f"relay events/s={relay:.0f} bare={bare_relay:.0f} ratio={share:.2f}", flush=True)
        failed += ["relay"] if share < LEAST else []
        with (
            serving(stage, "thenga.main:app", factory=True) as real,
            serving(stage, "tests.bench.bare:app", factory=False) as bare,
        ):
            ratios = compare(stage, real, bare)
    failed += [name for name, ratio in ratios.items() if ratio < LEAST]
    failed += [f"growth {name}" for name, ratio in growth().items() if ratio > MOST_GROWTH]
    print("not reached:", ", ".join(failed) or "nothing")
    print(f"{6 - len(failed)} passed, {len(failed)} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
