"""Which moves exist in Contract."""

from thenga.domains.contract.lifecycles.awards import AwardLifecycle, WorkspaceLifecycle
from thenga.domains.contract.lifecycles.delivery import (
    DeliverableLifecycle,
    MilestoneLifecycle,
    PlanLifecycle,
)
from thenga.domains.contract.lifecycles.money import (
    InvoiceLifecycle,
    PaymentLifecycle,
    VariationLifecycle,
)
from thenga.domains.contract.lifecycles.records import (
    CloseoutLifecycle,
    CoordinationLifecycle,
    LessonLifecycle,
    RiskLifecycle,
)
from thenga.kernel.declare.lifecycle import Lifecycle

LIFECYCLES: tuple[type[Lifecycle], ...] = (
    AwardLifecycle,
    WorkspaceLifecycle,
    PlanLifecycle,
    MilestoneLifecycle,
    DeliverableLifecycle,
    CoordinationLifecycle,
    VariationLifecycle,
    InvoiceLifecycle,
    PaymentLifecycle,
    RiskLifecycle,
    CloseoutLifecycle,
    LessonLifecycle,
)

__all__ = [
    "LIFECYCLES",
    "AwardLifecycle",
    "CloseoutLifecycle",
    "CoordinationLifecycle",
    "DeliverableLifecycle",
    "InvoiceLifecycle",
    "LessonLifecycle",
    "MilestoneLifecycle",
    "PaymentLifecycle",
    "PlanLifecycle",
    "RiskLifecycle",
    "VariationLifecycle",
    "WorkspaceLifecycle",
]
