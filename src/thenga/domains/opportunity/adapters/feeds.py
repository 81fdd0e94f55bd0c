"""Feeds of tenders: `TenderFeed`, and the API of National Treasury's eTenders."""

from datetime import timedelta
from email.utils import parsedate_to_datetime
from typing import Protocol
from urllib.parse import urlencode, urlsplit

from thenga.domains.opportunity.values.feeds import (
    FeedAddress,
    FeedFailed,
    FeedPage,
    FeedTrouble,
    Window,
)
from thenga.kernel.outside.isolation import IsolationFailed, run_isolated
from thenga.kernel.outside.outbound import AddressRefused, Reply, Silence, guarded
from thenga.kernel.process.host import Host

_SECONDS = 30.0
_MOST_BYTES = 20 * 1024 * 1024
_MOST_DEPTH = 32
_PARSE_SECONDS = 60.0
_MOST_WAIT = timedelta(hours=24)
_READ_PACKAGE = "thenga.domains.opportunity.adapters.packages:read_package"


def agent(host: Host) -> str:
    """Who reads: a publisher finds the installation and its contact under the address."""
    return f"Thenga-TenderReader/1.0 (+{host.settings.base_url.rstrip('/')})"


class TenderFeed(Protocol):
    """A feed that is read by windows of days. It never retries; a failure is `FeedFailed`."""

    async def probe(self, feed: FeedAddress, window: Window) -> None:
        """Ask for one small page, to see that the address answers as a feed does."""

    async def page(self, feed: FeedAddress, window: Window, number: int) -> FeedPage:
        """One page of a window."""


class EtendersFeed:
    """`GET /api/OCDSReleases`: pages of release packages, one request at a time."""

    def __init__(self, host: Host) -> None:
        self._host = host

    async def probe(self, feed: FeedAddress, window: Window) -> None:
        await self.page(FeedAddress(feed.address, 1), window, 1)

    async def page(self, feed: FeedAddress, window: Window, number: int) -> FeedPage:
        query = {
            "PageNumber": number,
            "PageSize": feed.page_size,
            "dateFrom": window.first.isoformat(),
            "dateTo": window.last.isoformat(),
        }
        reply = await self._get(f"{feed.address}?{urlencode(query)}")
        self._check(reply)
        return await _parsed(reply.body)

    async def _get(self, url: str) -> Reply:
        headers = {"User-Agent": agent(self._host), "Accept": "application/json"}
        host = urlsplit(url).hostname or ""
        try:
            return await guarded(
                url, headers=headers, hosts=(host,), most_bytes=_MOST_BYTES, seconds=_SECONDS
            )
        except AddressRefused:
            raise FeedFailed(FeedTrouble.REFUSED) from None
        except Silence as silence:
            timed_out = str(silence) == "TimeoutError"
            trouble = FeedTrouble.TIMED_OUT if timed_out else FeedTrouble.UNAVAILABLE
            raise FeedFailed(trouble) from None

    def _check(self, reply: Reply) -> None:
        wait = self._retry_after(reply)
        if reply.status == 429:
            raise FeedFailed(FeedTrouble.RATE_LIMITED, wait)
        if reply.status >= 500:
            raise FeedFailed(FeedTrouble.UNAVAILABLE, wait)
        if reply.status != 200:
            raise FeedFailed(FeedTrouble.REFUSED)

    def _retry_after(self, reply: Reply) -> timedelta | None:
        """How long the feed asks us to wait, in seconds or until a date; a day at most."""
        said = reply.headers.get("retry-after", "").strip()
        if said.isdecimal() and len(said) < 10:
            return min(timedelta(seconds=int(said)), _MOST_WAIT)
        try:
            wait = parsedate_to_datetime(said) - self._host.now()
        except (TypeError, ValueError):
            return None
        return min(max(wait, timedelta(0)), _MOST_WAIT)


async def _parsed(content: bytes) -> FeedPage:
    """The page of an answer, cut in a child process: these bytes are a stranger's."""
    options = {"most_depth": _MOST_DEPTH}
    try:
        found = await run_isolated(_READ_PACKAGE, content, options, seconds=_PARSE_SECONDS)
    except IsolationFailed:
        raise FeedFailed(FeedTrouble.NOT_JSON) from None
    if (trouble := found.values["trouble"]) is not None:
        raise FeedFailed(FeedTrouble(trouble))
    records, at = [], 0
    for size in found.values["sizes"]:
        records.append(found.content[at : at + size])
        at += size
    return FeedPage(tuple(records), found.values["has_next"], found.content)


class Feeds:
    """Finds the feed of a kind of source."""

    def __init__(self, host: Host) -> None:
        self._host = host

    def of(self, kind: str) -> TenderFeed:
        """The feed of a fetched kind."""
        if kind != "etenders_ocds":
            raise LookupError(f"{kind} is not fetched")
        return EtendersFeed(self._host)
