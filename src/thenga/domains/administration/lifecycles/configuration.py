"""The lifecycle of a version of a setting."""

from thenga.domains.administration.tables import ConfigurationStatus
from thenga.kernel.declare.lifecycle import By, Lifecycle, Move


class ConfigurationLifecycle(
    Lifecycle, initial=(ConfigurationStatus.PENDING_APPROVAL, ConfigurationStatus.APPROVED)
):
    """A version is approved or rejected once; a correction is a new version."""

    approve = Move(
        ConfigurationStatus.PENDING_APPROVAL,
        to=ConfigurationStatus.APPROVED,
        by=By.STAFF,
    )
    reject = Move(
        ConfigurationStatus.PENDING_APPROVAL,
        to=ConfigurationStatus.REJECTED,
        by=By.STAFF,
    )


LIFECYCLES = (ConfigurationLifecycle,)
