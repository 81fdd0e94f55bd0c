"""A process that reads settings of the probe at the instants it is told, and has no mesh at all."""

import asyncio
import sys
from datetime import datetime
from functools import partial
from typing import Any

from tests.probe import DOMAIN
from tests.set_clock import SetClock
from thenga.kernel.access.actors import SYSTEM, Scope
from thenga.kernel.access.origin import Origin
from thenga.kernel.db import configuration
from thenga.kernel.db.reader import Reader
from thenga.kernel.process.settings import Settings
from thenga.starting import make_host


async def main(*, remembers: bool) -> None:
    """Print the value of a key at an instant for each line `key instant`."""
    host = make_host(Settings())
    settings = {one.key: one for one in DOMAIN.settings}
    seen: dict[str, Any] = {}  # the planted bug: what was read once is not read again
    print("ready", flush=True)
    while line := (await asyncio.to_thread(sys.stdin.readline)).strip():
        key, instant = line.split()
        host.clock = SetClock(datetime.fromisoformat(instant))
        origin = Origin("test", "test", "test")
        read = Reader(host, "probe", Scope(actor=SYSTEM), origin)
        value = await configuration.value(read, settings[key])
        await read.close()
        print(seen.setdefault(key, value) if remembers else value, flush=True)
    await host.engines.close()


if __name__ == "__main__":
    asyncio.run(partial(main, remembers="--remembers" in sys.argv)())
