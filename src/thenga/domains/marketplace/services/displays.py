"""Records of what people were shown."""

from collections.abc import Sequence

from thenga.domains.marketplace import public
from thenga.domains.marketplace.schemas.displays import RecordDisplay
from thenga.domains.marketplace.tables.support import RecommendationDisplay
from thenga.domains.marketplace.values.displays import DisplayedItem
from thenga.kernel.db.work import Work
from thenga.kernel.errors import ERRORS, FieldError, Problem, RuleViolated, extensions


class SourceMissing(Problem):
    """A recommendation is recorded with its source. Say in `sourceRef` what recommended it."""

    code, status, title = "marketplace-source-missing", 422, "An item has no source"
    members = extensions(errors=ERRORS)


class SignalWithoutSource(Problem):
    """A signal from outside is recorded with its source. Say in `source` who states it."""

    code, status, title = "marketplace-signal-without-source", 422, "A signal has no source"
    members = extensions(errors=ERRORS)


async def record_display(work: Work, given: RecordDisplay) -> RecommendationDisplay:
    """Record items and signals, each with its source (MKT-34)."""
    if missing := _without([item.source_ref for item in given.items], "/items/{}/sourceRef"):
        raise SourceMissing(errors=missing)
    if missing := _without([signal.source for signal in given.signals], "/signals/{}/source"):
        raise SignalWithoutSource(errors=missing)
    for index, item in enumerate(given.items):
        if (item.listing_id is None) == (item.product_ref is None):
            raise RuleViolated(
                "Send either `listingId` or `productRef`.",
                rule="MKT-34",
                field=f"/items/{index}",
            )
    items = [DisplayedItem.model_validate(item.__dict__) for item in given.items]
    display = await work.add(
        RecommendationDisplay.of(
            given,
            organization_id=work.organization_id,
            items=items,
            shown_to=work.actor.person_id,
        )
    )
    work.publish(public.RecommendationDisplayed.of(display, display_id=display.id))
    return display


def _without(sources: Sequence[object | None], pointer: str) -> list[FieldError]:
    return [
        FieldError(pointer=pointer.format(index), code="missing", detail="Name the source.")
        for index, source in enumerate(sources)
        if source is None
    ]
