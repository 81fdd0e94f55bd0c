"""The file store: what is kept is what was sent, and what was not wholly sent is not there."""

import asyncio
import hashlib
import os
import random
import signal
import sys
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import httpx2
import obstore
import pytest

from tests.suites import stores
from tests.suites.sizes import size
from thenga.kernel.errors import DependencyUnavailable, TooLarge, UnsupportedMediaType
from thenga.kernel.files import store as store_module
from thenga.kernel.files.answers import attachment
from thenga.kernel.files.store import FileLost, FileStore, StoredFile
from thenga.kernel.http.bounds import Bounds
from thenga.kernel.http.observe import Edge
from thenga.kernel.process.settings import Settings
from thenga.tooling.dev import doctor, processes

PLACES = {"folder": stores.folder}
if size(0, 1):
    PLACES["s3"] = stores.s3
MOST = 6 * 1024 * 1024
EDGES = (0, 1, 8191, 8192, 8193, 65_536, 5 * 1024 * 1024, 5 * 1024 * 1024 + 1)
PDF = b"%PDF-1.7\n1 0 obj\n<< >>\nendobj\ntrailer << >>\n%%EOF\n"


@pytest.fixture(scope="module", params=PLACES)
def place(request: pytest.FixtureRequest) -> Iterator[Settings]:
    plain = Settings(_env_file=None)  # type: ignore[call-arg]  # not seen by mypy
    with PLACES[request.param](plain) as made:
        yield made


@pytest.fixture
def store(place: Settings) -> FileStore:
    return FileStore(place)


async def whole(store: FileStore, key: str, **span: int) -> bytes:
    return b"".join([chunk async for chunk in store.read(key, **span)])


async def differing(store: FileStore, count: int) -> int:
    """How many of so many files come back as others than they were sent, whole or in part."""
    chance, bad = random.Random(11), 0
    lengths = [*EDGES, *(chance.randrange(200_000) for _ in range(count - len(EDGES)))]
    for length in lengths:
        content = chance.randbytes(length)
        kept = await store.put("probe/quarantine", stores.parts(content), most_bytes=MOST)
        right = (hashlib.sha256(content).hexdigest(), length)
        bad += (kept.sha256, kept.size) != right or await whole(store, kept.key) != content
        if length > 10:
            first, last = sorted(chance.sample(range(length), 2))
            part = await whole(store, kept.key, first=first, last=last)
            bad += part != content[first : last + 1]
            bad += await whole(store, kept.key, first=last) != content[last:]
    return bad


async def test_the_doctor_writes_and_reads_a_file(place: Settings, tmp_path: Path) -> None:
    async def found(**changed: str) -> bool:
        settings = place.model_copy(update=changed)
        (one,) = await asyncio.to_thread(lambda: list(doctor._files(settings)))
        return one.ok

    in_the_way = tmp_path / "file"
    in_the_way.touch()

    assert await found()
    assert not await found(files=str(in_the_way))
    assert not await found(files="")


async def test_files_come_back_as_they_were_sent(store: FileStore) -> None:
    count = size(40, 200)
    before = stores.keys(store)

    bad = await differing(store, count)

    kept = stores.keys(store) - before
    print(f"store={store.place.partition(':')[0]} files={len(kept)} differing={bad}")
    assert (len(kept), bad) == (count, 0)


async def test_a_range_that_ends_early_is_found(
    store: FileStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    right = store_module._range

    def ends_early(first: int, last: int | None) -> object:
        return right(first, last) if last is None else {"range": (first, last)}

    monkeypatch.setattr(store_module, "_range", ends_early)

    assert await differing(store, len(EDGES) + 2) > 0


async def left_behind(store: FileStore) -> int:
    """Objects that are left by files which are too long, of a wrong type, or break off."""
    before = stores.keys(store)
    for length in (11, 100_001, MOST + 1):
        with pytest.raises(TooLarge):
            await store.put("probe", stores.parts(bytes(length)), most_bytes=length - 1)
    with pytest.raises(UnsupportedMediaType):
        pdf_only = {"application/pdf"}
        long = stores.parts(b"plain text " * 50_000)
        await store.put("probe", long, most_bytes=MOST, media_types=pdf_only)
    for length in (10, 200_000, MOST):
        with pytest.raises(ConnectionResetError):
            await store.put("probe", _breaking_off(length), most_bytes=2 * MOST)
    return len(stores.keys(store) - before)


async def _breaking_off(length: int) -> AsyncIterator[bytes]:
    async for part in stores.parts(bytes(length)):
        yield part
    raise ConnectionResetError


async def test_one_byte_too_many_or_a_broken_stream_leaves_nothing(store: FileStore) -> None:
    left = await left_behind(store)

    print(f"store={store.place.partition(':')[0]} refused=7 left={left}")
    assert left == 0


class InPlace:
    """A planted bug: each chunk is written where readers look, as an ordinary file would be."""

    def __init__(self, store: FileStore, key: str) -> None:
        self._store, self._key, self._held = store, key, b""

    async def write(self, chunk: bytes) -> None:
        self._held += chunk
        await obstore.put_async(self._store._store(), self._key, self._held)

    async def close(self) -> None: ...


async def test_a_writer_in_place_is_found(
    store: FileStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(FileStore, "_writer", lambda store, key: InPlace(store, key))

    assert await left_behind(store) > 0


WRITER = """
import asyncio, sys
from thenga.kernel.files.store import FileStore
from thenga.kernel.process.settings import Settings

async def endless():
    for number in range(100_000):
        yield bytes(65_536)
        if number == int(sys.argv[1]):
            print("begun", flush=True)
            await asyncio.sleep(600)

asyncio.run(FileStore(Settings(_env_file=None)).put("killed", endless(), most_bytes=1 << 40))
"""


async def _kill_writer(chunks: int, env: dict[str, str]) -> None:
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-c", WRITER, str(chunks), env=os.environ | env, stdout=-1
    )
    assert process.stdout is not None
    assert await asyncio.wait_for(process.stdout.readline(), 60) == b"begun\n"
    process.send_signal(signal.SIGKILL)
    await process.wait()


async def test_a_killed_writer_leaves_nothing_to_read(place: Settings, store: FileStore) -> None:
    named = {"files", "files_endpoint", "files_access_key", "files_secret_key"}
    given = {f"THENGA_{n}".upper(): v for n, v in place.model_dump(include=named).items()}
    env = {n: v if isinstance(v, str) else v.get_secret_value() for n, v in given.items()}
    before = stores.keys(store)

    # Before the first part is full, and after the second.
    await asyncio.gather(*(_kill_writer(chunks, env) for chunks in (0, 10, 170)))

    reachable = stores.keys(store) - before
    print(f"store={store.place.partition(':')[0]} killed=3 reachable={len(reachable)}")
    assert reachable == set()


async def test_a_copy_is_made_once_and_a_deleted_file_is_gone(store: FileStore) -> None:
    kept = await store.put("probe/quarantine", stores.parts(PDF), most_bytes=MOST)

    copied = [await store.copy(kept.key, "probe/clean") for _ in range(2)]
    for _ in range(2):
        await store.delete(kept.key)

    assert copied == [kept.key.replace("quarantine", "clean")] * 2
    assert await whole(store, copied[0]) == PDF
    with pytest.raises(FileLost):
        await whole(store, kept.key)


NAMES = ("", "..", "../clean", "/etc", "probe/../clean", "probe//x", "Probe", "probe/a b", "p\n")


@pytest.mark.parametrize("name", NAMES)
async def test_no_name_from_outside_becomes_a_key(store: FileStore, name: str) -> None:
    with pytest.raises(ValueError, match="no name in the file store"):
        await store.put(name, stores.parts(b"x"), most_bytes=1)
    with pytest.raises(ValueError, match="no name in the file store"):
        await whole(store, f"{name}/passwd")


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (PDF, "application/pdf"),
        (b"junk first\n" + PDF, "application/octet-stream"),
        (b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\1\0\0\0\1\x08\6\0\0\0", "image/png"),
        (b"\xff\xd8\xff\xe0\0\x10JFIF\0\1\1\0\0\1\0\1\0\0", "image/jpeg"),
        (b"<html><script>alert(1)</script></html>", "text/html"),
        (b"", "application/x-empty"),
    ],
)
def test_a_type_is_what_the_first_bytes_say(content: bytes, told: str) -> None:
    found = store_module.media_type_of(content)

    assert found == told or (told == "application/octet-stream" and found != "application/pdf")


async def test_a_store_that_is_away_says_so() -> None:
    (nobody,) = processes.free_ports(1)
    away = Settings(
        _env_file=None,  # type: ignore[call-arg]  # not seen by mypy
        files="s3://thenga",
        files_endpoint=f"http://127.0.0.1:{nobody}",
        files_access_key="thenga",
        files_secret_key="x" * 40,
    )

    with pytest.raises(DependencyUnavailable):
        await FileStore(away).put("probe", stores.parts(PDF), most_bytes=MOST)


# Answers


def serving(store: FileStore, file: StoredFile, name: str) -> httpx2.AsyncClient:
    async def app(scope, receive, send):  # type: ignore[no-untyped-def]  # plain ASGI
        await attachment(store, file, name)(scope, receive, send)

    edge = Edge(app, settings=Settings(), bounds=Bounds(process=8, tenant=8))
    return httpx2.AsyncClient(transport=httpx2.ASGITransport(app=edge), base_url="http://files")


async def test_an_answer_is_an_attachment_with_its_digest(store: FileStore) -> None:
    kept = await store.put("probe", stores.parts(PDF), most_bytes=MOST)
    name = 'ma\r\nSet-Cookie: x="1"/ḓo\u202efdp.exe'

    async with serving(store, kept, name) as client:
        answer = await client.get("/")

    digest = httpx2.Headers({"d": answer.headers["content-digest"]})["d"]
    assert (answer.status_code, answer.content) == (200, PDF)
    assert answer.headers["content-disposition"] == (
        'attachment; filename="maSet-Cookie_ x=_1___ofdp.exe"; '
        "filename*=UTF-8''maSet-Cookie_%20x%3D_1__%E1%B8%93ofdp.exe"
    )
    assert answer.headers["content-type"] == "application/pdf"
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert answer.headers["content-security-policy"] == "sandbox"
    assert answer.headers["cache-control"] == "no-store"
    assert digest.startswith("sha-256=:")
    assert "set-cookie" not in answer.headers


@pytest.mark.parametrize(
    ("asked", "status", "first", "last"),
    [
        ("bytes=0-3", 206, 0, 3),
        ("bytes=5-", 206, 5, None),
        ("bytes=-4", 206, -4, None),
        ("bytes=3-9999", 206, 3, None),
        ("bytes=-9999", 200, 0, None),
        ("bytes=0-1,4-5", 200, 0, None),
        ("bytes=5-2", 200, 0, None),
        ("bytes=-", 200, 0, None),
        ("lines=1-2", 200, 0, None),
        ("bytes=9999-", 416, 0, None),
        ("bytes=-0", 416, 0, None),
    ],
)
async def test_a_range_is_honoured(
    store: FileStore, asked: str, status: int, first: int, last: int | None
) -> None:
    kept = await store.put("probe", stores.parts(PDF), most_bytes=MOST)

    async with serving(store, kept, "paper.pdf") as client:
        answer = await client.get("/", headers={"Range": asked})

    assert answer.status_code == status
    if status == 416:
        assert answer.headers["content-range"] == f"bytes */{len(PDF)}"
        assert answer.json()["code"] == "range-not-satisfiable"
    else:
        right = PDF[first:] if last is None else PDF[first : last + 1]
        assert answer.content == right
        assert answer.headers["content-length"] == str(len(right))
        assert ("content-digest" in answer.headers) == (status == 200)


async def test_a_range_of_another_version_is_the_whole(store: FileStore) -> None:
    kept = await store.put("probe", stores.parts(PDF), most_bytes=MOST)

    async with serving(store, kept, "paper.pdf") as client:
        answer = await client.get("/", headers={"Range": "bytes=0-3", "If-Range": '"other"'})

    assert (answer.status_code, answer.content) == (200, PDF)


async def test_a_lost_file_is_told_before_the_answer_begins(store: FileStore) -> None:
    kept = await store.put("probe", stores.parts(PDF), most_bytes=MOST)
    await store.delete(kept.key)

    async with serving(store, kept, "paper.pdf") as client:
        answer = await client.get("/")

    assert (answer.status_code, answer.json()["code"]) == (500, "internal-error")
