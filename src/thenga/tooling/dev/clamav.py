"""ClamAV of one's own: the real server with one signature, which starts in a moment.

Production downloads its signatures (`compose.yaml`); how deep a file is looked into is the same.
"""

import socket
from pathlib import Path

from thenga.kernel.files.scanner import EICAR
from thenga.tooling.dev import processes
from thenga.tooling.dev.processes import Process

# Files have at most 50 MiB. With limits below that, or without the alerts, the server says OK to
# what it did not look into (measured with 1.4).
SETTINGS = {
    "StreamMaxLength": "52M",
    "MaxFileSize": "52M",
    "MaxScanSize": "200M",
    "AlertExceedsMax": "yes",
    "AlertEncrypted": "yes",
    "AlertOLE2Macros": "yes",
}
_SIGNATURE = f"Thenga-Eicar-Test:0:*:{EICAR.hex()}\n"


def launch(folder: Path, port: int, log: Path, **changed: str) -> Process:
    """Start the server on loopback; `changed` settings are for tests of a bad one."""
    signatures = folder / "signatures"
    signatures.mkdir(parents=True, exist_ok=True)
    (signatures / "eicar.ndb").write_text(_SIGNATURE)
    settings = {
        **SETTINGS,
        "Foreground": "yes",
        "TCPAddr": "127.0.0.1",
        "TCPSocket": str(port),
        "DatabaseDirectory": str(signatures),
        "TemporaryDirectory": str(folder),
        **changed,
    }
    config = folder / "clamd.conf"
    config.write_text("".join(f"{name} {value}\n" for name, value in settings.items()))
    server = processes.find_program("clamd", Path("/usr/sbin"))
    return processes.spawn([server, "-c", str(config)], log=log, folder=folder)


def answers(port: int) -> bool:
    try:
        with socket.create_connection(("127.0.0.1", port), timeout=2) as link:
            link.sendall(b"zPING\0")
            return link.recv(64) == b"PONG\0"
    except OSError:
        return False
