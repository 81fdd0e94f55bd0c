"""Records of the recommendations that people were shown."""

from typing import Annotated
from uuid import UUID

from pydantic import Field

from thenga.domains.marketplace.permissions import Permission
from thenga.domains.marketplace.schemas.displays import DisplayId, RecordDisplay, Signals, Surface
from thenga.domains.marketplace.services import displays
from thenga.domains.marketplace.services.displays import SignalWithoutSource, SourceMissing
from thenga.domains.marketplace.tables.support import RecommendationDisplay
from thenga.domains.marketplace.values.displays import DisplayedItem
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.work import Work
from thenga.kernel.errors import RuleViolated
from thenga.kernel.http.bodies import Stored
from thenga.kernel.http.document.operations import PREFIX
from thenga.kernel.http.doors import router as make_router
from thenga.kernel.http.entrances import reads, writes
from thenga.kernel.http.reference import problems

router = make_router("Marketplace / Recommendation displays")


class RecommendationDisplayView(Stored):
    """What a person was shown, as it was recorded."""

    surface: Surface
    items: Annotated[list[DisplayedItem], Field(description="Items that were shown.")]
    signals: Signals
    shown_to: Annotated[
        UUID | None, Field(description="Person who was shown this. Null for a machine.")
    ]

    @property
    def own_path(self) -> str:
        return f"{PREFIX}/marketplace/recommendation-displays/{self.id}"


@router.post(
    "/marketplace/recommendation-displays",
    status_code=201,
    responses=problems(SourceMissing, SignalWithoutSource, RuleViolated),
)
async def record_recommendation_display(
    body: RecordDisplay,
    work: Annotated[Work, writes(Permission.RECOMMENDATION_DISPLAY_RECORD)],
) -> RecommendationDisplayView:
    """Record what a person was shown, with the source of each item and signal."""
    return RecommendationDisplayView.of(await displays.record_display(work, body))


@router.get("/marketplace/recommendation-displays/{displayId}")
async def get_recommendation_display(
    display_id: DisplayId,
    read: Annotated[Reader, reads(Permission.RECOMMENDATION_DISPLAY_READ)],
) -> RecommendationDisplayView:
    """Get a record of what a person was shown."""
    return RecommendationDisplayView.of(await read.get(RecommendationDisplay, display_id))
