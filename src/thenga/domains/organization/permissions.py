"""What one may do in Organization; roles that hold these are Identity's data."""

from enum import StrEnum

from thenga.kernel.manifest import Audience, Granted

PERSON, TENANT = (Audience.PERSON,), (Audience.TENANT,)

_READERS = (
    "bid_manager",
    "contributor",
    "approver",
    "compliance_officer",
    "finance_manager",
    "viewer",
)
_KEEPERS = ("bid_manager", "contributor", "compliance_officer")


class Permission(StrEnum):
    """Permissions of Organization."""

    ORGANIZATION_CREATE = "organization:organization:create"
    ORGANIZATION_READ = "organization:organization:read"
    PROFILE_UPDATE = "organization:profile:update"
    CLOCK_MOVE = "organization:clock:move"
    EQUIPMENT_READ = "organization:equipment:read"
    EQUIPMENT_CREATE = "organization:equipment:create"
    EQUIPMENT_UPDATE = "organization:equipment:update"
    EQUIPMENT_ARCHIVE = "organization:equipment:archive"


P = Permission

GRANTED = (
    Granted(P.ORGANIZATION_CREATE, "Found an organization", PERSON),
    Granted(P.ORGANIZATION_READ, "Read the organization", TENANT, _READERS, while_suspended=True),
    Granted(P.PROFILE_UPDATE, "State facts of the profile", TENANT, _KEEPERS),
    Granted(P.CLOCK_MOVE, "Move the clock of a sandbox", TENANT),
    Granted(P.EQUIPMENT_READ, "Read the equipment", TENANT, _READERS, while_suspended=True),
    Granted(P.EQUIPMENT_CREATE, "Add equipment", TENANT, _KEEPERS),
    Granted(P.EQUIPMENT_UPDATE, "Change and move equipment", TENANT, _KEEPERS),
    Granted(P.EQUIPMENT_ARCHIVE, "Archive equipment", TENANT, _KEEPERS),
)
