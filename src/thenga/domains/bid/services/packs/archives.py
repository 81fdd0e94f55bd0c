"""The archive of an envelope and its manifest: same input, same bytes (BID-44, BID-45)."""

import re
import unicodedata
import zipfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from hashlib import sha256
from typing import Any, BinaryIO

import rfc8785

from thenga.kernel.values.json_writer import to_json

MANIFEST = "manifest.json"
_FIRST_DAY = (1980, 1, 1, 0, 0, 0)  # the first that ZIP knows: wall-clock times would differ
_UNIX_FILE = 0o644 << 16
_SLUG = re.compile(r"[A-Za-z0-9]+")


@dataclass(frozen=True, slots=True)
class Entry:
    """One file of an envelope."""

    path: str
    sha256: str
    size: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Frame:
    """What a manifest says beside its files. Renderers and waivers stand there where there are."""

    pack_id: str
    amendment_number: int
    as_of: datetime
    overrides: Sequence[Mapping[str, Any]] = ()
    renderers: Sequence[str] = ()
    waivers: Sequence[str] = ()


def manifest(envelope: str, entries: Iterable[Entry], frame: Frame) -> bytes:
    """The manifest of an envelope in canonical JSON (RFC 8785)."""
    told: dict[str, Any] = {
        "amendmentNumber": frame.amendment_number,
        "asOf": to_json(frame.as_of).decode().strip('"'),
        "envelope": envelope,
        "files": [
            {"bytes": one.size, "path": one.path, "sha256": one.sha256}
            for one in sorted(entries, key=lambda one: one.path)
        ],
        "overrides": [dict(one) for one in frame.overrides],
        "packId": frame.pack_id,
    }
    if frame.renderers:
        told["renderers"] = sorted(set(frame.renderers))
    if frame.waivers:
        told["waivers"] = sorted(frame.waivers)
    return rfc8785.dumps(told)


def pack_hash(manifests: Mapping[str, bytes]) -> str:
    """The hash of a pack: of its one manifest, or over the hashes of both envelopes."""
    hashes = {name: sha256(content).hexdigest() for name, content in manifests.items()}
    if len(hashes) == 1:
        return next(iter(hashes.values()))
    told: dict[str, Any] = dict(hashes)
    return sha256(rfc8785.dumps(told)).hexdigest()


def write_archive(target: BinaryIO, files: Mapping[str, bytes], told: bytes) -> None:
    """Files stored as they are, in the order of their names, and the manifest."""
    with zipfile.ZipFile(target, "w", zipfile.ZIP_STORED) as archive:
        for path, content in sorted({**files, MANIFEST: told}.items()):
            entry = zipfile.ZipInfo(path, _FIRST_DAY)
            entry.create_system = 3
            entry.external_attr = _UNIX_FILE
            archive.writestr(entry, content)


def path_of(number: int, count: int, title: str, media_type: str) -> str:
    """A plain name for a file: its place, its title in ASCII, and the ending of its type."""
    plain = unicodedata.normalize("NFKD", title).encode("ascii", "ignore").decode()
    slug = "-".join(_SLUG.findall(plain))[:60] or "file"
    return f"{number:0{max(2, len(str(count)))}d}-{slug}.{_ENDINGS.get(media_type, 'bin')}"


_OFFICE = "application/vnd.openxmlformats-officedocument."
_ENDINGS = {
    "application/pdf": "pdf",
    "image/jpeg": "jpg",
    "image/png": "png",
    "text/plain": "txt",
    "text/csv": "csv",
    f"{_OFFICE}wordprocessingml.document": "docx",
    f"{_OFFICE}spreadsheetml.sheet": "xlsx",
}
