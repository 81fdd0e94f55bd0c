"""Evidence: proofs, their fit, and verification by somebody else (CMP-15 to 21)."""

from thenga.domains.compliance.services.evidence.citations import (
    describe_attestations,
    resolve,
)
from thenga.domains.compliance.services.evidence.decisions import (
    Decided,
    EvidenceMoved,
    Outcome,
    cancel,
    claim,
    decide,
    decide_at_once,
)
from thenga.domains.compliance.services.evidence.fit import (
    Fit,
    LinkFit,
    Need,
    ProofFacts,
    fit_of,
)
from thenga.domains.compliance.services.evidence.links import (
    EvidenceDetail,
    Linked,
    add_evidence,
    change_evidence,
    detail_of,
    get_detail,
)
from thenga.domains.compliance.services.evidence.needs import (
    Asked,
    asked_by,
    links_of,
    need_of,
    proof_codes,
)
from thenga.domains.compliance.services.evidence.proofs import (
    Cited,
    Unlinkable,
    cite_declaration,
    cite_document,
    cite_reference,
    facts_of,
    told_of,
)
from thenga.domains.compliance.services.evidence.staleness import (
    add_successors,
    record_certificate,
    release_from,
    reopen_for_facts,
    revoke_certificate,
    run_due_check,
)
from thenga.domains.compliance.services.evidence.tickets import (
    close_ticket,
    end_ticket,
    enter_tenant,
    list_tickets,
    open_ticket,
    write_ticket,
)
from thenga.domains.compliance.services.evidence.verifications import (
    VerificationFilters,
    list_verifications,
    request,
)

__all__ = [
    "Asked",
    "Cited",
    "Decided",
    "EvidenceDetail",
    "EvidenceMoved",
    "Fit",
    "LinkFit",
    "Linked",
    "Need",
    "Outcome",
    "ProofFacts",
    "Unlinkable",
    "VerificationFilters",
    "add_evidence",
    "add_successors",
    "asked_by",
    "cancel",
    "change_evidence",
    "cite_declaration",
    "cite_document",
    "cite_reference",
    "claim",
    "close_ticket",
    "decide",
    "decide_at_once",
    "describe_attestations",
    "detail_of",
    "end_ticket",
    "enter_tenant",
    "facts_of",
    "fit_of",
    "get_detail",
    "links_of",
    "list_tickets",
    "list_verifications",
    "need_of",
    "open_ticket",
    "proof_codes",
    "record_certificate",
    "release_from",
    "reopen_for_facts",
    "request",
    "resolve",
    "revoke_certificate",
    "run_due_check",
    "told_of",
    "write_ticket",
]
