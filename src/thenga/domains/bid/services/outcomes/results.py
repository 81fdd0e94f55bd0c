"""Which results there are, what each needs, and what recording one means (BID-51), as values."""

from collections.abc import Mapping
from typing import Any, get_args

from thenga.domains.bid.public import LossReason
from thenga.domains.bid.tables import OutcomeStatus
from thenga.kernel.errors import Problem, extensions

REASON_CODES: tuple[str, ...] = get_args(LossReason)
_OF_AWARD = {
    "award_reference": "awardReference",
    "awarded_minor": "awardedValue",
    "decided_on": "decidedOn",
}


class BidAwardIncomplete(Problem):
    """Send the fields in `missing`. Only a contract won outside the platform needs a file."""

    code, status, title = "bid-award-incomplete", 422, "The award is incomplete"
    members = extensions(missing=(list[str], "Missing fields."))


class BidReasonsRequired(Problem):
    """Send at least one reason code. If the buyer gave none, use `no_feedback`."""

    code, status, title = "bid-reasons-required", 422, "A reason is required"
    members = extensions(allowed=(list[str], "Allowed reason codes."))


def check_result(result: OutcomeStatus, fields: Mapping[str, Any], *, is_outside: bool) -> None:
    """Refuse a result that lacks what it needs."""
    if result is OutcomeStatus.WON:
        missing = [shown for name, shown in _OF_AWARD.items() if fields[name] is None]
        if is_outside and not fields["file_ids"]:
            missing.append("fileIds")
        if missing:
            raise BidAwardIncomplete(missing=missing)
    if result in (OutcomeStatus.LOST, OutcomeStatus.DISQUALIFIED) and not fields["reasons"]:
        raise BidReasonsRequired(allowed=[*REASON_CODES])


def contradiction(outcome: Mapping[str, Any]) -> str | None:
    """What the recorded outcome and the published award say differently."""
    hint = outcome["hint"]
    if hint is None or outcome["status"] is not OutcomeStatus.WON:
        return None
    published = [one["value"] for one in hint.get("awards", []) if one.get("value") is not None]
    if not published or outcome["awarded_minor"] is None:
        return None
    ours = f"{outcome['awarded_currency']} {outcome['awarded_minor']}"
    return None if ours in published else "awarded_value"
