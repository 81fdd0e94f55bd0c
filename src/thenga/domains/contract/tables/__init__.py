<<<<<<< HEAD
"""Contract's tables, by area."""

from thenga.domains.contract.tables.awards import (
    Award,
    AwardKind,
    AwardStatus,
    Confirmation,
    ConfirmationStatus,
    EvidenceState,
    Party,
    Signature,
    Workspace,
    WorkspaceStatus,
)
from thenga.domains.contract.tables.delivery import (
    Deliverable,
    DeliverableStatus,
    Milestone,
    MilestoneStatus,
    PerformanceMetric,
    PlanRevision,
    PlanStatus,
)
from thenga.domains.contract.tables.money import (
    Invoice,
    InvoiceLine,
    InvoiceStatus,
    JournalEntry,
    JournalLine,
    Payment,
    PaymentStatus,
    Variation,
    VariationStatus,
    WorkspaceMoney,
)
from thenga.domains.contract.tables.records import (
    Closeout,
    CloseoutStatus,
    Coordination,
    CoordinationStatus,
    Lesson,
    LessonStatus,
    Risk,
    RiskStatus,
)

__all__ = [
    "Award",
    "AwardKind",
    "AwardStatus",
    "Closeout",
    "CloseoutStatus",
    "Confirmation",
    "ConfirmationStatus",
    "Coordination",
    "CoordinationStatus",
    "Deliverable",
    "DeliverableStatus",
    "EvidenceState",
    "Invoice",
=======
"""Rows of Contract."""

from thenga.domains.contract.tables.invoicing import (
    CreditNote,
    DocumentPdf,
    Edition,
    Invoice,
    InvoiceKind,
    InvoiceLine,
    InvoiceStatus,
    Payment,
    PaymentState,
    ReturnReason,
)
from thenga.domains.contract.tables.ledger import (
    Account,
    EntryKind,
    JournalEntry,
    JournalLine,
    WorkspaceMoney,
)
from thenga.domains.contract.tables.variations import (
    Variation,
    VariationReason,
    VariationStatus,
)

__all__ = [
    "Account",
    "CreditNote",
    "DocumentPdf",
    "Edition",
    "EntryKind",
    "Invoice",
    "InvoiceKind",
>>>>>>> con2
    "InvoiceLine",
    "InvoiceStatus",
    "JournalEntry",
    "JournalLine",
<<<<<<< HEAD
    "Lesson",
    "LessonStatus",
    "Milestone",
    "MilestoneStatus",
    "Party",
    "Payment",
    "PaymentStatus",
    "PerformanceMetric",
    "PlanRevision",
    "PlanStatus",
    "Risk",
    "RiskStatus",
    "Signature",
    "Variation",
    "VariationStatus",
    "Workspace",
    "WorkspaceMoney",
    "WorkspaceStatus",
=======
    "Payment",
    "PaymentState",
    "ReturnReason",
    "Variation",
    "VariationReason",
    "VariationStatus",
    "WorkspaceMoney",
>>>>>>> con2
]
