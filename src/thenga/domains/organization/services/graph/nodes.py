"""What the graph shows of a thing: its label, where it comes from, and whether it can be relied on.

Each type of node has a row class, a label and the permission that lets one see it.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from typing import Any
from uuid import UUID
from zoneinfo import ZoneInfo

from sqlalchemy import select

from thenga.domains.organization.permissions import Permission
from thenga.domains.organization.services import evidence, facts, records
from thenga.domains.organization.services.records import Node
from thenga.domains.organization.services.reference_data import FACTS
from thenga.domains.organization.tables import (
    Address,
    Capability,
    ClientReference,
    Contact,
    CustomerStatement,
    Director,
    Equipment,
    EvidenceState,
    ExternalRef,
    FactConflict,
    FactVerification,
    FleetAsset,
    ImportedStatement,
    Organization,
    OrganizationUser,
    PastProject,
    Product,
    Record,
    Service,
    Verification,
)
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.statements import among

Found = dict[str, Any]
_ZONE = ZoneInfo("Africa/Johannesburg")


@dataclass(frozen=True, slots=True)
class NodeType:
    """One type of record in the graph."""

    row: type[Record]
    label: Callable[[Any], str | None]
    read: Permission


def _known(row: type[Record], read: Permission, label: Callable[[Any], str | None]) -> NodeType:
    return NodeType(row, label, read)


NODE_TYPES: Mapping[str, NodeType] = {
    records.type_of(known.row): known
    for known in (
        _known(Director, Permission.DIRECTOR_READ, lambda one: _name(one.given_names, one.surname)),
        _known(Contact, Permission.CONTACT_READ, lambda one: one.name),
        _known(OrganizationUser, Permission.USER_READ, lambda one: one.job_title),
        _known(
            Address, Permission.ADDRESS_READ, lambda one: one.label or f"{one.line1}, {one.city}"
        ),
        _known(Service, Permission.SERVICE_READ, lambda one: one.name),
        _known(Product, Permission.PRODUCT_READ, lambda one: one.name),
        _known(Capability, Permission.CAPABILITY_READ, lambda one: one.title),
        _known(Equipment, Permission.EQUIPMENT_READ, lambda one: one.name),
        _known(FleetAsset, Permission.FLEET_ASSET_READ, lambda one: one.name),
        _known(PastProject, Permission.PAST_PROJECT_READ, lambda one: one.title),
        # The client's person is sealed; whom one asked stands with the reference itself.
        _known(ClientReference, Permission.CLIENT_REFERENCE_READ, lambda one: one.status.value),
    )
}
# Facts and what is said of them are no records; seeing them is one right.
FACT, STATEMENT = "fact", "statement"
READ: Mapping[str, Permission] = {
    **{kind: known.read for kind, known in NODE_TYPES.items()},
    FACT: Permission.PROFILE_READ,
    STATEMENT: Permission.PROFILE_READ,
}


def _name(*parts: str | None) -> str | None:
    return " ".join(part for part in parts if part) or None


async def describe(read: Reader, wanted: Iterable[Node]) -> dict[str, Found]:
    """The nodes that are there, by key: one statement for each type among them."""
    by_type: dict[str, list[str]] = {}
    for node in wanted:
        by_type.setdefault(node.type, []).append(node.id)
    found: dict[str, Found] = {}
    for kind, ids in by_type.items():
        if kind == "organization":
            found |= _company(await read.find(Organization, id=read.organization_id))
        elif kind in NODE_TYPES:
            found |= await _records(read, kind, NODE_TYPES[kind], ids)
        elif kind == FACT:
            found |= await _facts(read, ids)
        elif kind == STATEMENT:
            found |= await _statements(read, ids)
    outside = [f"{kind}:{one}" for kind, ids in by_type.items() if "." in kind for one in ids]
    return found | (await _outside(read, outside) if outside else {})


async def _records(read: Reader, kind: str, known: NodeType, ids: list[str]) -> dict[str, Found]:
    row = known.row
    rows = await read.all(select(row).where(among(row.id, map(UUID, ids))))
    return {
        f"{kind}:{one.id}": {
            "reference": {"domain": "organization", "type": kind, "id": str(one.id)},
            "label": known.label(one),
            "version": one.version,
            "provenance": records.origins(one)["provenance"],
            "verification_status": one.__dict__.get("verification_status"),
            "stale": stale_of(one, read.now),
        }
        for one in rows
    }


def _company(row: Organization | None) -> dict[str, Found]:
    if row is None:
        return {}
    return {
        f"organization:{row.id}": {
            "reference": {"domain": "organization", "type": "organization", "id": str(row.id)},
            "label": row.display_name,
            "version": row.version,
            "provenance": None,
            "verification_status": None,
            "stale": None,
        }
    }


async def _facts(read: Reader, ids: list[str]) -> dict[str, Found]:
    """The facts of the company; a fact's identifier is `organizationId:factKey` (ORG-7)."""
    home = str(read.organization_id)
    keys = [key for owner, _, key in (one.partition(":") for one in ids) if owner == home]
    pictures = await facts.load(read, keys)
    return {
        f"{FACT}:{home}:{key}": {
            "reference": {"domain": "organization", "type": FACT, "id": f"{home}:{key}"},
            "label": FACTS[key].title,
            "version": picture.fact.version,
            "provenance": _said(picture.effective(read.now)),
            "verification_status": picture.verification(read.now),
            "stale": _stale_fact(picture, read.now),
        }
        for key, picture in pictures.items()
        if picture.fact is not None and key in FACTS
    }


def _said(source: facts.Source | None) -> Found | None:
    if source is None:
        return None
    return {"kind": facts.origin_of(source), "recordedAt": source.created_at}


def _stale_fact(picture: facts.Picture, now: datetime) -> Found | None:
    fact, fresh = picture.fact, picture.freshness
    if fact is not None and fact.conflict_status is FactConflict.CONFLICTED:
        return {"reason": "conflicted", "since": fact.updated_at}
    if fact is not None and picture.verification(now) is FactVerification.EXPIRED:
        return {"reason": "evidence_expired", "since": fact.verified_until}
    if fresh is not None and fresh.stale_after <= now:
        return {"reason": "not_confirmed", "since": fresh.stale_after}
    return None


async def _statements(read: Reader, ids: list[str]) -> dict[str, Found]:
    """What stands beside what counts; never its value."""
    wanted = [UUID(one) for one in ids]
    found: list[facts.Source] = [
        *await read.all(select(CustomerStatement).where(among(CustomerStatement.id, wanted))),
        *await read.all(select(ImportedStatement).where(among(ImportedStatement.id, wanted))),
        *await read.all(select(Verification).where(among(Verification.id, wanted))),
    ]
    return {
        f"{STATEMENT}:{one.id}": {
            "reference": {"domain": "organization", "type": STATEMENT, "id": str(one.id)},
            "label": facts.origin_of(one).value,
            "version": one.version,
            "provenance": _said(one),
            "verification_status": None,
            "stale": None,
        }
        for one in found
    }


async def _outside(read: Reader, keys: list[str]) -> dict[str, Found]:
    rows = await read.all(select(ExternalRef).where(among(ExternalRef.node_key, keys)))
    references = [{"domain": one.domain, "type": one.ref_type, "id": one.ref_id} for one in rows]
    known = await evidence.known_evidence(read, references)
    return {
        one.node_key: {
            "reference": reference,
            "label": None,
            "version": None,
            "provenance": None,
            "verification_status": "verified" if known[one.ref_id].verified else None,
            "stale": _stale_evidence(known[one.ref_id]),
        }
        for one, reference in zip(rows, references, strict=True)
    }


_REASONS = {
    EvidenceState.STALE: "evidence_expired",
    EvidenceState.MOVED: "source_moved",
    EvidenceState.ERASED: "target_erased",
}


def _stale_evidence(known: evidence.Known) -> Found | None:
    if known.state not in _REASONS:
        return None
    ended = None if known.valid_until is None else _end_of(known.valid_until)
    return {"reason": _REASONS[known.state], "since": ended}


def stale_of(row: Record, now: datetime) -> dict[str, Any] | None:
    """Why a record cannot be relied on as it stands, and since when; None where it can."""
    values = row.__dict__
    until = values.get("verified_until")
    if until is not None and until <= now:
        return {"reason": "evidence_expired", "since": until}
    ended = [end for end in map(_end_of, _last_days(values)) if end <= now]
    return {"reason": "evidence_expired", "since": min(ended)} if ended else None


def _last_days(values: Mapping[str, Any]) -> list[date]:
    """The last valid days of the papers of a machine or vehicle."""
    listed = [date.fromisoformat(one["expires_on"]) for one in values.get("expiries") or ()]
    named = [day for name, day in values.items() if name.endswith("_expires_on") and day]
    return [*listed, *named]


def _end_of(day: date) -> datetime:
    ends = datetime.combine(day + timedelta(days=1), time(0), tzinfo=_ZONE)
    return ends.astimezone(UTC)
