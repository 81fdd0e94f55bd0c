"""What a moderator decided about a listing, as its provider reads it."""

from enum import StrEnum
from typing import Annotated

from pydantic import Field

from thenga.kernel.values.fields import Count, Instant, Note
from thenga.kernel.values.shapes import Shape


class DecisionKind(StrEnum):
    """What a moderator decided."""

    PUBLISH = "publish"
    REQUEST_CHANGES = "request_changes"
    REJECT = "reject"
    CONFIRM = "confirm"
    DECLINE = "decline"
    SUSPEND = "suspend"
    REINSTATE = "reinstate"


class ReasonCode(StrEnum):
    """Why a moderator decided so; `in_order` stands alone, in favor of the listing."""

    IN_ORDER = "in_order"
    MISLEADING = "misleading"
    WRONG_CATEGORY = "wrong_category"
    CONTACT_IN_TEXT = "contact_in_text"
    CLAIM_WITHOUT_SOURCE = "claim_without_source"
    DUPLICATE = "duplicate"
    PROHIBITED = "prohibited"
    UNREADABLE = "unreadable"
    RIGHTS = "rights"


ReasonCodes = Annotated[list[ReasonCode], Field(min_length=1, max_length=9, description="Reasons.")]


class Decision(Shape):
    """A decision of a moderator, with its reasons."""

    decision: Annotated[DecisionKind, Field(description="What was decided.")]
    version_number: Annotated[Count, Field(description="Version that it is about.")]
    reason_codes: ReasonCodes
    text: Annotated[Note | None, Field(description="Explanation.")] = None
    at: Annotated[Instant, Field(description="When it was decided.")]
