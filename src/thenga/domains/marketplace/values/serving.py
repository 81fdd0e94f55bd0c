"""Why others do not see a listing."""

from enum import StrEnum


class ServingReason(StrEnum):
    """Why a listing is not served."""

    NOT_PUBLISHED = "not_published"
    PRIVATE = "private"
    SUPPLIER_INACTIVE = "supplier_inactive"
    TRUST_BLOCKED = "trust_blocked"
