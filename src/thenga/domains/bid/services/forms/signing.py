"""Signatures: one person signs exact bytes with authority, another verifies (BID-21, BID-22)."""

from dataclasses import dataclass
from datetime import datetime
from hashlib import sha256
from typing import Any, Literal
from uuid import UUID

import rfc8785
from sqlalchemy import select

from thenga.domains.bid.lifecycles import FormLifecycle
from thenga.domains.bid.services import files, pricing, workspaces
from thenga.domains.bid.services.forms.adding import event_of
from thenga.domains.bid.services.forms.rendering import scan_pages
from thenga.domains.bid.services.workspaces import Need
from thenga.domains.bid.tables import FormStatus, SbdForm, Signature, Workspace
from thenga.domains.organization import public as organization
from thenga.kernel.db.acting import same_person
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.work import Work
from thenga.kernel.declare.lifecycle import explain
from thenga.kernel.errors import (
    DependencyUnavailable,
    NotFound,
    Problem,
    RuleViolated,
    SamePerson,
    extensions,
)
from thenga.kernel.ports.binding import Unbound, within
from thenga.kernel.values.ids import new_id
from thenga.kernel.values.json_writer import to_json
from thenga.kernel.values.money import Money

Method = Literal["electronic", "wet_ink"]


class SigningAuthorityMissing(Problem):
    """You have no signing authority today, or only up to a lower price. Ask a signatory."""

    code, status, title = "bid-signing-authority", 403, "You cannot sign this for the company"


class RenderingChanged(Problem):
    """The form was printed again since you read it. Read it and its file before you sign."""

    code, status, title = "bid-rendering-changed", 409, "The printed form has changed"
    members = extensions(currentSha256=(str | None, "SHA-256 of the current print."))


class ESignatureRefused(Problem):
    """The buyer does not accept electronic signatures.

    Print the form, sign it in black ink and upload the scan with `method: wet_ink`.
    """

    code, status, title = "bid-esignature-refused", 422, "Electronic signatures are not accepted"


@dataclass(frozen=True, slots=True)
class Signing:
    """What somebody signs, and how."""

    method: Method
    capacity: str
    rendering_sha256: str
    file_id: UUID | None = None


async def sign(work: Work, form_id: UUID, signing: Signing) -> SbdForm:
    """Sign the print of a completed form; a repeat of the same signature changes nothing."""
    seen = await work.get(SbdForm, form_id)
    workspace = await workspaces.seen_workspace(work, seen.workspace_id, Need.EDIT)
    _check_rendering(seen, signing)
    authority = await _authority(work, workspace)
    await _check_method(work, workspace, seen, signing)
    workspace = await workspaces.workspace_for(work, seen.workspace_id, Need.EDIT)
    form = await work.lock(SbdForm, form_id)
    _check_rendering(form, signing)
    at_version = form.version
    if not FormLifecycle.sign(form, at=work.now):
        return form
    signer = work.user_id
    signed_at = work.now.replace(microsecond=work.now.microsecond // 1000 * 1000)
    signature = Signature(
        id=new_id(),
        organization_id=work.organization_id,
        form_id=form.id,
        form_version=at_version,
        signer_user_id=signer,
        method=signing.method,
        capacity=signing.capacity,
        rendering_sha256=signing.rendering_sha256,
        payload_sha256=payload_sha256(form.id, at_version, signing, signed_at, signer),
        authority_ref=authority,
        file_id=signing.file_id,
        signed_at=signed_at,
    )
    await work.add(signature)
    if signing.method == "wet_ink" and signing.file_id is not None and form.rendering is not None:
        await files.take_class(work, signing.file_id, of=UUID(form.rendering["file_id"]))
    explain(form, at=work.now, by=signer, code="sign")
    await work.save(form)
    work.publish(event_of(workspace, form))
    return form


def payload_sha256(
    form_id: UUID, form_version: int, signing: Signing, signed_at: datetime, signer: UUID
) -> str:
    """The hash of what is signed: who, as what, when, and which bytes."""
    payload: dict[str, Any] = {
        "capacity": signing.capacity,
        "documentSha256": signing.rendering_sha256,
        "formId": str(form_id),
        "formVersion": form_version,
        "method": signing.method,
        "signedAt": to_json(signed_at).decode().strip('"'),
        "signerUserId": str(signer),
    }
    return sha256(rfc8785.dumps(payload)).hexdigest()


async def verify(work: Work, form_id: UUID) -> SbdForm:
    """Another person than the signer compares the signed form with its print."""
    seen = await work.get(SbdForm, form_id)
    workspace = await workspaces.workspace_for(work, seen.workspace_id, Need.EDIT)
    form = await work.lock(SbdForm, form_id)
    held = await live_signatures(work, form.id)
    if same_person(work, *(signature.signer_user_id for signature in held)):
        raise SamePerson("You signed this form, so someone else must verify it.")
    if not FormLifecycle.verify(form, at=work.now):
        return form
    for one in held:
        signature = await work.lock(Signature, one.id, beside=True)
        signature.checked_by, signature.checked_at = work.user_id, work.now
        await work.save(signature)
    explain(form, at=work.now, by=work.user_id, code="verify")
    await work.save(form)
    work.publish(event_of(workspace, form))
    return form


async def live_signatures(read: Reader, form_id: UUID) -> list[Signature]:
    """The signatures of a form that still count."""
    statement = select(Signature).where(Signature.form_id == form_id, Signature.voided_at.is_(None))
    return await read.all(statement.order_by(Signature.id))


async def signatures_of(read: Reader, form_id: UUID) -> list[Signature]:
    """Every signature of a form, also those that no longer count."""
    return await read.all(
        select(Signature).where(Signature.form_id == form_id).order_by(Signature.id)
    )


async def void_signatures(work: Work, form: SbdForm, reason: str) -> None:
    """What was signed is no longer what the form says."""
    for one in await live_signatures(work, form.id):
        signature = await work.lock(Signature, one.id, beside=True)
        signature.voided_at, signature.void_reason = work.now, reason
        await work.save(signature)


def _check_rendering(form: SbdForm, signing: Signing) -> None:
    current = (form.rendering or {}).get("sha256")
    if form.status is FormStatus.COMPLETED and current != signing.rendering_sha256:
        raise RenderingChanged(currentSha256=current)


async def _authority(work: Work, workspace: Workspace) -> dict[str, Any]:
    """The caller's authority to sign in force today, for a bid of this price."""
    try:
        port = work.port(organization.Profiles)
    except Unbound:
        raise DependencyUnavailable(dependency=organization.Profiles.port_name) from None
    asked = port.describe(
        organization_id=work.organization_id,
        purpose="bid_form",
        fact_keys=[],
        record_types=["user"],
    )
    try:
        profile = await within(port.port_timeout, port.port_name, asked)
    except NotFound:
        raise SigningAuthorityMissing() from None
    price = await pricing.current_price(work, workspace.id)
    for record in profile.records:
        if record.summary.get("userId") == str(work.user_id):
            held: Any = record.summary["signingAuthority"]
            if _covers(held.get("limit"), None if price is None else price.total):
                return record.ref.model_dump(mode="json")
    raise SigningAuthorityMissing()


def _covers(limit: Any, total: Money | None) -> bool:
    if limit is None or total is None:
        return True
    return total <= Money.of(limit["amount"], limit["currency"])


async def _check_method(work: Work, workspace: Workspace, form: SbdForm, signing: Signing) -> None:
    if signing.method == "electronic":
        if await e_signature(work, workspace) == "refused":
            raise ESignatureRefused()
        return
    if signing.file_id is None:
        raise RuleViolated(
            "Upload a scan of the signed form and send its ID.", rule="BID-22", field="fileId"
        )
    scan = await files.clean_file(work, workspace.id, signing.file_id)
    content = await files.content_of(work.host.files, scan)
    wanted = (form.rendering or {}).get("pages")
    if wanted is not None and await scan_pages(work, content, scan.media_type) != wanted:
        raise RuleViolated(
            f"The scan must have {wanted} pages, like the printed form.",
            rule="BID-22",
            field="fileId",
        )


async def e_signature(read: Reader, workspace: Workspace) -> str:
    """Whether the buyer accepts electronic signatures, as far as the tender says."""
    tender = await workspaces.stored_tender(read, workspace)
    submission = None if tender is None else tender.terms.get("submission")
    return "unknown" if submission is None else str(submission["e_signature"])
