"""The bytes of records as they were received: pages in the file store, compressed (OPP-5)."""

import gzip
from collections.abc import AsyncIterator, Sequence
from uuid import UUID

from thenga.domains.opportunity.tables import SourceRecord
from thenga.kernel.files.store import FileStore

_MOST_BYTES = 40 * 1024 * 1024


async def keep_page(files: FileStore, organization_id: UUID, records: Sequence[bytes]) -> str:
    """Store the records of a page one after another; the key of the object."""
    packed = gzip.compress(b"".join(records), mtime=0)

    async def chunks() -> AsyncIterator[bytes]:
        yield packed

    area = f"opportunity/raw/{organization_id}"
    return (await files.put(area, chunks(), most_bytes=_MOST_BYTES)).key


async def raw_bytes(files: FileStore, record: SourceRecord) -> bytes:
    """A record as its source sent it."""
    if record.object_key is None:
        raise LookupError(f"{record!r} has no bytes")
    packed = b"".join([chunk async for chunk in files.read(record.object_key)])
    whole = gzip.decompress(packed)
    return whole[record.raw_first : record.raw_first + record.raw_size]
