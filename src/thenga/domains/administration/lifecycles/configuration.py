"""The lifecycle of a version of a setting."""

from datetime import datetime

from thenga.domains.administration.tables import ConfigurationStatus, ConfigurationVersion
from thenga.kernel.declare.lifecycle import By, Lifecycle, Move
from thenga.kernel.errors import SamePerson


def decided_by_another(row: ConfigurationVersion, at: datetime) -> None:
    """The person who decides is not the author (ADM-5)."""
    if row.decided_by == row.created_by:
        raise SamePerson("You created this version. Ask another person to approve or reject it.")


class ConfigurationLifecycle(
    Lifecycle, initial=(ConfigurationStatus.PENDING_APPROVAL, ConfigurationStatus.APPROVED)
):
    """A version is approved or rejected once; a correction is a new version."""

    approve = Move(
        ConfigurationStatus.PENDING_APPROVAL,
        to=ConfigurationStatus.APPROVED,
        guard=decided_by_another,
        by=By.STAFF,
    )
    reject = Move(
        ConfigurationStatus.PENDING_APPROVAL,
        to=ConfigurationStatus.REJECTED,
        guard=decided_by_another,
        by=By.STAFF,
    )


LIFECYCLES = (ConfigurationLifecycle,)
