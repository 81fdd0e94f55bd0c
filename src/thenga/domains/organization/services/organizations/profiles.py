"""What other domains ask about a company: its facts and records by purpose, its mode and zone."""

from collections.abc import Sequence
from datetime import date, datetime, time
from typing import Literal
from uuid import UUID
from zoneinfo import ZoneInfo

from thenga.domains.organization import public
from thenga.domains.organization.services import facts
from thenga.domains.organization.services.facts import Picture, Values
from thenga.domains.organization.services.organizations import shared_records
from thenga.domains.organization.services.organizations.citations import fact_ref
from thenga.domains.organization.services.reference_data import FACTS
from thenga.domains.organization.tables import FactConflict, Organization
from thenga.kernel.db.reader import Reader
from thenga.kernel.errors import NotFound

# What each purpose may see of facts (`sensitivity` of the catalogue) and of the fields of records
# (`shared_records.SHARED`; `personal` is what names a person). Secrets leave by a disclosure only.
PURPOSES: dict[str, frozenset[str]] = {
    "display": frozenset({"public"}),
    "match": frozenset({"public", "internal"}),
    "reasoning": frozenset({"public", "internal"}),
    "funding_application": frozenset({"public", "internal", "confidential", "personal"}),
    "bid_form": frozenset({"public", "internal", "confidential", "personal", "special"}),
    "compliance_check": frozenset({"public", "internal", "confidential", "personal", "special"}),
}
_ZONE = ZoneInfo("Africa/Johannesburg")


async def describe_profiles(
    read: Reader,
    *,
    purpose: public.Purpose,
    fact_keys: list[str] | None,
    record_types: Sequence[str],
    on: date | None,
    records_after: UUID | None = None,
) -> public.ProfileView:
    """The facts and records that a purpose may see, with where they come from and how sure.

    `on` asks how proven and how fresh today's values will be on that day.
    """
    types = shared_records.known_types(record_types)
    organization = await read.find(Organization, id=read.organization_id)
    if organization is None:
        raise NotFound()
    asked = FACTS if fact_keys is None else [key for key in fact_keys if key in FACTS]
    allowed = PURPOSES[purpose]
    keys = [key for key in asked if FACTS[key].sensitivity in allowed]
    found, values = await facts.profile_of(read, keys)
    at = read.now if on is None else datetime.combine(on, time(0), tzinfo=_ZONE)
    told = await shared_records.describe_records(
        read, types, allowed=allowed, at=at, after=records_after
    )
    return public.ProfileView(
        status=organization.status,
        moved_to=organization.merged_into,
        facts=[_fact(at, read, organization, picture, values) for picture in found.values()],
        records=told,
        as_of_version=organization.version,
    )


async def organization_mode(read: Reader) -> Literal["live", "sandbox"]:
    """Whether it was founded in earnest or to try things out; that never changes."""
    organization = await read.find(Organization, id=read.organization_id)
    if organization is None:
        raise NotFound()
    return "sandbox" if organization.mode == "sandbox" else "live"


async def organization_time_zone(read: Reader) -> str:
    """The zone whose days and hours the organization works by."""
    organization = await read.find(Organization, id=read.organization_id)
    if organization is None:
        raise NotFound()
    return organization.time_zone


async def is_sandbox(read: Reader) -> bool:
    return await organization_mode(read) == "sandbox"


def _fact(
    at: datetime, read: Reader, organization: Organization, picture: Picture, values: Values
) -> public.FactView:
    fact, source = picture.fact, picture.effective(read.now)
    assert fact is not None and source is not None  # noqa: S101  # only those with a value
    freshness = picture.freshness
    return public.FactView(
        ref=fact_ref(organization.id, picture.key, fact.version),
        key=picture.key,
        value=values.shown(picture.key, source),
        version=fact.version,
        provenance=public.Provenance(
            kind=facts.origin_of(source), recorded_at=source.created_at, source=source.source
        ),
        verification_status=picture.verification(at),
        verified_until=fact.verified_until,
        conflict=fact.conflict_status is FactConflict.CONFLICTED,
        stale=freshness is not None and freshness.stale_after < at,
    )
