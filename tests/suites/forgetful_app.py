"""An api process with a bug in it: the gate's yes is remembered for a minute."""

import dataclasses
from time import monotonic
from uuid import UUID

from fastapi import FastAPI

from thenga import main
from thenga.kernel.access.gate import Gate, Passage, Refusal

_SECONDS = 60.0


class Remembering(Gate):
    """What must not be: a right that outlives the moment in which it was true."""

    def __init__(self, inner: Gate) -> None:
        self._inner = inner
        self._known: dict[tuple[object, ...], tuple[float, Passage]] = {}

    async def enter(
        self,
        *,
        credential: str | None,
        organization_id: UUID | None,
        permission: str,
        network: str,
        request_id: str,
    ) -> Passage | Refusal:
        key = (credential, organization_id, permission)
        until, passage = self._known.get(key, (0.0, None))
        if passage is not None and monotonic() < until:
            return passage
        answer = await self._inner.enter(
            credential=credential,
            organization_id=organization_id,
            permission=permission,
            network=network,
            request_id=request_id,
        )
        if isinstance(answer, Passage):
            self._known[key] = (monotonic() + _SECONDS, answer)
        return answer


def app() -> FastAPI:
    made = main.app()
    shared = made.state.shared
    made.state.shared = dataclasses.replace(shared, gate=Remembering(shared.gate))
    return made
