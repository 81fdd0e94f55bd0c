"""What other domains ask about a company: facts by purpose, whether a citation holds, cards."""

import re
from collections.abc import Sequence
from datetime import date, datetime, time
from typing import Any, Literal
from zoneinfo import ZoneInfo

from thenga.domains.organization import public
from thenga.domains.organization.services import facts
from thenga.domains.organization.services.facts import Picture, Values
from thenga.domains.organization.services.reference_data import FACTS
from thenga.domains.organization.tables import (
    FactConflict,
    FactVersion,
    Organization,
    OrganizationStatus,
)
from thenga.kernel.db.reader import Reader
from thenga.kernel.errors import NotFound

# Section 7: what each purpose may see. Secrets leave by a disclosure only.
PURPOSES: dict[str, frozenset[str]] = {
    "display": frozenset({"public"}),
    "match": frozenset({"public", "internal"}),
    "reasoning": frozenset({"public", "internal"}),
    "funding_application": frozenset({"public", "internal", "confidential"}),
    "bid_form": frozenset({"public", "internal", "confidential", "special"}),
    "compliance_check": frozenset({"public", "internal", "confidential", "special"}),
}
_ZONE = ZoneInfo("Africa/Johannesburg")
_FACT_ID = re.compile(r"([0-9a-f-]{36}):([A-Za-z]{1,40})")


async def describe_profiles(
    read: Reader, *, purpose: public.Purpose, fact_keys: list[str] | None, on: date | None
) -> public.ProfileView:
    """The facts that a purpose may see, each with where it comes from and how sure it is.

    `on` asks how proven and how fresh today's values will be on that day.
    """
    organization = await read.find(Organization, id=read.organization_id)
    if organization is None:
        raise NotFound()
    allowed = [key for key in fact_keys or FACTS if key in FACTS]
    keys = [key for key in allowed if FACTS[key].sensitivity in PURPOSES[purpose]]
    found, values = await facts.profile_of(read, keys)
    at = read.now if on is None else datetime.combine(on, time(0), tzinfo=_ZONE)
    return public.ProfileView(
        status=organization.status,
        moved_to=organization.merged_into,
        facts=[_fact(at, read, organization, picture, values) for picture in found.values()],
        records=[],
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
        ref=ref_of(organization.id, picture.key, fact.version),
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


def ref_of(organization_id: Any, key: str, version: int) -> public.Ref:
    return public.Ref(type="fact", id=f"{organization_id}:{key}", version=version)


def fact_of(ref: public.Ref) -> tuple[str, str] | None:
    """The organization and the key that a citation of a fact names."""
    found = _FACT_ID.fullmatch(ref.id) if ref.type == "fact" else None
    return None if found is None or found[2] not in FACTS else (found[1], found[2])


async def resolve_facts(read: Reader, refs: Sequence[public.Ref]) -> list[public.Resolved]:
    """Whether citations of facts of one company still hold (ORG-7)."""
    organization = await read.find(Organization, id=read.organization_id)
    if organization is None:
        return [public.Resolved(ref=ref, state="forbidden") for ref in refs]
    keys = {named[1] for ref in refs if (named := fact_of(ref))}
    pictures = await facts.load(read, keys)
    return [await _resolved(read, organization, pictures, ref) for ref in refs]


async def _resolved(
    read: Reader, organization: Organization, pictures: dict[str, Picture], ref: public.Ref
) -> public.Resolved:
    if organization.status is OrganizationStatus.MERGED:
        return public.Resolved(ref=ref, state="moved", moved_to=organization.merged_into)
    if organization.status is OrganizationStatus.CLOSED:
        return public.Resolved(ref=ref, state="erased")
    named = fact_of(ref)
    picture = None if named is None else pictures[named[1]]
    cited = None if picture is None else await _cited(read, picture.key, ref.version)
    if picture is None or picture.fact is None or cited is None:
        return public.Resolved(ref=ref, state="forbidden")
    version = picture.fact.version
    was = await facts.source_of(read, cited)
    if facts.digest_of(was) == facts.digest_of(picture.effective(read.now)):
        return public.Resolved(ref=ref, state="live", current_version=version)
    return public.Resolved(
        ref=ref, state="stale", current_version=version, changed_fields=[picture.key]
    )


async def _cited(read: Reader, key: str, version: int) -> FactVersion | None:
    return await read.find(FactVersion, fact_key=key, number=version)
