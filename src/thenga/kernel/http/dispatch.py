"""From a path to its door by segments: a route costs the same among 30 others or 300.

The framework tries every route in turn and wraps each request in layers for what doors do not use
(generators as dependencies, background tasks); this stands before it. What is no door (pages,
health) goes on to the framework.
"""

from collections.abc import Iterable
from typing import Any

from fastapi import FastAPI, Request
from starlette.types import Receive, Scope, Send

from thenga.kernel.errors import MethodNotAllowed
from thenga.kernel.http.doors import Door
from thenga.kernel.http.problems import of_error, render

_ANY = "{}"


class _Node:
    """One place in the tree of paths: what may follow, and the doors by method."""

    __slots__ = ("after", "doors")

    def __init__(self) -> None:
        self.after: dict[str, _Node] = {}
        self.doors: dict[str, tuple[Door, tuple[str, ...]]] = {}

    def find(self, segments: list[str], at: int, values: list[str]) -> "_Node | None":
        """A literal segment wins over a parameter, and is given up where it leads nowhere."""
        if at == len(segments):
            return self if self.doors else None
        literal = self.after.get(segments[at])
        if literal is not None:
            found = literal.find(segments, at + 1, values)
            if found is not None:
                return found
        any_one = self.after.get(_ANY)
        if any_one is None or not segments[at]:
            return None
        values.append(segments[at])
        found = any_one.find(segments, at + 1, values)
        if found is None:
            values.pop()
        return found


class Dispatch:
    """The ASGI application between the outermost layer and the doors."""

    def __init__(self, app: FastAPI, doors: Iterable[tuple[str, Door]], base_url: str) -> None:
        self._app = app
        self._base_url = base_url
        self._root = _Node()
        for path, door in doors:
            self._add(path, door)

    def _add(self, path: str, door: Door) -> None:
        node, names = self._root, []
        for segment in path.split("/"):
            is_parameter = segment.startswith("{")
            if is_parameter:
                names.append(segment.strip("{}"))
            node = node.after.setdefault(_ANY if is_parameter else segment, _Node())
        for method in door.methods or ():
            node.doors[method] = (door, tuple(names))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        values: list[str] = []
        node = self._root.find(scope["path"].split("/"), 0, values)
        if node is None:
            await self._app(scope, receive, send)
            return
        await self._open(node, values, scope, receive, send)

    async def _open(
        self, node: _Node, values: list[str], scope: Scope, receive: Receive, send: Send
    ) -> None:
        try:
            found = node.doors.get(scope["method"])
            if found is None:
                raise MethodNotAllowed(headers={"Allow": ", ".join(sorted(node.doors))})
            door, names = found
            scope["app"] = self._app
            scope["route"] = door
            scope["path_params"] = dict(zip(names, values, strict=True))
            response: Any = await door.serve(Request(scope, receive, send))
        except Exception as error:
            problem = of_error(error)
            if problem is None:
                raise  # a defect of ours: logged and answered by the outermost layer
            response = render(
                problem,
                request_id=scope["thenga"].request_id,
                instance=scope["path"],
                base_url=self._base_url,
            )
        await response(scope, receive, send)
