"""Capabilities: what a supplier says it can deliver, and what Organization verified of it."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import func, select

from thenga.domains.organization.public import Profiles, RecordView
from thenga.domains.supplier import public
from thenga.domains.supplier.public import Verification
from thenga.domains.supplier.schemas.capabilities import DeclareCapability
from thenga.domains.supplier.services import suppliers
from thenga.domains.supplier.tables import Capability, Supplier, SupplierKind
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.rows import merge_patch
from thenga.kernel.db.statements import among
from thenga.kernel.db.work import Work
from thenga.kernel.errors import Problem, RuleViolated

MOST = 50  # capabilities of one supplier


class CapabilityUnknown(Problem):
    """`organizationCapabilityId` is no capability of your company's profile.

    Claim the capability in the profile first, or leave the field out.
    """

    code, status = "supplier-capability-unknown", 422
    title = "This is no capability of your company"


async def declare_capability(
    work: Work, supplier_id: UUID, given: DeclareCapability
) -> tuple[Capability, bool]:
    """Declare a capability, or change the one with this title; whether it is new (SUP-6)."""
    # Locked before Organization is asked, so that `refresh_verification` waits for this answer.
    supplier = await work.lock(Supplier, supplier_id, beside=True)
    more: dict[str, Any] = {}
    if "organization_capability_id" in given.model_fields_set:
        proof, sequence = await _verification_of(work, supplier, given.organization_capability_id)
        more = {"verification": proof, "verification_sequence": sequence}
    key = given.title.casefold()
    capability = await work.find(Capability, supplier_id=supplier.id, title_key=key)
    if capability is not None:
        await work.hold(capability)
        merge_patch(capability, given, withdrawn=given.withdrawn, **more)
        await _save_change(work, capability)
        return capability, False
    await _check_room(work, supplier)
    more |= {"organization_id": supplier.organization_id, "shared": supplier.shared}
    capability = Capability.of(given, supplier_id=supplier.id, title_key=key, **more)
    _publish_change(work, await work.add(capability))
    return capability, True


async def refresh_verification(
    work: Work,
    organization_capability_id: UUID,
    verification: Verification | None,
    sequence: int,
) -> None:
    """Store what Organization says of a capability that its own supplier names; newest wins."""
    supplier = await suppliers.own_supplier(work)
    if supplier is None:
        return
    await work.hold(supplier)  # a declaration that asked Organization before ends first
    naming = select(Capability).where(
        Capability.organization_id == work.organization_id,
        Capability.organization_capability_id == organization_capability_id,
    )
    for capability in await work.all(naming):
        await work.hold(capability)
        if sequence > capability.verification_sequence:
            capability.verification = verification
            capability.verification_sequence = sequence
            await _save_change(work, capability)


async def capabilities_of(
    read: Reader, supplier_ids: Sequence[UUID]
) -> dict[UUID, list[Capability]]:
    """The capabilities that suppliers offer now, in the order of declaration."""
    of_these = among(Capability.supplier_id, supplier_ids)
    statement = select(Capability).where(of_these, ~Capability.withdrawn).order_by(Capability.id)
    found: dict[UUID, list[Capability]] = {supplier_id: [] for supplier_id in supplier_ids}
    for capability in await read.all(statement):
        found[capability.supplier_id].append(capability)
    return found


def verification_on(capability: Capability, now: datetime) -> Verification | None:
    """The verification as it is at that time."""
    return None if capability.verification is None else capability.verification.on(now)


async def _save_change(work: Work, capability: Capability) -> None:
    if work.changes(capability):
        _publish_change(work, await work.save(capability))


def _publish_change(work: Work, capability: Capability) -> None:
    verification = verification_on(capability, work.now)
    status = None if verification is None else verification.verification_status
    work.publish(public.SupplierCapabilityChanged.of(capability, verification_status=status))


async def _verification_of(
    work: Work, supplier: Supplier, capability_id: UUID | None
) -> tuple[Verification | None, int]:
    """What Organization says now of its own capability, and the version that says so."""
    if capability_id is None:
        return None, 0
    if supplier.kind is not SupplierKind.OWN:
        raise RuleViolated(
            "Only your own supplier can name a capability of your company's profile.",
            rule="SUP-6",
            field="/organizationCapabilityId",
        )
    profile = await work.port(Profiles).describe(
        organization_id=supplier.organization_id,
        purpose="display",
        fact_keys=[],
        record_types=["capability"],
        records_after=UUID(int=max(capability_id.int - 1, 0)),  # the page that begins with it
    )
    for record in profile.records:
        if record.ref.id == str(capability_id):
            return _stated(record), record.ref.version
    raise CapabilityUnknown()


def _stated(record: RecordView) -> Verification:
    cidb = record.summary["cidb"]
    stated = {
        "verificationStatus": record.verification_status,
        "verifiedUntil": record.summary["verifiedUntil"],
        "classifications": record.summary["classifications"],
        "cidbDesignation": cidb["designation"] if isinstance(cidb, dict) else None,
    }
    return Verification.model_validate(stated)


async def _check_room(work: Work, supplier: Supplier) -> None:
    counted = select(func.count()).where(Capability.supplier_id == supplier.id)
    if (used := await work.value(counted) or 0) >= MOST:
        raise RuleViolated(
            f"A supplier has at most {MOST} capabilities. Withdrawn ones can be declared again.",
            rule="SUP-6",
            limit=MOST,
            used=used,
        )
