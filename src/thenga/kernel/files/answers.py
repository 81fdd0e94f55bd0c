"""A file as an answer: always an attachment, never shown by a browser as a page of ours."""

import re
from base64 import b64encode
from typing import Any
from unicodedata import category, normalize
from urllib.parse import quote

from starlette.datastructures import Headers
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from thenga.kernel.errors import RangeNotSatisfiable
from thenga.kernel.files.store import FileStore, StoredFile

_RANGE = re.compile(r"bytes=([0-9]{0,18})-([0-9]{0,18})")
_LONGEST_NAME = 200
_UNSEEN = ("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp")  # also what turns the order of letters round
_OF_PATHS = '/\\:*?"<>|'

# What a route that answers with a file says of it in the API document.
_BYTES = {"*/*": {"schema": {"type": "string", "format": "binary"}}}
AS_ATTACHMENT: dict[int | str, dict[str, Any]] = {
    200: {"content": _BYTES},
    206: {"description": "The requested range of the file.", "content": _BYTES},
}


def attachment(store: FileStore, file: StoredFile, name: str) -> Response:
    """The bytes of a file under a name for people; `Range` is honoured.

    Who may read it, and that it is clean, was asked before (`contents.clean`).
    """
    return _Attachment(store, file, name)


class _Attachment(Response):
    """Streams from the store; the first byte is there before the head of the answer leaves."""

    def __init__(self, store: FileStore, file: StoredFile, name: str) -> None:
        digest = f"sha-256=:{b64encode(bytes.fromhex(file.sha256)).decode()}:"
        super().__init__(
            headers={
                "Content-Type": file.media_type,
                "Content-Length": str(file.size),
                "Content-Disposition": _disposition(name),
                "Content-Security-Policy": "sandbox",
                "Content-Digest": digest,
                "Repr-Digest": digest,
                "Accept-Ranges": "bytes",
                "Cache-Control": "no-store",
                "ETag": f'"{file.sha256}"',
            }
        )
        self._store = store
        self._file = file

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        first, last = self._asked(Headers(scope=scope))
        if (first, last) != (0, self._file.size - 1):
            self._become_partial(first, last)
        chunks = self._store.read(self._file.key, first=first, last=last)
        chunk = await anext(chunks, b"")  # before anything is sent: the store may be away
        scope["thenga"].answers_long = True
        head = {"status": self.status_code, "headers": self.raw_headers}
        await send({"type": "http.response.start", **head})
        await send({"type": "http.response.body", "body": chunk, "more_body": True})
        async for chunk in chunks:
            await send({"type": "http.response.body", "body": chunk, "more_body": True})
        await send({"type": "http.response.body", "body": b""})

    def _asked(self, headers: Headers) -> tuple[int, int]:
        """The first and the last byte; a range of an unknown form is the whole (RFC 9110)."""
        size = self._file.size
        found = _RANGE.fullmatch(headers.get("range", ""))
        changed = headers.get("if-range", self.headers["etag"]) != self.headers["etag"]
        if found is None or found.group(0) == "bytes=-" or changed:
            return 0, size - 1
        begin, end = found.groups()
        first = int(begin) if begin else max(size - int(end), 0)
        last = min(int(end), size - 1) if begin and end else size - 1
        if begin and end and int(end) < first:
            return 0, size - 1
        if first >= size:
            raise RangeNotSatisfiable(headers={"Content-Range": f"bytes */{size}"})
        return first, last

    def _become_partial(self, first: int, last: int) -> None:
        self.status_code = 206
        self.headers["Content-Range"] = f"bytes {first}-{last}/{self._file.size}"
        self.headers["Content-Length"] = str(last - first + 1)
        del self.headers["Content-Digest"]  # that of the whole stays, as Repr-Digest


def _disposition(name: str) -> str:
    """RFC 6266: the name in UTF-8, and one of plain letters for who cannot read that."""
    seen = "".join(c for c in normalize("NFC", name) if category(c) not in _UNSEEN)
    safe = "".join("_" if c in _OF_PATHS else c for c in seen).strip(" .")[:_LONGEST_NAME] or "file"
    plain = "".join(c if c.isascii() and c != "%" else "_" for c in safe)
    return f"attachment; filename=\"{plain}\"; filename*=UTF-8''{quote(safe, safe='')}"
