"""Actions: the record of what staff did, one row for each call, in its transaction (ADM-2).

How a service uses it:

1. Staff-only bodies derive from `schemas.reasons.Reasoned`. Bodies that customers send too have
   `reason: OptionalReason = None`; without one `record` refuses staff with 422.
2. `before = actions.shown(row)` after the lock; then move and save as usual.
3. `await actions.record(work, row, reason=reason, before=before)`; a new row has no `before`. If
   the permission is not held as staff, it records nothing, so services call it in every case.

A sensitive read calls `await actions.record_read(read, "tenant", organization_id, ...)`; its
reason is the header `X-Admin-Reason` (`reads(..., reason=True)`). What concerns the platform as a
whole, and no customer, begins with `await actions.act_for_platform(work)`.
"""

from thenga.domains.administration.services.actions.differences import Differences, differences
from thenga.domains.administration.services.actions.queries import list_actions
from thenga.domains.administration.services.actions.recording import (
    ReasonRequired,
    act_for_platform,
    actor_of,
    is_staff,
    record,
    record_read,
    shown,
)

__all__ = [
    "Differences",
    "ReasonRequired",
    "act_for_platform",
    "actor_of",
    "differences",
    "is_staff",
    "list_actions",
    "record",
    "record_read",
    "shown",
]
