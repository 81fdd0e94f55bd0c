"""Debian's Chromium without a window, driven over its debugging pipe; `make prove` only."""

import base64
import fcntl
import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any, Self

INSTALL = "apt-get install -y --no-install-recommends chromium"
# As root in a container it has no sandbox of its own; it opens only the pages of this run.
_FLAGS = (
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-extensions",
    "--disable-background-networking",
    "--hide-scrollbars",
    "--remote-debugging-pipe",
)
_READABLE = """async () => {
  const [page] = performance.getEntriesByType("navigation");
  const painted = () => performance.getEntriesByName("first-contentful-paint");
  while (!page.loadEventEnd || !painted().length) await new Promise((on) => setTimeout(on, 5));
  return Math.max(page.loadEventEnd, painted()[0].startTime);
}"""


class Chromium:
    """One browser with one tab; the cache is empty, as a new reader's is."""

    def __init__(self, folder: Path, *, width: int = 1280, height: int = 1000) -> None:
        command = shutil.which("chromium")
        assert command is not None, f"Chromium is not installed: {INSTALL}"
        profile = f"--user-data-dir={folder / 'chromium'}"
        self._command = [command, *_FLAGS, profile, f"--window-size={width},{height}"]
        self._number = 0
        self._events: list[str] = []

    def __enter__(self) -> Self:
        # The browser reads its file 3 and writes its file 4; ours must not have these numbers.
        theirs_in, self._out = _pipe()
        self._in, theirs_out = _pipe()
        wrapped = [
            "bash",
            "-c",
            f'exec "$@" 3<&{theirs_in} 4>&{theirs_out}',
            "bash",
            *self._command,
        ]
        self._process = subprocess.Popen(
            wrapped, pass_fds=(theirs_in, theirs_out), stderr=subprocess.DEVNULL
        )
        os.close(theirs_in)
        os.close(theirs_out)
        self._waiting = b""
        target = self._send("Target.createTarget", url="about:blank")["targetId"]
        attached = self._send("Target.attachToTarget", targetId=target, flatten=True)
        self._session = attached["sessionId"]
        self._call("Page.enable")
        return self

    def __exit__(self, *_: object) -> None:
        self._process.terminate()
        self._process.wait(30)
        os.close(self._out)
        os.close(self._in)

    def open(self, address: str) -> None:
        """Go to an address and wait until it and all that belongs to it has been loaded."""
        # From an empty page: a change of the fragment alone loads nothing.
        for each in ("about:blank", address):
            self._events.clear()
            self._call("Page.navigate", url=each)
            while "Page.loadEventFired" not in self._events:
                self._receive()

    def evaluate(self, expression: str) -> Any:
        """The value of a JavaScript expression, awaited."""
        answer = self._call(
            "Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True
        )
        assert "exceptionDetails" not in answer, answer
        return answer["result"].get("value")

    def readable_ms(self) -> float:
        """From the navigation until the whole page was painted."""
        return float(self.evaluate(f"({_READABLE})()"))

    def picture(self, path: Path) -> None:
        """Save what the window shows."""
        shown = self._call("Page.captureScreenshot", format="png")
        path.write_bytes(base64.b64decode(shown["data"]))

    def _call(self, method: str, **parameters: Any) -> dict[str, Any]:
        return self._send(method, session=self._session, **parameters)

    def _send(self, method: str, session: str | None = None, **parameters: Any) -> dict[str, Any]:
        self._number += 1
        message = {"id": self._number, "method": method, "params": parameters}
        if session is not None:
            message["sessionId"] = session
        os.write(self._out, json.dumps(message).encode() + b"\0")
        while (answer := self._receive()).get("id") != self._number:
            pass
        assert "error" not in answer, answer
        result: dict[str, Any] = answer["result"]
        return result

    def _receive(self) -> dict[str, Any]:
        while b"\0" not in self._waiting:
            more = os.read(self._in, 1 << 20)
            assert more, "Chromium ended"
            self._waiting += more
        line, _, self._waiting = self._waiting.partition(b"\0")
        message: dict[str, Any] = json.loads(line)
        if "method" in message:
            self._events.append(message["method"])
        return message


def _pipe() -> tuple[int, int]:
    low = os.pipe()
    reading, writing = (fcntl.fcntl(one, fcntl.F_DUPFD, 10) for one in low)
    for one in low:
        os.close(one)
    return reading, writing
