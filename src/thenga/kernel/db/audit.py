"""Audit: who did what to which row, written with the change and sealed into a chain later."""

from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any
from uuid import UUID

import orjson
from pydantic import BaseModel

from thenga.kernel.access.actors import Actor
from thenga.kernel.values import networks
from thenga.kernel.values.ids import new_id
from thenga.kernel.values.shapes import as_document

# Changes that belong to no organization and no person stand on the platform's own chain.
PLATFORM_CHAIN = UUID("019a0000-0000-7000-8000-00000000f00d")
# JSON numbers are exact to 2**53 in every reader; larger ones travel as text.
_EXACT = 2**53


@dataclass(slots=True)
class Entry:
    """One audit row on its way into the database."""

    id: UUID
    organization_id: UUID | None
    chain: UUID
    text: str
    at: datetime


def entry(
    *,
    actor: Actor,
    action: str,
    target: tuple[str, UUID | str],
    detail: dict[str, Any],
    at: datetime,
    organization_id: UUID | None,
    user_id: UUID | None,
    request_id: str,
    decision_id: UUID | None,
    network: str | None,
    outcome: str = "succeeded",
    reason_code: str | None = None,
    reason: str | None = None,
) -> Entry:
    """The row that tells of one change; `detail` holds the fields before and after.

    It stands on the chain of the organization, else of the person it is done for.
    """
    made = new_id()
    chain = organization_id or user_id or PLATFORM_CHAIN
    parts = {
        "id": made,
        "chain": chain,
        "at": at,
        "actor": {"kind": actor.kind, "id": actor.id, "sessionId": actor.session_id},
        "action": action,
        "target": {"type": target[0], "id": target[1]},
        "outcome": outcome,
        "reasonCode": reason_code,
        "requestId": request_id,
        "decisionId": decision_id,
        "network": networks.cut(network),
        "detail": detail,
    }
    if reason is not None:
        parts["reason"] = reason
    text = orjson.dumps(parts, default=_plain, option=orjson.OPT_UTC_Z).decode()
    return Entry(made, organization_id, chain, text, at)


def shown(values: dict[str, Any], secret: frozenset[str]) -> dict[str, Any]:
    """Field values as an audit row may hold them: secrets only by name."""
    return {name: "(sealed)" if name in secret else _exact(v) for name, v in values.items()}


def _exact(value: Any) -> Any:
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) >= _EXACT:
        return str(value)
    return value


def _plain(value: object) -> object:
    if isinstance(value, BaseModel):
        return as_document(value)
    if isinstance(value, bytes):
        return value.hex()
    if isinstance(value, Decimal):
        return format(value, "f")
    return str(value)
