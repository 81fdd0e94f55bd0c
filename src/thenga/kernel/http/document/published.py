"""The documents that readers fetch, as ready bytes: made before a process serves, not while.

Building the OpenAPI document takes seconds of CPU. `thenga prebuild` does it once for a state of
the source (docs/decisions/0025); a process without such a state has another process build it.
"""

import asyncio
import gzip
import json
import os
import shutil
import sys
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from hashlib import blake2b
from importlib.metadata import version
from pathlib import Path
from tempfile import TemporaryDirectory, mkdtemp

import brotli
import orjson
import structlog

import thenga
from thenga.kernel.declare.manifest import Domain
from thenga.kernel.events import catalogue
from thenga.kernel.http.document import excerpts, markup, reference_page
from thenga.kernel.http.document.excerpts import Json
from thenga.kernel.http.document.openapi import document, servers
from thenga.kernel.http.document.operations import mounted, operations
from thenga.kernel.process.settings import Settings

PACKAGE = Path(thenga.__file__).resolve().parent
KEPT = PACKAGE / "published"

_INDEX = "index.json"
_SOURCES = (".py", ".json", ".md")
_SHAPING = ("fastapi", "pydantic", "pydantic_core")  # a new version may write another document
_WHOLE = ("openapi.full.json", "openapi.json")
ENCODINGS = ("br", "gzip")  # in the order in which we prefer to send them
_TYPES = {".json": "application/json", ".html": "text/html; charset=utf-8"}


@dataclass(frozen=True)
class Published:
    """One document: its bytes by content encoding, and a digest of them as they are read."""

    packed: dict[str, bytes]
    digest: str
    media_type: str

    def plain(self) -> bytes:
        return gzip.decompress(self.packed["gzip"])


Documents = dict[str, Published]


def make(domains: Sequence[Domain]) -> Documents:
    """Every document of these domains, from the code; takes seconds."""
    routes = mounted(domains).routes
    return _made(document(routes, domains), document(routes, domains, examples=False), domains)


def _made(full: Json, lean: Json, domains: Sequence[Domain]) -> Documents:
    texts = {
        "openapi.full.json": orjson.dumps(full),
        "openapi.json": orjson.dumps(lean),
        "events.json": orjson.dumps(catalogue.asyncapi(domains)),
        "events.html": markup.event_list(domains).encode(),
        "docs.html": reference_page.contents(full, domains).encode(),
    }
    for domain in domains:
        kept = operations([domain])
        shown = reference_page.domain_page(excerpts.of_operations(full, kept), domain, domains)
        texts[f"openapi.{domain.name}.json"] = orjson.dumps(excerpts.of_operations(lean, kept))
        texts[f"docs.{domain.name}.html"] = shown.encode()
    return {name: _published(name, text) for name, text in texts.items()}


def _published(name: str, text: bytes) -> Published:
    digest = blake2b(text, digest_size=16).hexdigest()
    packed = {"br": brotli.compress(text, quality=9), "gzip": gzip.compress(text, mtime=0)}
    return Published(packed, digest, _TYPES[Path(name).suffix])


@cache
def fingerprint() -> str:
    """What the documents depend on: the source of this package and the libraries that read it."""
    return fingerprint_of(PACKAGE)


def fingerprint_of(package: Path) -> str:
    known = blake2b(digest_size=16)
    for name in _SHAPING:
        known.update(f"{name} {version(name)}\n".encode())
    for path in sorted(package.rglob("*")):
        inside = path.relative_to(package)
        if path.suffix in _SOURCES and inside.parts[0] != KEPT.name:
            text = path.read_bytes()
            known.update(f"{inside} {len(text)}\n".encode() + text)
    return known.hexdigest()


def write(folder: Path, domains: Sequence[Domain]) -> Path:
    """Make the documents of the present source in `folder`; what older sources left is removed."""
    place = folder / fingerprint()
    if (place / _INDEX).exists():
        return place
    made = make(domains)
    folder.mkdir(parents=True, exist_ok=True)
    beside = Path(mkdtemp(dir=folder))
    for name, each in made.items():
        for encoding, packed in each.packed.items():
            (beside / f"{name}.{encoding}").write_bytes(packed)
    digests = {name: each.digest for name, each in made.items()}
    index = {"domains": [domain.name for domain in domains], "digests": digests}
    (beside / _INDEX).write_text(json.dumps(index, indent=2))
    beside.chmod(0o755)  # made by the image's builder, read by its user
    _settle(beside, place)
    return place


def _settle(beside: Path, place: Path) -> None:
    """Give a finished folder its name, and remove the folders of other sources."""
    for other in place.parent.iterdir():
        if other != place and len(other.name) == len(place.name):
            shutil.rmtree(other, ignore_errors=True)
    try:
        beside.rename(place)
    except OSError:  # another process was quicker, with the same documents
        shutil.rmtree(beside, ignore_errors=True)


def read(folder: Path, domains: Sequence[Domain]) -> Documents | None:
    """The documents of the present source, if `folder` has them for these domains."""
    place = folder / fingerprint()
    try:
        index = json.loads((place / _INDEX).read_text())
        found = {name: _kept_at(place, name, digest) for name, digest in index["digests"].items()}
    except FileNotFoundError:
        return None
    names = [domain.name for domain in domains]
    if index["domains"] == names:
        return found
    if not set(names) <= set(index["domains"]):
        return None
    full, lean = (orjson.loads(found[name].plain()) for name in _WHOLE)
    kept = operations(domains)
    return _made(excerpts.of_operations(full, kept), excerpts.of_operations(lean, kept), domains)


def _kept_at(place: Path, name: str, digest: str) -> Published:
    packed = {each: (place / f"{name}.{each}").read_bytes() for each in ENCODINGS}
    return Published(packed, digest, _TYPES[Path(name).suffix])


def at_addresses(found: Documents, base_url: str, sandbox_url: str = "") -> Documents:
    """The documents with the addresses of this installation in place of the developer's."""
    usual, ours = (
        orjson.dumps({"servers": each})[1:-1]
        for each in (servers(), servers(base_url, sandbox_url))
    )
    if ours == usual:
        return found
    return {
        name: _published(name, each.plain().replace(usual, ours, 1)) if "openapi" in name else each
        for name, each in found.items()
    }


class Library:
    """The documents of one process."""

    def __init__(
        self,
        domains: Sequence[Domain],
        *,
        settings: Settings,
        kept: Path = KEPT,
        ready: Documents | None = None,
    ) -> None:
        self._domains = domains
        self._settings = settings
        self._kept = kept
        self._ready = ready
        self._building: asyncio.Task[Documents] | None = None

    async def load(self) -> None:
        """Read what was made before; a process does this before it takes requests."""
        if self._ready is None:
            self._ready = await asyncio.to_thread(self._read, self._kept)

    def _read(self, folder: Path) -> Documents | None:
        found = read(folder, self._domains)
        if found is None:
            return None
        return at_addresses(found, self._settings.base_url, self._settings.sandbox_url)

    async def get(self, name: str) -> Published | None:
        """A document by its name; the first to ask waits where none was made before."""
        if self._ready is None:
            if self._building is None:
                self._building = asyncio.create_task(self._build())
            # Whoever goes away meanwhile does not end it for the others.
            self._ready = await asyncio.shield(self._building)
        return self._ready.get(name)

    async def _build(self) -> Documents:
        structlog.get_logger().warning("http.documents.building", help="run `thenga prebuild`")
        try:
            with TemporaryDirectory() as folder:
                await _in_another_process(Path(folder))
                found = await asyncio.to_thread(self._read, Path(folder))
                if found is None:
                    raise RuntimeError("the source changed after this process was started")
                with suppress(OSError):  # an image is often read-only
                    await asyncio.to_thread(_keep, Path(folder), self._kept)
                return found
        finally:
            self._building = None


def _keep(made: Path, kept: Path) -> None:
    kept.mkdir(exist_ok=True)
    beside = Path(mkdtemp(dir=kept))
    shutil.copytree(made / fingerprint(), beside, dirs_exist_ok=True)
    _settle(beside, kept / fingerprint())


async def _in_another_process(folder: Path) -> None:
    child = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "thenga", "prebuild", "--to", str(folder)),
        env=dict(os.environ),
        stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.PIPE,
    )
    try:
        _, said = await child.communicate()
    finally:
        if child.returncode is None:
            child.kill()
    if child.returncode:
        raise RuntimeError(f"`thenga prebuild` failed: {said.decode(errors='replace')[-2000:]}")
