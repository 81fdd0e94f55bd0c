"""NATS of one's own, from the wheel of the development lock."""

import http.client
import json
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

from thenga.tooling.dev import processes
from thenga.tooling.dev.processes import Process

NATS_VERSION = (2, 12)  # older ones drop fields of streams and consumers without a word


def launch(
    home: Path, listens: tuple[int, int], settings: Mapping[str, str], accounts: str
) -> Process:
    """Start the server; it `listens` for clients and for who watches it."""
    server = processes.find_program("nats-server", Path(sys.executable).parent)
    told = subprocess.run([server, "--version"], capture_output=True, text=True, check=True).stdout
    version = told.strip().rpartition("v")[2]
    if tuple(int(part) for part in version.split(".")[:2]) < NATS_VERSION:
        raise RuntimeError(f"nats-server {version} is too old; it must be 2.12 or newer")
    (home / "nats").mkdir(exist_ok=True)
    jetstream = {"store_dir": json.dumps(str(home / "nats")), **settings}
    lines = [f"  {name}: {value}" for name, value in jetstream.items()]
    config = home / "nats.conf"
    config.write_text(
        f'host: "127.0.0.1"\nport: {listens[0]}\nhttp: "127.0.0.1:{listens[1]}"\n'
        "jetstream {\n" + "\n".join(lines) + f'\n}}\ninclude "{accounts}"\n'
    )
    return processes.spawn([server, "-c", str(config)], log=home / "nats.log", folder=home)


def answers(monitor: int) -> bool:
    connection = http.client.HTTPConnection("127.0.0.1", monitor, timeout=2)
    try:
        # Healthy means that the streams on the disk have been read back, too.
        connection.request("GET", "/healthz")
        return connection.getresponse().status == 200
    except (OSError, http.client.HTTPException):
        return False
    finally:
        connection.close()
