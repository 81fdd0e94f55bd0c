"""`make bench`: requests a second of the real routes against bare ones, side by side."""

import re
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import median

from tests.bench.setting import Stage, serving, staged

ROUNDS, SECONDS, CONNECTIONS = 5, 4, 16
LEAST = 0.50

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


def wrk(url: str, token: str, script: str | None = None, seconds: int = SECONDS) -> float:
    """Requests a second; a single answer that is not 2xx ends the run."""
    command = ["wrk", "-t1", f"-c{CONNECTIONS}", f"-d{seconds}s", "--latency"]
    command += ["-H", f"Authorization: Bearer {token}"]
    with tempfile.NamedTemporaryFile("w", suffix=".lua") as file:
        if script is not None:
            file.write(script)
            file.flush()
            command += ["-s", file.name]
        said = subprocess.run([*command, url], capture_output=True, text=True, check=True).stdout
    if "Non-2xx" in said or "Socket errors" in said:
        raise RuntimeError(said)
    found = re.search(r"Requests/sec:\s+([0-9.]+)", said)
    assert found is not None
    return float(found[1])


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
        rates: dict[str, list[float]] = {real: [], bare: []}
        for _ in range(ROUNDS):
            for address in (real, bare):
                rates[address].append(wrk(address + path, stage.token, script))
        ours, theirs = median(rates[real]), median(rates[bare])
        ratios[name] = ours / theirs
        print(f"{name} real={ours:.0f}/s bare={theirs:.0f}/s ratio={ours / theirs:.2f}", flush=True)
    return ratios


def main() -> int:
    with (
        staged(10_000) as stage,
        serving(stage, "thenga.main:app", factory=True) as real,
        serving(stage, "tests.bench.bare:app", factory=False) as bare,
    ):
        ratios = compare(stage, real, bare)
    failed = [name for name, ratio in ratios.items() if ratio < LEAST]
    print(f"{len(ratios) - len(failed)} passed, {len(failed)} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.path.insert(0, str(Path.cwd()))
    sys.exit(main())
