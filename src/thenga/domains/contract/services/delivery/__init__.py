"""Delivery: plans, milestones, deliverables and measured performance (CON-7 to 12, 37)."""

from thenga.domains.contract.services.delivery.deliverables import change_deliverable
from thenga.domains.contract.services.delivery.lateness import (
    Lateness,
    check_soon,
    lateness_of,
    tell_milestone,
)
from thenga.domains.contract.services.delivery.milestones import (
    DeliveryMove,
    MilestoneFilters,
    MilestoneIncomplete,
    change_milestone,
    list_milestones,
)
from thenga.domains.contract.services.delivery.performance import (
    GivenPerformance,
    NothingMeasured,
    Period,
    list_performance,
    record_performance,
)
from thenga.domains.contract.services.delivery.plans import (
    GivenPlan,
    Slip,
    compare,
    get_plan,
    write_plan,
)
from thenga.domains.contract.services.delivery.rebaselining import (
    MilestoneGone,
    rebaseline,
)
from thenga.domains.contract.services.delivery.rules import (
    PlanCyclic,
    PlanPercent,
    divide,
    find_cycle,
    percents_of,
)
from thenga.domains.contract.services.delivery.scheduling import (
    deliverables_of,
    live_milestones,
    refuse_foreign,
)

__all__ = [
    "DeliveryMove",
    "GivenPerformance",
    "GivenPlan",
    "Lateness",
    "MilestoneFilters",
    "MilestoneGone",
    "MilestoneIncomplete",
    "NothingMeasured",
    "Period",
    "PlanCyclic",
    "PlanPercent",
    "Slip",
    "change_deliverable",
    "change_milestone",
    "check_soon",
    "compare",
    "deliverables_of",
    "divide",
    "find_cycle",
    "get_plan",
    "lateness_of",
    "list_milestones",
    "list_performance",
    "live_milestones",
    "percents_of",
    "rebaseline",
    "record_performance",
    "refuse_foreign",
    "tell_milestone",
    "write_plan",
]
