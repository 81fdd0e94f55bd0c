"""Whether a process of this machine works, asked from beside it by `thenga health`.

It imports little: a container asks every few seconds.
"""

import http.client
import tempfile
import time
from contextlib import suppress
from pathlib import Path

BEAT_SECONDS = 5.0
_LATE_SECONDS = 60.0
_ANSWER_SECONDS = 5.0


def beat_file() -> Path:
    """A worker touches it while its loop turns and all of its sides run."""
    return Path(tempfile.gettempdir()) / "thenga-worker-beat"


def beat() -> None:
    with suppress(OSError):  # a full disk must not end a worker
        beat_file().touch()


def worker_fault() -> str | None:
    """What is wrong with the worker; `None` where it works."""
    try:
        age = time.time() - beat_file().stat().st_mtime
    except FileNotFoundError:
        return "no worker has started"
    return None if age < _LATE_SECONDS else f"the worker has not moved for {age:.0f} s"


def api_fault(port: int) -> str | None:
    """What is wrong with the API at a port of this machine; `None` where it is ready."""
    link = http.client.HTTPConnection("127.0.0.1", port, timeout=_ANSWER_SECONDS)
    try:
        link.request("GET", "/health/ready")
        answer = link.getresponse()
        text = answer.read().decode(errors="replace")
    except (OSError, http.client.HTTPException) as error:
        return f"no answer from port {port}: {type(error).__name__}"
    finally:
        link.close()
    return None if answer.status == 200 else text
