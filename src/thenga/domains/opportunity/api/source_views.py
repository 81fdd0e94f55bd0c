"""Views of sources and runs."""

from datetime import datetime, timedelta
from typing import Annotated, Any
from uuid import UUID

from pydantic import Field

from thenga.domains.opportunity.lifecycles import SourceLifecycle
from thenga.domains.opportunity.public.sources import Health
from thenga.domains.opportunity.services import sources
from thenga.domains.opportunity.tables import Run, RunStatus, Source, SourceStatus
from thenga.kernel.db.reader import Reader
from thenga.kernel.declare.lifecycle import AllowedMove
from thenga.kernel.http.bodies import Progress, Stored, View
from thenga.kernel.http.document.operations import PREFIX


class RunCountsView(View):
    """Number of records of a run by result."""

    seen: Annotated[int, Field(description="Records received, repeats included.")]
    distinct: Annotated[int, Field(description="Distinct tenders among them.")]
    created: Annotated[int, Field(description="New tenders.")]
    amended: Annotated[int, Field(description="Tenders that changed.")]
    unchanged: Annotated[int, Field(description="Tenders that did not change.")]
    repaired: Annotated[int, Field(description="New or changed records with repaired fields.")]
    rejected: Annotated[int, Field(description="Records that could not be read or applied.")]
    conflicts: Annotated[
        int, Field(description="Records whose ocid belongs to a tender of another organization.")
    ] = 0


class RejectView(View):
    """A record that was not applied."""

    source_key: Annotated[str | None, Field(description="Key of the record, such as its ocid.")]
    pointer: Annotated[str, Field(description="JSON pointer to the value at fault.")]
    code: Annotated[str, Field(description="Why it was not applied.")]


class SourceRunView(Stored):
    """A run over a source."""

    mode: Annotated[str, Field(description="Mode of the run.")]
    status: RunStatus
    progress: Progress
    pages: Annotated[int, Field(description="Pages applied.")]
    requests: Annotated[int, Field(description="Requests made to the feed.")]
    counts: RunCountsView
    rejects: Annotated[
        list[RejectView], Field(description="The first 100 records that were not applied.")
    ]
    error_code: Annotated[str | None, Field(description="Why the run failed.")]
    started_at: datetime | None
    finished_at: datetime | None

    @classmethod
    def of(cls, run: Run) -> "SourceRunView":
        left = len(run.cursor["windows"]) if run.cursor is not None else None
        progress = {
            "done": run.pages,
            "total": None if left is None else run.pages + left,
            "note": None,
        }
        values = run.__dict__ | {"progress": progress}
        return cls.model_validate({name: values[name] for name in cls.model_fields})


class FreshnessView(View):
    """Freshness of a source."""

    last_run_at: datetime | None
    last_success_at: Annotated[
        datetime | None, Field(description="When a run last read everything it requested.")
    ]
    last_new_record_at: Annotated[
        datetime | None, Field(description="When a new tender was last found.")
    ]
    lag_seconds: Annotated[
        int | None, Field(description="Seconds since the last success. Null if there was none.")
    ]


class SettingsOfSourceView(View):
    """Settings for reading a feed."""

    page_size: Annotated[int, Field(description="Releases per page.")]
    window_days: Annotated[int, Field(description="Days per window.")]
    trail_days: Annotated[int, Field(description="Days to read again every night.")]


class TenderSourceView(Stored):
    """A source of tenders."""

    organization_id: Annotated[UUID, Field(description="Organization that manages the source.")]
    name: str
    kind: Annotated[str, Field(description="Kind of source.")]
    address: Annotated[str | None, Field(description="Address of the feed.")]
    settings: SettingsOfSourceView
    time_zone: str
    clock_fault: Annotated[str, Field(description="Known fault of the feed's times.")]
    clock_fault_until: datetime | None
    cadence: Annotated[str, Field(description="Time between two polls.")]
    document_hosts: Annotated[
        list[str], Field(description="Hosts from which documents are fetched.")
    ]
    rank: Annotated[int, Field(description="The higher rank counts where two sources disagree.")]
    licence: str
    attribution: str
    visibility: str
    status: SourceStatus
    status_reason: str | None
    health: Annotated[Health, Field(description="Health of the feed, independent of `status`.")]
    health_reason: Annotated[str | None, Field(description="Why the source is not healthy.")]
    freshness: FreshnessView
    current_run: Annotated[
        SourceRunView | None,
        Field(description="Run in progress. Shown only if you manage the source."),
    ]
    recent_runs: Annotated[
        list[SourceRunView],
        Field(description="The last ten runs. Shown only if you manage the source, not in lists."),
    ]
    next_check_at: Annotated[datetime | None, Field(description="When it is next polled.")]
    allowed_moves: list[AllowedMove]

    @property
    def own_path(self) -> str:
        return f"{PREFIX}/opportunity/sources/{self.id}"

    @classmethod
    async def read_of(cls, read: Reader, source: Source) -> "TenderSourceView":
        """A source with its runs."""
        found, current = await sources.current_state(read, source)
        return cls._made(read, source, found, current)

    @classmethod
    def listed(cls, read: Reader, source: Source) -> "TenderSourceView":
        """A source in a list, without its runs."""
        return cls._made(read, source, [], None)

    @classmethod
    def _made(
        cls, read: Reader, source: Source, found: list[Run], current: Run | None
    ) -> "TenderSourceView":
        health, reason = sources.health_at(source, read.now)
        values: dict[str, Any] = source.__dict__ | {
            "cadence": _written(timedelta(seconds=source.cadence_seconds)),
            "health": health,
            "health_reason": reason,
            "freshness": _freshness(source, read.now),
            "current_run": None if current is None else SourceRunView.of(current),
            "recent_runs": [SourceRunView.of(run) for run in found],
            "allowed_moves": SourceLifecycle.allowed(source, read.now),
        }
        return cls.model_validate({name: values[name] for name in cls.model_fields})


def _freshness(source: Source, now: datetime) -> dict[str, Any]:
    last = source.last_success_at
    lag = None if last is None else max(0, int((now - last).total_seconds()))
    return {
        "last_run_at": source.last_run_at,
        "last_success_at": last,
        "last_new_record_at": source.last_new_record_at,
        "lag_seconds": lag,
    }


def _written(length: timedelta) -> str:
    minutes = length // timedelta(minutes=1)
    if minutes % (24 * 60) == 0:
        return f"P{minutes // (24 * 60)}D"
    return f"PT{minutes // 60}H" if minutes % 60 == 0 else f"PT{minutes}M"
