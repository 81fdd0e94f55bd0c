"""What the sources of a form say now: the tender, the profile, the proofs and the price.

Every value comes with the reference and version that an answer cites. Sealed values are not
asked here; a mask stands for them (BID-19, BID-24).
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from hashlib import sha256
from typing import Any
from zoneinfo import ZoneInfo

import rfc8785

from thenga.domains.bid.services import pricing, workspaces
from thenga.domains.bid.services.forms.checks import DirectorFlags
from thenga.domains.bid.tables import TenderRef, Workbook, Workspace
from thenga.domains.bid.values.forms import Definition, Known
from thenga.domains.compliance import public as compliance
from thenga.domains.organization import public as organization
from thenga.kernel.db.reader import Reader
from thenga.kernel.errors import DependencyUnavailable, NotFound
from thenga.kernel.ports.asking import asking
from thenga.kernel.ports.binding import Unbound, within
from thenga.kernel.values.calendar import local_day

_FACTS = ("legalName", "legalForm", "registrationNumber", "vatNumber")
_RECORDS = ("address", "contact", "director")
_MASKED = "••••"
# The boxes of SBD 6.1, paragraph 4.5, by legal form; others are ticked by hand.
_TYPES = {
    "partnership": "Partnership/Joint Venture / Consortium",
    "joint_venture": "Partnership/Joint Venture / Consortium",
    "sole_proprietor": "One-person business/sole propriety",
    "close_corporation": "Close corporation",
    "public_company": "Public Company",
    "personal_liability_company": "Personal Liability Company",
    "private_company": "(Pty) Limited",
    "non_profit_company": "Non-Profit Company",
    "state_owned_company": "State Owned Company",
}
_SYSTEMS = {
    "80_20": "80/20",
    "90_10": "90/10",
    "either": "Either the 80/20 or 90/10 preference point system; the lowest acceptable tender "
    "(of an income-generating contract the highest) decides",
}
_KIND_OF = {"address.postal": "postal", "address.street": "physical"}


@dataclass(frozen=True, slots=True)
class Director:
    """A director as a form may name one."""

    ref: organization.Ref
    name: str
    flags: DirectorFlags


@dataclass(frozen=True, slots=True)
class Sources:
    """Everything that the forms of a workspace are filled from; `directors` is null where
    Organization is silent. `claims` are those of the price's scenario, for who may see it."""

    known: Mapping[str, Known]
    directors: Sequence[Director] | None = None
    goals: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    claims: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)

    @property
    def flags(self) -> list[DirectorFlags] | None:
        return None if self.directors is None else [one.flags for one in self.directors]


async def stored(read: Reader, workspace: Workspace) -> Sources:
    """What the tender and the price say; nobody is asked."""
    tender = await workspaces.stored_tender(read, workspace)
    known = dict(_of_tender(tender))
    claims: Mapping[str, Mapping[str, Any]] = {}
    workbook = await read.find(Workbook, workspace_id=workspace.id)
    if workbook is not None:
        picture = (await pricing.picture_of(read, workspace, workbook)).picture
        known |= _of_price(workbook, picture)
        if workspaces.has_price(read, workspace):
            claims = (picture.content.scenario or {}).get("our_goals", {})
    goals = {goal["key"]: goal for goal in pricing.goals_of(tender)}
    return Sources(known, goals=goals, claims=claims)


async def ask(
    read: Reader, workspace: Workspace, definition: Definition, *, proofs_too: bool
) -> Sources:
    """Ask the ports that the fields of a form need, and nobody else. Compliance writes down each
    time it is asked for proven numbers, so mere reading does not ask for them."""
    wanted = {one.source for one in definition.fields if one.source}
    held = await stored(read, workspace)
    known = dict(held.known)
    directors: Sequence[Director] | None = None
    needs_people = any(one.type == "directors" for one in definition.fields)
    if needs_people or any(one.split(".")[0] in ("fact", "address", "contact") for one in wanted):
        profile = await _profile(read, workspace)
        if profile is not None:
            known |= dict(_of_profile(profile))
            directors = _directors(profile)
    proofs = [one.partition(".")[2] for one in wanted if one.startswith("attestation.")]
    if proofs and proofs_too:
        known |= await _of_proofs(read, proofs)
    return replace(held, known=known, directors=directors)


def _of_tender(tender: TenderRef | None) -> Iterator[tuple[str, Known]]:
    if tender is None:
        return
    ref = {
        "domain": "opportunity",
        "type": "tenderOpportunity",
        "id": str(tender.tender_opportunity_id),
        "version": tender.amendment_number,
    }
    values: dict[str, Any] = {
        "tender.buyer": tender.terms.get("buyer", {}).get("name"),
        "tender.number": tender.number,
        "tender.title": tender.title,
        "tender.address": (tender.terms.get("submission") or {}).get("address"),
    }
    if tender.closing_at is not None:
        local = tender.closing_at.astimezone(ZoneInfo(tender.time_zone))
        values["tender.closing_date"] = local.date().isoformat()
        if tender.closing_precision == "minute":
            values["tender.closing_time"] = local.strftime("%H:%M")
    preference = tender.terms.get("preference")
    if preference is not None:
        values["tender.system"] = _SYSTEMS.get(preference["system"])
        values["tender.goals"] = preference["goals"]
    for source, value in values.items():
        if value is not None:
            cited = {**ref, "sha256": _digest(value)}
            yield source, Known(value=value, ref=cited, provenance="tender")


def _digest(value: Any) -> str:
    """What an answer compares, so that an amendment touches only the answers it changes."""
    return sha256(rfc8785.dumps(value)).hexdigest()


def _of_price(workbook: Workbook, picture: pricing.Picture) -> dict[str, Known]:
    """The price of the bid; what its caller may not see is left out where it is shown."""
    ref = {
        "domain": "bid",
        "type": "workbook",
        "id": str(workbook.id),
        "version": workbook.version_number,
        "sha256": _digest([workbook.content_sha256, str(workbook.total_minor)]),
    }
    lines = pricing.lines_with_tax(picture)
    values: dict[str, Any] = {
        "workbook.total": picture.priced.totals.total.amount,
        "workbook.item_count": str(len(lines)),
        "workbook.lines": lines,
    }
    if picture.content.validity_days is not None:
        values["workbook.validity_days"] = str(picture.content.validity_days)
    return {
        name: Known(value=value, ref=ref, provenance="workbook") for name, value in values.items()
    }


async def _profile(read: Reader, workspace: Workspace) -> organization.ProfileView | None:
    on = None if workspace.closing_at is None else local_day(workspace.closing_at)
    try:
        port = read.port(organization.Profiles)
        asked = port.describe(
            organization_id=read.organization_id,
            purpose="bid_form",
            fact_keys=list(_FACTS),
            record_types=list(_RECORDS),
            on=on,
        )
        return await within(port.port_timeout, port.port_name, asked)
    except (Unbound, DependencyUnavailable, NotFound):
        return None


def _of_profile(profile: organization.ProfileView) -> Iterator[tuple[str, Known]]:
    for fact in profile.facts:
        if fact.provenance.kind == "ai_suggested":
            continue  # a machine's guess is never proposed for a form
        value = _TYPES.get(str(fact.value)) if fact.key == "legalForm" else fact.value
        if value is None:
            continue
        warning = "conflict" if fact.conflict else "stale" if fact.stale else None
        yield (
            f"fact.{fact.key}",
            Known(
                value=value,
                ref=fact.ref.model_dump(mode="json"),
                provenance=fact.provenance.kind,
                warning=warning,
            ),
        )
    yield from _of_addresses(_chosen(profile.records, "address"))
    contacts = _chosen(profile.records, "contact")
    for name in ("phone", "email"):
        with_it = [one for one in contacts if one.summary.get(name)]
        if with_it:
            yield f"contact.{name}", _of_record(with_it[0], with_it[0].summary[name])


def _of_addresses(addresses: Sequence[organization.RecordView]) -> Iterator[tuple[str, Known]]:
    """The address of the kind that a field asks for; else the primary one."""
    for source, kind in _KIND_OF.items():
        fitting = [one for one in addresses if one.summary.get("kind") == kind] or addresses
        if fitting:
            yield source, _of_record(fitting[0], _written(fitting[0].summary))


def _chosen(records: Iterable[organization.RecordView], kind: str) -> list[organization.RecordView]:
    """The records of a type, the primary one first."""
    found = [one for one in records if one.type == kind]
    return sorted(found, key=lambda one: not one.summary.get("primary"))


def _of_record(record: organization.RecordView, value: Any) -> Known:
    return Known(value=value, ref=record.ref.model_dump(mode="json"), provenance="record")


def _written(address: Mapping[str, Any]) -> str:
    names = ("line1", "line2", "suburb", "city", "postalCode", "country")
    return ", ".join(str(address[name]) for name in names if address.get(name))


def _directors(profile: organization.ProfileView) -> list[Director]:
    found = []
    for one in profile.records:
        if one.type != "director":
            continue
        names = (one.summary.get("givenNames"), one.summary.get("surname"))
        name = " ".join(str(part) for part in names if part)
        told: Any = one.summary.get("flags") or {}
        flags = DirectorFlags(
            name,
            str(told.get("publicServant", "unknown")),
            str(told.get("restricted", "unknown")),
        )
        found.append(Director(one.ref, name, flags))
    return found


async def _of_proofs(read: Reader, codes: Sequence[str]) -> dict[str, Known]:
    """That a number is proven, by which evidence; the number itself is asked for the print."""
    told = await attestations(read, codes)
    return {
        f"attestation.{one.code}": Known(
            mask=_MASKED,
            ref={
                "domain": "compliance",
                "type": "evidence",
                "id": str(one.evidence_ref.evidence_id),
                "version": one.evidence_ref.proof_version or 1,
            },
            provenance="verified",
            warning=None if one.state == "met" else "stale",
        )
        for one in told
        if one.evidence_ref is not None and one.number is not None
    }


async def attestations(read: Reader, codes: Sequence[str]) -> list[compliance.Attestation]:
    """What Compliance can state for a form to who fills it; silence states nothing."""
    return await asking(
        read,
        compliance.Attestations,
        lambda port: port.describe(
            organization_id=read.organization_id,
            codes=list(codes),
            purpose="bid_form",
            on_behalf_of=workspaces.person_of(read),
        ),
        silent=[],
    )
