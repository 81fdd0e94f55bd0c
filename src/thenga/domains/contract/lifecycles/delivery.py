"""Moves of plans, milestones and deliverables."""

from thenga.domains.contract.tables import DeliverableStatus, MilestoneStatus, PlanStatus
from thenga.kernel.declare.lifecycle import By, Lifecycle, Move


class PlanLifecycle(Lifecycle, initial=(PlanStatus.DRAFT, PlanStatus.BASELINED)):
    """A revision of the plan; the newest baseline supersedes the one before (CON-8)."""

    baseline = Move(PlanStatus.DRAFT, to=PlanStatus.BASELINED)
    supersede = Move(PlanStatus.BASELINED, to=PlanStatus.SUPERSEDED, by=By.SYSTEM)


class MilestoneLifecycle(Lifecycle, initial=MilestoneStatus.SCHEDULED):
    """A milestone; the buyer decides it once it was submitted (CON-11)."""

    start = Move(
        MilestoneStatus.SCHEDULED,
        MilestoneStatus.NOT_MET,
        MilestoneStatus.PARTIALLY_MET,
        to=MilestoneStatus.IN_PROGRESS,
    )
    submit = Move(MilestoneStatus.IN_PROGRESS, to=MilestoneStatus.SUBMITTED)
    accept = Move(MilestoneStatus.SUBMITTED, to=MilestoneStatus.MET)
    accept_partly = Move(MilestoneStatus.SUBMITTED, to=MilestoneStatus.PARTIALLY_MET)
    reject = Move(MilestoneStatus.SUBMITTED, to=MilestoneStatus.NOT_MET)
    waive = Move(MilestoneStatus.SCHEDULED, MilestoneStatus.IN_PROGRESS, to=MilestoneStatus.WAIVED)
    remove = Move(
        MilestoneStatus.SCHEDULED,
        MilestoneStatus.IN_PROGRESS,
        to=MilestoneStatus.REMOVED,
        by=By.SYSTEM,
    )

    GONE = (MilestoneStatus.WAIVED, MilestoneStatus.REMOVED)
    DONE = (MilestoneStatus.MET, *GONE)


class DeliverableLifecycle(Lifecycle, initial=DeliverableStatus.PLANNED):
    """A deliverable; one that was rejected is worked on again."""

    start = Move(
        DeliverableStatus.PLANNED, DeliverableStatus.REJECTED, to=DeliverableStatus.IN_PROGRESS
    )
    deliver = Move(
        DeliverableStatus.PLANNED, DeliverableStatus.IN_PROGRESS, to=DeliverableStatus.DELIVERED
    )
    accept = Move(DeliverableStatus.DELIVERED, to=DeliverableStatus.ACCEPTED)
    reject = Move(DeliverableStatus.DELIVERED, to=DeliverableStatus.REJECTED)
    remove = Move(
        DeliverableStatus.PLANNED,
        DeliverableStatus.IN_PROGRESS,
        to=DeliverableStatus.REMOVED,
        by=By.SYSTEM,
    )
