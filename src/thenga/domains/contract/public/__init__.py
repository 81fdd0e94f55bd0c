"""What other domains may know of Contract: its events, its ports and their values."""

from thenga.domains.contract.public import awards, delivery, money, records, settings
from thenga.domains.contract.public.awards import (
    AwardRecorded,
    ContractClosed,
    ContractStateChanged,
    ContractWorkspaceOpened,
)
from thenga.domains.contract.public.delivery import (
    DeliverableAccepted,
    DeliveryPlanBaselined,
    MilestoneAtRisk,
    MilestoneReached,
    PerformancePeriod,
    PerformanceRecorded,
    PlannedMilestone,
)
from thenga.domains.contract.public.money import (
    InvoiceChanged,
    InvoiceOverdue,
    InvoiceRecorded,
    PaymentRecorded,
    PaymentReversed,
    RetentionReleasable,
    VariationExecuted,
)
from thenga.domains.contract.public.ports import (
    CashPlan,
    CashPlanBuyer,
    CashPlanCost,
    CashPlanInvoice,
    CashPlanMilestone,
    CashPlans,
    Relationship,
    Relationships,
)
from thenga.domains.contract.public.records import (
    ContractRiskRaised,
    LessonPublished,
    SupplierPackageChanged,
)
from thenga.domains.contract.public.settings import (
    PolicyAcknowledged,
)

EVENTS = (
    *awards.EVENTS,
    *delivery.EVENTS,
    *money.EVENTS,
    *records.EVENTS,
    *settings.EVENTS,
)

__all__ = [
    "EVENTS",
    "AwardRecorded",
    "CashPlan",
    "CashPlanBuyer",
    "CashPlanCost",
    "CashPlanInvoice",
    "CashPlanMilestone",
    "CashPlans",
    "ContractClosed",
    "ContractRiskRaised",
    "ContractStateChanged",
    "ContractWorkspaceOpened",
    "DeliverableAccepted",
    "DeliveryPlanBaselined",
    "InvoiceChanged",
    "InvoiceOverdue",
    "InvoiceRecorded",
    "LessonPublished",
    "MilestoneAtRisk",
    "MilestoneReached",
    "PaymentRecorded",
    "PaymentReversed",
    "PerformancePeriod",
    "PerformanceRecorded",
    "PlannedMilestone",
    "PolicyAcknowledged",
    "Relationship",
    "Relationships",
    "RetentionReleasable",
    "SupplierPackageChanged",
    "VariationExecuted",
]
