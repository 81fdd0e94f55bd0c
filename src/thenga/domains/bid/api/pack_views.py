"""Submission packs as they are shown."""

from collections.abc import Sequence
from datetime import datetime
from typing import Annotated, Any, Literal
from uuid import UUID

from pydantic import Field

from thenga.domains.bid.api.findings import BidFindingView
from thenga.domains.bid.lifecycles import PackLifecycle
from thenga.domains.bid.services.packs import Shown
from thenga.domains.bid.tables import Pack, PackStatus, Proof
from thenga.domains.bid.values.findings import Class, Finding, is_about_price
from thenga.kernel.db.reader import Reader
from thenga.kernel.declare.lifecycle import AllowedMove
from thenga.kernel.http.bodies import Progress, Stored, View
from thenga.kernel.http.document.operations import PREFIX


class PackFileView(View):
    """A file of an envelope."""

    path: Annotated[str, Field(description="Name in the archive.")]
    sha256: Annotated[str, Field(description="SHA-256 of the content.")]
    bytes: Annotated[int, Field(description="Size in bytes.")]


class PackEnvelopeView(View):
    """An envelope of the pack."""

    name: Annotated[str, Field(description="Name: single, technical or financial.")]
    zip_file_id: Annotated[UUID | None, Field(description="File of the archive.")]
    zip_sha256: Annotated[str, Field(description="SHA-256 of the archive.")]
    manifest_sha256: Annotated[str, Field(description="SHA-256 of its manifest.")]
    pages: Annotated[int, Field(description="Number of pages, as far as known.")]
    files: Annotated[list[PackFileView], Field(description="Files in order.")]


class PackPinView(View):
    """A part of the pack, pinned to a version."""

    kind: Annotated[str, Field(description="Kind: form, text, price, evidence or file.")]
    id: Annotated[str, Field(description="ID of the part.")]
    version: Annotated[int | None, Field(description="Pinned version.")]
    sha256: Annotated[str | None, Field(description="Pinned SHA-256.")]
    envelope: Annotated[str, Field(description="Envelope it belongs to.")]
    title: Annotated[str, Field(description="Title in the pack.")]
    path: Annotated[str | None, Field(description="Name in the archive.")]


class PackBuildView(View):
    """The build of a pack."""

    status: Annotated[str, Field(description="Status: queued, succeeded or failed.")]
    progress: Annotated[Progress, Field(description="Progress of the build.")]


class PackCountsView(View):
    """Number of findings by severity."""

    blocking: Annotated[int, Field(description="Findings that block sealing.")]
    high_risk: Annotated[int, Field(description="High risks to acknowledge.")]
    warning: Annotated[int, Field(description="Warnings.")]
    passed: Annotated[int, Field(description="Checks that passed.")]


class PackValidationView(View):
    """Checks that decide whether the pack can be sealed."""

    result: Annotated[Literal["blocked", "valid"], Field(description="Whether it can be sealed.")]
    counts: Annotated[PackCountsView, Field(description="Findings by severity.")]
    findings: Annotated[list[BidFindingView], Field(description="All checks.")]


class PackOverrideView(View):
    """An overridden finding."""

    reason: Annotated[str, Field(description="Reason.")]
    by: Annotated[str | None, Field(description="Name of the person.")]
    user_id: Annotated[UUID, Field(description="Person who overrode it.")]
    at: Annotated[datetime, Field(description="Time of the override.")]


class PackTickView(View):
    """An item to tick off before the pack is submitted."""

    done: Annotated[bool, Field(description="Whether it is done.")]
    note: Annotated[str | None, Field(description="Note.")] = None


class ProofView(View):
    """Proof that the pack was submitted."""

    id: UUID
    channel: Annotated[str, Field(description="Method of delivery.")]
    submitted_at: Annotated[datetime, Field(description="Time of submission.")]
    place: Annotated[str | None, Field(description="Place of delivery.")]
    receipt_reference: Annotated[str | None, Field(description="Receipt number.")]
    received_by: Annotated[str | None, Field(description="Recipient.")]
    copies: Annotated[int | None, Field(description="Number of copies.")]
    file_ids: Annotated[list[UUID], Field(description="Files that prove it.")]
    manifest_sha256: Annotated[str, Field(description="SHA-256 of the submitted manifest.")]
    recorded_by: Annotated[UUID | None, Field(description="Person who recorded it.")]
    created_at: Annotated[datetime, Field(description="Time of recording.")]
    recorded_late: Annotated[
        bool, Field(description="Whether it was recorded after the closing date.")
    ]


class PackView(Stored):
    """A submission pack."""

    organization_id: UUID
    workspace_id: Annotated[UUID, Field(description="Workspace of the bid.")]
    number: Annotated[int, Field(description="Number of the pack in its workspace.")]
    is_current: Annotated[bool, Field(description="Whether it is the newest pack.")]
    status: PackStatus
    status_reason: Annotated[str | None, Field(description="Why the status changed.")]
    status_changed_at: Annotated[datetime | None, Field(description="Time of the status change.")]
    status_changed_by: Annotated[UUID | None, Field(description="User who changed the status.")]
    as_of: Annotated[datetime, Field(description="Time at which its parts were pinned.")]
    build: Annotated[PackBuildView, Field(description="Status of the build.")]
    validation: Annotated[PackValidationView, Field(description="Checks of the pack.")]
    pins: Annotated[list[PackPinView], Field(description="Parts of the pack.")]
    envelopes: Annotated[list[PackEnvelopeView], Field(description="Envelopes with archives.")]
    manifest_sha256: Annotated[str | None, Field(description="SHA-256 of its manifest.")]
    overrides: Annotated[dict[str, PackOverrideView], Field(description="Overrides by finding.")]
    acknowledgements: Annotated[dict[str, bool], Field(description="Acknowledged risks.")]
    checklist: Annotated[dict[str, PackTickView], Field(description="Checklist by key.")]
    sealed_by: Annotated[UUID | None, Field(description="Person who sealed it.")]
    sealed_at: Annotated[datetime | None, Field(description="Time of sealing.")]
    proofs: Annotated[list[ProofView], Field(description="Proofs of submission.")]
    withheld: Annotated[list[str], Field(description="Parts that you cannot see.")]
    allowed_moves: list[AllowedMove]

    @property
    def own_path(self) -> str:
        return f"{PREFIX}/bids/submission-packs/{self.id}"

    @classmethod
    def of(
        cls, shown: Shown, proofs: Sequence[Proof], read: Reader, *, sees_price: bool
    ) -> "PackView":
        pack = shown.pack
        hides = [] if sees_price else ["price"]
        more: dict[str, Any] = {
            "status_reason": pack.status_text or pack.status_code,
            "build": _build(pack),
            "validation": _validation(pack, shown.findings, sees_price=sees_price),
            "pins": [
                PackPinView.model_validate({"version": None, "sha256": None, "path": None} | pin)
                for pin in pack.pins
                if sees_price or not pin.get("price")
            ],
            "envelopes": [
                PackEnvelopeView.model_validate({"zip_file_id": None} | one)
                for one in pack.envelopes
                if sees_price or one["name"] == "technical"
            ],
            "proofs": [ProofView.model_validate(one.__dict__) for one in proofs],
            "withheld": hides,
            "allowed_moves": PackLifecycle.allowed(pack, read.now),
        }
        return cls.model_validate(pack.__dict__ | more)


def _build(pack: Pack) -> PackBuildView:
    build = pack.build
    progress = Progress(done=build["done"], total=build["total"], note=build.get("note"))
    return PackBuildView(status=build["status"], progress=progress)


def _validation(pack: Pack, findings: Sequence[Finding], *, sees_price: bool) -> PackValidationView:
    counts = {severity.value: 0 for severity in Class}
    shown = []
    open_ones = 0
    for one in findings:
        counts[one.severity.value] += 1
        state = None
        if one.key in pack.overrides:
            state = "overridden"
        elif pack.acknowledgements.get(one.key):
            state = "acknowledged"
        elif one.severity in (Class.BLOCKING, Class.HIGH_RISK):
            open_ones += 1
        view = BidFindingView.of(one, state)
        if not sees_price and is_about_price(one.subject):
            view = view.model_copy(update={"text": one.code.replace("_", " ")})
        shown.append(view)
    built = pack.status in (PackStatus.BUILT, PackStatus.SEALED, PackStatus.SUBMITTED)
    result: Literal["blocked", "valid"] = "valid" if built and not open_ones else "blocked"
    return PackValidationView(
        result=result, counts=PackCountsView.model_validate(counts), findings=shown
    )
