"""Papers and proofs: members who keep them are told what expires, fails or waits."""

from collections.abc import Sequence
from uuid import UUID

from thenga.domains.compliance import public as compliance
from thenga.domains.notification.public import Target
from thenga.domains.notification.reactions.declared import reactions
from thenga.domains.notification.reactions.notifying import notify
from thenga.domains.notification.services import escalations, tenants
from thenga.domains.notification.services.templates import ChannelKind
from thenga.kernel.access.actors import OPERATOR
from thenga.kernel.db.work import Work
from thenga.kernel.ports.binding import within
from thenga.kernel.values.references import Reference

KEEPERS = Target(kind="permission", permission="compliance:document:update")
VERIFIERS = Target(kind="permission", permission="compliance:verification:decide")
BIDDERS = Target(kind="permission", permission="compliance:requirement:update")
PERSONAL = Target(kind="permission", permission="compliance:personal_document:read")
CONFIDENTIAL = Target(kind="permission", permission="compliance:confidential_document:read")
_READERS = {"personal": PERSONAL, "confidential": CONFIDENTIAL}

_INSIDE: tuple[ChannelKind, ...] = ("in_app",)
_ESCALATED = frozenset({"high", "critical"})
_SETTLED = frozenset({"accepted", "closed"})
_MOST_NAMED = 5
_RISKS = {
    "gate_expired": "a mandatory document has expired",
    "gate_expiring": "a mandatory document expires soon",
    "gate_unknown": "a mandatory requirement cannot be assessed",
    "lapses_before_award": "a document expires before a tender is awarded",
    "renewal_late": "a renewal is late",
    "verification_failed": "evidence failed verification",
}
_SHORT_NAMES = {
    **{one: one.upper() for one in ("csd", "cipc", "vat", "uif", "coida", "cidb", "pin", "tcs")},
    "bbbee": "B-BBEE",
    "bo": "beneficial ownership",
}


@reactions.on(compliance.DocumentExpiring)
async def tell_of_expiring_document(work: Work, event: compliance.DocumentExpiring) -> None:
    """A paper comes near its last day; those who keep papers are told once for each window."""
    facts = _facts(event) | {"daysLeft": str(event.days_left)}
    key = f"expiring {event.document_id} {event.document_version} {event.window}"
    about = _document(event.document_id)
    audience = await _keepers(work, event.organization_id, event.document_id)
    await notify(work, "compliance.document_expiring", facts, audience, about, key=key)


@reactions.on(compliance.DocumentExpired)
async def tell_of_expired_document(work: Work, event: compliance.DocumentExpired) -> None:
    """The last day of a paper has passed."""
    key = f"expired {event.document_id} {event.document_version} {event.valid_until}"
    about = _document(event.document_id)
    audience = await _keepers(work, event.organization_id, event.document_id)
    await notify(work, "compliance.document_expired", _facts(event), audience, about, key=key)


@reactions.on(compliance.VerificationRequested)
async def tell_verifiers(work: Work, event: compliance.VerificationRequested) -> None:
    """Members who verify get a request, or staff where the platform is asked. A request about a
    personal document goes only to those who may read it.

    A sandbox sends nothing outside, to staff either.
    """
    document_class = await _class_of_evidence(work, event.organization_id, event.evidence_id)
    channels: tuple[ChannelKind, ...] | None = None
    if event.requested_from == "platform":
        channels = _INSIDE if await tenants.is_known_sandbox(work) else None
        await work.switch_scope(organization_id=OPERATOR)
    await notify(
        work,
        "compliance.verification_requested",
        {},
        [PERSONAL if document_class == "personal" else VERIFIERS],
        Reference(domain="compliance", type="verification", id=event.verification_id),
        key=f"verification {event.verification_id} requested",
        channels=channels,
    )


@reactions.on(compliance.VerificationFailed)
async def tell_of_failed_verification(work: Work, event: compliance.VerificationFailed) -> None:
    """A proof that was found wrong is told in writing to those who keep papers (NOT-3)."""
    document_class = await _class_of_evidence(work, event.organization_id, event.evidence_id)
    await notify(
        work,
        "compliance.verification_failed",
        {"requirements": _named(event.requirement_codes), "reason": _words(event.reason_code)},
        [_READERS.get(document_class, KEEPERS)],
        Reference(domain="compliance", type="evidence", id=event.evidence_id),
        key=f"verification {event.verification_id} failed",
    )


@reactions.on(compliance.ReadinessChanged)
async def tell_of_lower_readiness(work: Work, event: compliance.ReadinessChanged) -> None:
    """Readiness that falls is told to those who bid; one that rises speaks for itself."""
    if event.direction != "down":
        return
    tender_id = event.tender_opportunity_id
    about = Reference(domain="compliance", type="organization", id=event.organization_id)
    if tender_id is not None:
        about = Reference(domain="opportunity", type="tenderOpportunity", id=tender_id)
    await notify(
        work,
        "compliance.readiness_fell",
        {
            "verdict": _words(event.verdict),
            "scope": "your company" if tender_id is None else "a tender that you follow",
            "blockers": _named(event.blockers),
        },
        [BIDDERS],
        about,
        key=f"readiness {work.origin.causation_id}",
    )


@reactions.on(compliance.ComplianceRiskRaised)
async def escalate_risk(work: Work, event: compliance.ComplianceRiskRaised) -> None:
    """A high or critical risk is escalated until somebody treats it (NOT-41)."""
    if event.level not in _ESCALATED:
        return
    await escalations.open_escalation(
        work,
        key=f"risk {event.risk_id} {work.origin.causation_id}",
        policy_key="compliance.risk",
        about=Reference(domain="compliance", type="risk", id=event.risk_id),
        facts={
            "risk": _RISKS.get(event.rule_code, _words(event.rule_code)),
            "level": event.level,
            "score": str(event.score),
        },
    )


@reactions.on(compliance.ComplianceRiskChanged)
async def resolve_risk(work: Work, event: compliance.ComplianceRiskChanged) -> None:
    """Nobody else is told of a risk that was accepted or closed."""
    if event.status in _SETTLED:
        await escalations.resolve_on_event(work, event.type, "compliance", event.risk_id)


def _facts(event: compliance.DocumentExpiring | compliance.DocumentExpired) -> dict[str, str]:
    renewal = event.renewal
    return {
        "document": _words(event.document_type_code),
        "validUntil": event.valid_until.isoformat(),
        "requirements": _named(event.requirement_codes),
        "renewal": "No renewal has been recorded."
        if renewal is None
        else f"The renewed document is expected on {renewal.expected_on:%d %B %Y}.",
    }


async def _keepers(work: Work, organization_id: UUID, document_id: UUID) -> list[Target]:
    """Who gets notices about a document: its keepers, or those who may read its class (CMP-48).

    A notice names the document, so nobody else may get it.
    """
    return [_READERS.get(await _class_of(work, organization_id, document_id), KEEPERS)]


async def _class_of_evidence(work: Work, organization_id: UUID, evidence_id: UUID) -> str:
    """The class of the document of an evidence; one without a document is for everyone."""
    port = work.port(compliance.Evidence)
    asked = [compliance.EvidenceRef(evidence_id=evidence_id)]
    resolving = port.resolve(organization_id=organization_id, refs=asked)
    (found,) = await within(port.port_timeout, port.port_name, resolving)
    if found.document_id is None:
        return "personal" if found.state == "unknown" else "ordinary"
    return await _class_of(work, organization_id, found.document_id)


async def _class_of(work: Work, organization_id: UUID, document_id: UUID) -> str:
    """Asked anew each time; silence raises, so the reaction is tried again."""
    port = work.port(compliance.Documents)
    asked = port.classes(organization_id=organization_id, document_ids=[document_id])
    (found,) = await within(port.port_timeout, port.port_name, asked)
    return found


def _document(document_id: UUID) -> Reference:
    return Reference(domain="compliance", type="document", id=document_id)


def _named(codes: Sequence[str]) -> str:
    """Requirements in words; a few by name, the rest by number."""
    if not codes:
        return "none"
    named = ", ".join(_words(one) for one in codes[:_MOST_NAMED])
    more = len(codes) - _MOST_NAMED
    return f"{named} and {more} more" if more > 0 else named


def _words(code: str) -> str:
    return " ".join(_SHORT_NAMES.get(one, one) for one in code.split("_"))
