"""The lifecycle of an integration."""

from thenga.domains.administration.tables import IntegrationStatus
from thenga.kernel.declare.lifecycle import By, Lifecycle, Move


class IntegrationLifecycle(Lifecycle, initial=IntegrationStatus.PENDING):
    """Only an active integration is used; pausing it takes effect at the next call."""

    activate = Move(
        *(IntegrationStatus.PENDING, IntegrationStatus.PAUSED),
        to=IntegrationStatus.ACTIVE,
        by=By.STAFF,
    )
    pause = Move(IntegrationStatus.ACTIVE, to=IntegrationStatus.PAUSED, by=By.STAFF)


LIFECYCLES = (IntegrationLifecycle,)
