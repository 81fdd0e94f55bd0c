"""`thenga dev sample`: hands the sample tenders to the intake and waits until they are found."""

import asyncio
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta
from time import monotonic

from thenga.domains.opportunity.services.sources import (
    RunInProgress,
    SampleState,
    state_of_sample,
    upload_sample,
)
from thenga.kernel.process.host import Host
from thenga.kernel.values.calendar import local_day
from thenga.tooling.dev.sample_tenders import sample_releases

_LOOKS = 0.5  # seconds between two looks
BEGINS_WITHIN = timedelta(minutes=2)
ENDS_WITHIN = timedelta(minutes=20)


@dataclass(frozen=True)
class Result:
    """What became of the sample, as one line."""

    line: str
    is_loaded: bool


async def load_sample(
    host: Host,
    *,
    begins_within: timedelta = BEGINS_WITHIN,
    ends_within: timedelta = ENDS_WITHIN,
) -> Result:
    """Load the sample, or wait for the run that loads it already."""
    with suppress(RunInProgress):  # the same releases are being applied
        await upload_sample(host, sample_releases(local_day(host.now())))
    began = monotonic()
    while (state := await state_of_sample(host)).is_unfinished:
        limit = begins_within if state.status == "queued" else ends_within
        if monotonic() - began > limit.total_seconds():
            break
        await asyncio.sleep(_LOOKS)
    return _result(state)


def _result(state: SampleState) -> Result:
    match state.status:
        case "queued":
            return Result("The sample waits for a worker. Start `thenga worker`.", False)
        case "running":
            return Result("The sample is still being applied. Run this again to wait.", False)
        case "failed" | "cancelled":
            reason = state.error_code or state.status
            return Result(f"The sample was not applied: {reason}. See the worker's log.", False)
    return Result(f"{state.tenders} sample tenders can be searched", True)
