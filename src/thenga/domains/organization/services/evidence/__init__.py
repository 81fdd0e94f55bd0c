"""Evidence: documents that support a fact, and the checks made of them."""

from thenga.domains.organization.services.evidence.checks import (
    Check,
    end_check,
    of_records,
    only_others,
    save_check,
    write_check,
)
from thenga.domains.organization.services.evidence.evidence import (
    Known,
    check_evidence,
    expire_evidence,
    known_evidence,
    record_evidence,
    refers_to,
)

__all__ = [
    "Check",
    "Known",
    "check_evidence",
    "end_check",
    "expire_evidence",
    "known_evidence",
    "of_records",
    "only_others",
    "record_evidence",
    "refers_to",
    "save_check",
    "write_check",
]
