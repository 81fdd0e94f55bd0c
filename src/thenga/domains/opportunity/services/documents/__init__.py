"""Documents of tenders: fetched or uploaded, scanned, read and found (OPP-21 to 23)."""

from thenga.domains.opportunity.services.documents.documents import (
    MEDIA_TYPES,
    MOST_BYTES,
    DocumentAddressRefused,
    DocumentUnavailable,
    add,
    allowed_hosts,
    find_page,
    get,
    page_text,
    process_document,
    readable,
    receive,
    record_file,
    record_miss,
    record_scan,
    scan_state,
    waits_for_fetch,
)
from thenga.domains.opportunity.services.documents.pages import drop_old, keep_text
from thenga.domains.opportunity.services.documents.reading import ReadText, text_of

__all__ = [
    "MEDIA_TYPES",
    "MOST_BYTES",
    "DocumentAddressRefused",
    "DocumentUnavailable",
    "ReadText",
    "add",
    "allowed_hosts",
    "drop_old",
    "find_page",
    "get",
    "keep_text",
    "page_text",
    "process_document",
    "readable",
    "receive",
    "record_file",
    "record_miss",
    "record_scan",
    "scan_state",
    "text_of",
    "waits_for_fetch",
]
