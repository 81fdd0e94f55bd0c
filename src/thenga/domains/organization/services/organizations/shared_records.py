"""Records as other domains see them: which fields a purpose may see, and what is in force."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any
from uuid import UUID

from sqlalchemy import ColumnElement, and_, or_, select

from thenga.domains.organization import public
from thenga.domains.organization.services import offers, people, records
from thenga.domains.organization.tables import (
    Address,
    Capability,
    CapabilityStatus,
    Contact,
    Director,
    DirectorStatus,
    Equipment,
    EquipmentStatus,
    MemberRef,
    MemberStatus,
    OrganizationUser,
    PastProject,
    PastProjectStatus,
    Product,
    ProductStatus,
    Record,
    Service,
    ServiceStatus,
)
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.statements import among
from thenga.kernel.errors import ValidationFailed
from thenga.kernel.values.calendar import local_day

MOST = 500  # of one type in one answer
_OFFERED = ("name", "description", "classifications", "areas", "unit", "lead_time_days")
_PRICED = ("price_from_minor", "price_from_currency", "evidence_refs")
_GOODS = ("brand", "model", "gtin", "country_of_origin", "local_content_percent")
_PROJECT = (
    "title", "client_name", "client_type", "value_minor", "value_currency", "started_on",
    "completed_on", "role", "share_percent", "province", "municipality_code", "classifications",
)  # fmt: skip
_ADDRESS = (
    "kind", "line1", "line2", "suburb", "city", "postal_code", "country", "province",
    "municipality_code", "registered_office", "primary",
)  # fmt: skip
_MACHINE = ("name", "category", "make", "model", "year", "ownership", "quantity", "expiries")
_DIRECTOR = ("given_names", "surname", "id_type", "id_number_masked", "id_country", "nationality")
_CONTACT = (
    "kind", "name", "position", "email", "phone", "preferred_channel", "language", "primary"
)  # fmt: skip
_SIGNATORY = ("user_id", "job_title", "bid_roles", "signing_authority")


@dataclass(frozen=True)
class Shared:
    """A type of record that is told: when it counts, and its fields by their sensitivity."""

    row: type[Record]
    fields: dict[str, tuple[str, ...]]
    in_force: Callable[[date], ColumnElement[bool]]

    def seen_by(self, allowed: frozenset[str]) -> list[str]:
        return [name for one, names in self.fields.items() if one in allowed for name in names]


def _in_time(row: type[Address] | type[Contact]) -> Callable[[date], ColumnElement[bool]]:
    def on(day: date) -> ColumnElement[bool]:
        begun = or_(row.valid_from.is_(None), row.valid_from <= day)
        return and_(begun, or_(row.valid_to.is_(None), row.valid_to >= day))

    return on


def _may_sign(day: date) -> ColumnElement[bool]:
    """As `people.signs_on` decides for one person."""
    authority = OrganizationUser.__table__.c.signing_authority
    begins, ends = authority["valid_from"].astext, authority["valid_to"].astext
    return and_(
        OrganizationUser.status == MemberStatus.ACTIVE,
        authority.is_not(None),
        or_(begins.is_(None), begins <= day.isoformat()),
        or_(ends.is_(None), ends >= day.isoformat()),
    )


# With PURPOSES of `profiles.py`, the one place that says what a purpose sees of a record. Sealed
# columns stand nowhere here: they leave by a disclosure only.
SHARED: dict[str, Shared] = {
    "capability": Shared(
        Capability,
        {
            "public": (
                *("title", "description", "classifications", "areas", "cidb"),
                "verified_until",
            ),
            "internal": ("capacity", "evidence_refs"),
        },
        lambda _: Capability.status == CapabilityStatus.ACTIVE,
    ),
    "past_project": Shared(
        PastProject,
        {"internal": _PROJECT, "confidential": ("contract_number",)},
        lambda _: PastProject.status == PastProjectStatus.PUBLISHED,
    ),
    "service": Shared(
        Service,
        {"public": _OFFERED, "internal": _PRICED},
        lambda _: Service.status == ServiceStatus.ACTIVE,
    ),
    "product": Shared(
        Product,
        {"public": (*_OFFERED, *_GOODS), "internal": _PRICED},
        lambda _: Product.status == ProductStatus.ACTIVE,
    ),
    "equipment": Shared(
        Equipment,
        {"internal": _MACHINE, "confidential": ("serial_number", "location_address_id")},
        lambda _: Equipment.status != EquipmentStatus.RETIRED,
    ),
    "address": Shared(
        Address,
        {"public": _ADDRESS, "internal": ("label", "ward_number", "geo")},
        _in_time(Address),
    ),
    "director": Shared(
        Director,
        {
            "internal": ("role", "appointed_on"),
            "confidential": ("shareholding_percent", "beneficial_owner"),
            "personal": _DIRECTOR,
            "special": ("flags",),
        },
        lambda _: Director.status == DirectorStatus.ACTIVE,
    ),
    "contact": Shared(Contact, {"personal": _CONTACT}, _in_time(Contact)),
    "user": Shared(OrganizationUser, {"personal": _SIGNATORY}, _may_sign),
}


def known_types(types: Iterable[str]) -> list[str]:
    """The types asked for, each once; an unknown one is refused."""
    wanted = list(dict.fromkeys(types))
    unknown = [name for name in wanted if name not in SHARED]
    if unknown:
        detail = f"Use one of {', '.join(SHARED)}."
        errors = [{"pointer": "/record_types", "code": "unknown_type", "detail": detail}]
        raise ValidationFailed(errors=errors)
    return wanted


async def describe_records(
    read: Reader,
    types: Sequence[str],
    *,
    allowed: frozenset[str],
    at: datetime,
    after: UUID | None = None,
) -> list[public.RecordView]:
    """The records in force of some types, in the order of their ids behind `after`."""
    found: list[public.RecordView] = []
    for name in types:
        shared = SHARED[name]
        fields = shared.seen_by(allowed)
        if not fields:
            continue
        counts = records.kept(shared.row, archived=False).where(shared.in_force(local_day(at)))
        if after is not None:
            counts = counts.where(shared.row.id > after)
        rows = await read.all(counts.order_by(shared.row.id), limit=MOST)
        derived = await _derived(read, rows, fields, at)
        found += [_view(name, row, fields, derived.get(row.id, {}), at) for row in rows]
    return found


async def _derived(
    read: Reader, rows: Sequence[Record], fields: list[str], at: datetime
) -> dict[UUID, dict[str, Any]]:
    """What stands in other rows, by record."""
    directors = [row for row in rows if isinstance(row, Director)]
    if directors and "flags" in fields:
        told = await people.portraits(read, directors)
        return {one: {"flags": _flags(portrait, at)} for one, portrait in told.items()}
    users = [row for row in rows if isinstance(row, OrganizationUser)]
    if users:
        ids = [row.member_ref_id for row in users]
        refs = await read.all(select(MemberRef).where(among(MemberRef.id, ids)))
        known = {ref.id: ref.user_id for ref in refs}
        return {row.id: {"user_id": known.get(row.member_ref_id)} for row in users}
    return {}


def _flags(portrait: people.Portrait, at: datetime) -> dict[str, str]:
    return {
        flag: people.effective_flags(
            [one for one in portrait.statements if one.flag == flag], local_day(at)
        )
        for flag in people.FLAGS
    }


def _view(
    name: str, row: Record, fields: list[str], derived: dict[str, Any], at: datetime
) -> public.RecordView:
    return public.RecordView(
        ref=public.Ref(type=records.type_of(row), id=str(row.id), version=row.version),
        type=name,
        status=getattr(row, "status", "active"),
        verification_status=_verification(row, at),
        summary=records.summary_of(row, fields, derived),
    )


def _verification(row: Record, at: datetime) -> str | None:
    """As it will be at that time, also where a check runs out before."""
    if isinstance(row, Capability):
        return offers.as_of(row, at).verification_status
    if isinstance(row, Director):
        return people.verification_on(row, at)
    return row.verification_status if isinstance(row, PastProject) else None
