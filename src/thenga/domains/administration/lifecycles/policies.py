"""The lifecycle of a policy."""

from thenga.domains.administration.tables import PolicyStatus
from thenga.kernel.declare.lifecycle import By, Lifecycle, Move


class PolicyLifecycle(Lifecycle, initial=PolicyStatus.SUBMITTED):
    """Published and enforced are two facts: the target domain acknowledges what it applied."""

    IN_FLIGHT = (PolicyStatus.SUBMITTED, PolicyStatus.APPROVED)

    approve = Move(PolicyStatus.SUBMITTED, to=PolicyStatus.APPROVED, by=By.STAFF)
    reject = Move(PolicyStatus.SUBMITTED, to=PolicyStatus.REJECTED, by=By.STAFF)
    withdraw = Move(
        PolicyStatus.SUBMITTED, PolicyStatus.APPROVED, to=PolicyStatus.WITHDRAWN, by=By.STAFF
    )
    publish = Move(PolicyStatus.APPROVED, to=PolicyStatus.PUBLISHED, by=By.SYSTEM)
    acknowledge = Move(PolicyStatus.PUBLISHED, to=PolicyStatus.ACKNOWLEDGED, by=By.SYSTEM)
    refuse = Move(PolicyStatus.PUBLISHED, to=PolicyStatus.REFUSED, by=By.SYSTEM)
    take_effect = Move(PolicyStatus.ACKNOWLEDGED, to=PolicyStatus.EFFECTIVE, by=By.SYSTEM)
    supersede = Move(
        *(PolicyStatus.PUBLISHED, PolicyStatus.ACKNOWLEDGED, PolicyStatus.EFFECTIVE),
        to=PolicyStatus.SUPERSEDED,
        by=By.SYSTEM,
    )


LIFECYCLES = (PolicyLifecycle,)
