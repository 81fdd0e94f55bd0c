"""The file store: objects in a folder or in an S3 bucket, each written once and never changed.

A key is an area that the code names and a random number; no name from outside is ever part of it.
An object is there when its last byte is: a writer that fails or dies leaves nothing to read
(docs/decisions/0027).
"""

import asyncio
import os
import re
from collections.abc import AsyncIterator, Collection, Iterator
from contextlib import contextmanager, suppress
from datetime import timedelta
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple
from uuid import uuid4

import structlog

from thenga.kernel.errors import DependencyUnavailable, TooLarge, UnsupportedMediaType
from thenga.kernel.process.settings import Settings

if TYPE_CHECKING:
    from obstore import AsyncWritableFile, GetOptions
    from obstore.store import LocalStore, S3Config, S3Store

log = structlog.get_logger()

HEAD_BYTES = 8 * 1024  # what the type of a file is told from
CHUNK_BYTES = 64 * 1024
PDF = "application/pdf"
_UNKNOWN = "application/octet-stream"
_PART_BYTES = 5 * 1024 * 1024  # the smallest part of S3; a shorter file is one request
_PARTS_AT_ONCE = 2
_ON_S3 = "s3://"
_AREA = re.compile(r"[a-z][a-z_]*(/[a-z0-9_-]+)*")
_KEY = re.compile(rf"{_AREA.pattern}/[0-9a-f]{{32}}")


class StoredFile(NamedTuple):
    """One object: where it is, and what was counted, hashed and seen while it was written."""

    key: str
    sha256: str  # in hex
    size: int
    media_type: str


class FileStore:
    """`host.files`; opened when it is first needed, so a process without files pays nothing."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._opened: LocalStore | S3Store | None = None

    @property
    def place(self) -> str:
        """Where the files are, for an operator."""
        return self._settings.files or "nowhere"

    async def put(
        self,
        area: str,
        chunks: AsyncIterator[bytes],
        *,
        most_bytes: int,
        media_types: Collection[str] | None = None,
    ) -> StoredFile:
        """Keep a stream under a new key; one byte too many, or another type, and nothing is kept.

        The type is what the first bytes say, whatever the sender calls it.
        """
        key = f"{_checked(_AREA, area)}/{uuid4().hex}"
        size, digest, head, media_type = 0, sha256(), b"", ""
        writer = self._writer(key)
        try:
            async for chunk in chunks:
                size += len(chunk)
                if size > most_bytes:
                    raise _too_large(most_bytes)
                digest.update(chunk)
                head += chunk[: HEAD_BYTES - len(head)]
                if not media_type and len(head) == HEAD_BYTES:
                    media_type = await _accepted(head, media_types)
                with _reachable(key):
                    await writer.write(chunk)
            media_type = media_type or await _accepted(head, media_types)
            with _reachable(key):
                await self._finish(writer, key)
        finally:
            del writer  # one that was not closed leaves no object
        return StoredFile(key, digest.hexdigest(), size, media_type)

    async def read(
        self, key: str, *, first: int = 0, last: int | None = None
    ) -> AsyncIterator[bytes]:
        """The bytes of an object from the first to the last one named, in chunks."""
        import obstore

        with _reachable(key):
            found = await obstore.get_async(
                self._store(), _checked(_KEY, key), options=_range(first, last)
            )
            chunks = aiter(found.stream(min_chunk_size=CHUNK_BYTES))
        while True:
            with _reachable(key):
                chunk = await anext(chunks, None)
            if chunk is None:
                return
            yield bytes(chunk)

    async def copy(self, key: str, area: str) -> str:
        """The same object in another area, under the same number; done twice it is done once."""
        import obstore

        name = _checked(_KEY, key).rpartition("/")[2]
        target = f"{_checked(_AREA, area)}/{name}"
        with suppress(obstore.exceptions.AlreadyExistsError), _reachable(key):
            await obstore.copy_async(self._store(), key, target, overwrite=False)
        await self._sync(target)
        return target

    async def delete(self, key: str) -> None:
        """Forget an object; one that is gone already is gone."""
        import obstore

        with suppress(FileLost), _reachable(key):
            await obstore.delete_async(self._store(), _checked(_KEY, key))

    async def clear(self, area: str) -> None:
        """Forget every object of an area, also those that no row knows of."""
        import obstore

        with _reachable(area):
            async for batch in obstore.list(self._store(), prefix=_checked(_AREA, area)):
                await obstore.delete_async(self._store(), [one["path"] for one in batch])

    def _writer(self, key: str) -> "AsyncWritableFile":
        import obstore

        return obstore.open_writer_async(
            self._store(), key, buffer_size=_PART_BYTES, max_concurrency=_PARTS_AT_ONCE
        )

    async def _finish(self, writer: "AsyncWritableFile", key: str) -> None:
        """Only here an object comes to be."""
        await writer.close()
        await self._sync(key)

    async def _sync(self, key: str) -> None:
        """A bucket has what it acknowledged; a folder is told to keep it."""
        if not self._settings.files.startswith(_ON_S3):
            await asyncio.to_thread(_sync_file, _folder(self._settings.files) / key)

    def _store(self) -> "LocalStore | S3Store":
        if self._opened is None:
            self._opened = _open(self._settings)
        return self._opened


class FileLost(LookupError):
    """A row names an object that the store does not have."""


def _open(settings: Settings) -> "LocalStore | S3Store":
    # Half of what a process imports at its start otherwise; most never touch a file.
    from obstore.store import LocalStore, S3Store

    if not settings.files:
        raise RuntimeError("THENGA_FILES is not set: name a folder, or s3://bucket")
    if not settings.files.startswith(_ON_S3):
        return LocalStore(_folder(settings.files), mkdir=True, automatic_cleanup=True)
    bucket, _, prefix = settings.files.removeprefix(_ON_S3).partition("/")
    login: S3Config = {}
    if access_key := settings.files_access_key.get_secret_value():
        login["access_key_id"] = access_key
        login["secret_access_key"] = settings.files_secret_key.get_secret_value()
    if settings.files_endpoint:
        login["endpoint"] = settings.files_endpoint
    return S3Store(
        bucket,
        prefix=prefix or None,
        config=login,
        region=settings.files_region,
        virtual_hosted_style_request=not settings.files_endpoint,
        copy_if_not_exists="multipart",
        client_options={
            "allow_http": settings.files_endpoint.startswith("http://"),
            "connect_timeout": timedelta(seconds=3),
            "timeout": timedelta(seconds=30),
        },
        retry_config={"max_retries": 2, "retry_timeout": timedelta(seconds=10)},
    )


def _range(first: int, last: int | None) -> "GetOptions":
    if last is not None:
        return {"range": (first, last + 1)}
    return {"range": {"offset": first}} if first else {}  # an empty object has no range


def _folder(files: str) -> Path:
    return Path(files).absolute()


def _sync_file(path: Path) -> None:
    for one, flags in ((path, os.O_RDONLY), (path.parent, os.O_RDONLY | os.O_DIRECTORY)):
        handle = os.open(one, flags)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


async def _accepted(head: bytes, media_types: Collection[str] | None) -> str:
    """The type of a file, or 415 where it is none of those that are taken here."""
    found = await asyncio.to_thread(media_type_of, head)
    if media_types is not None and found not in media_types:
        raise UnsupportedMediaType(
            f"This file is {found}. Send one of: {', '.join(sorted(media_types))}.",
            found=found,
            allowed=sorted(media_types),
        )
    return found


def media_type_of(head: bytes) -> str:
    """What libmagic takes the first bytes for; a PDF is one from its very first byte."""
    import magic  # looks for its library at import, which takes a tenth of a second

    found: str = magic.from_buffer(head, mime=True)
    return _UNKNOWN if found == PDF and not head.startswith(b"%PDF-") else found


def _checked(form: re.Pattern[str], text: str) -> str:
    if form.fullmatch(text) is None:
        raise ValueError(f"{text!r} is no name in the file store")
    return text


def _too_large(most_bytes: int) -> TooLarge:
    return TooLarge(f"The file can have at most {most_bytes} bytes.", limitBytes=most_bytes)


@contextmanager
def _reachable(key: str) -> Iterator[None]:
    """What goes wrong between us and the store is the store's; the caller may try again."""
    try:
        yield
    except FileNotFoundError:
        raise FileLost(key) from None
    except _faults() as error:
        # Its text may repeat the address.
        log.warning("files.store.unreachable", kind=type(error).__name__)
        told = "The file store is not responding. Try again shortly."
        raise DependencyUnavailable(told, dependency="files") from error


def _faults() -> tuple[type[Exception], ...]:
    from obstore.exceptions import AlreadyExistsError, BaseError

    others = [kind for kind in BaseError.__subclasses__() if kind is not AlreadyExistsError]
    return (OSError, *others)
