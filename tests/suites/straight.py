"""Calls of an ASGI application without a client library between.

A walk makes hundreds of thousands of calls. A client that follows redirects, keeps cookies and
decodes streams would take its time for nothing that is asked here.
"""

import asyncio
from dataclasses import dataclass
from typing import Any

import orjson
from fastapi import FastAPI

Headers = list[tuple[str, str]]


@dataclass(frozen=True, slots=True)
class Answer:
    """What came back, whole."""

    status_code: int
    headers: Headers
    content: bytes

    @property
    def text(self) -> str:
        return self.content.decode()

    @property
    def is_success(self) -> bool:
        return 200 <= self.status_code < 300

    def json(self) -> Any:
        return orjson.loads(self.content)


class Straight:
    """One application, called as a server would call it."""

    def __init__(self, app: FastAPI) -> None:
        self._app = app

    async def request(
        self, method: str, path: str, *, headers: dict[str, str], content: bytes
    ) -> Answer:
        """One call; a body is said to be JSON."""
        sent = [(name.lower().encode(), value.encode()) for name, value in headers.items()]
        if content:
            sent.append((b"content-type", b"application/json"))
            sent.append((b"content-length", str(len(content)).encode()))
        bare, _, query = path.partition("?")
        scope = {
            "type": "http",
            "asgi": {"version": "3.0"},
            "http_version": "1.1",
            "method": method,
            "headers": [(b"host", b"thenga.test"), *sent],
            "scheme": "http",
            "path": bare,
            "raw_path": bare.encode(),
            "query_string": query.encode(),
            "server": ("thenga.test", None),
            "client": ("127.0.0.1", 123),
            "root_path": "",
        }
        heard: list[Any] = []
        asked, over = iter([content]), asyncio.Event()

        async def receive() -> dict[str, Any]:
            for body in asked:
                return {"type": "http.request", "body": body, "more_body": False}
            await over.wait()
            return {"type": "http.disconnect"}

        async def send(message: Any) -> None:
            heard.append(message)
            if message["type"] == "http.response.body" and not message.get("more_body"):
                over.set()

        await self._app(scope, receive, send)
        start, *parts = heard
        said = [
            (name.decode("latin-1"), value.decode("latin-1")) for name, value in start["headers"]
        ]
        return Answer(start["status"], said, b"".join(part.get("body", b"") for part in parts))
