"""The documents are ready bytes: compressed, tagged, by domain, and never of another source."""

import asyncio
import gzip
import json
from pathlib import Path
from typing import Any

import httpx2
import pytest
from fastapi import FastAPI

from tests.kernel.paper import paper
from tests.kernel.running import until_true
from tests.planting import plant
from thenga import topology
from thenga.kernel.declare.manifest import Domain
from thenga.kernel.errors import NotFound
from thenga.kernel.http.document import excerpts, published
from thenga.kernel.http.document.openapi import document
from thenga.kernel.http.document.operations import mounted
from thenga.kernel.http.document.pages import page_routes
from thenga.kernel.http.document.published import ENCODINGS, Library
from thenga.kernel.process.settings import Settings

EXAMPLE = {"write_sheet": {"request": {"title": "Plan"}, "status": 201, "response": None}}


@pytest.fixture
def domain(tmp_path: Path) -> Domain:
    made = paper(tmp_path)
    (made.home / "content").mkdir(parents=True, exist_ok=True)
    (made.home / "content" / "examples.json").write_text(json.dumps(EXAMPLE))
    return made


def browser_of(library: Library) -> httpx2.AsyncClient:
    app = FastAPI(openapi_url=None, docs_url=None, redoc_url=None)
    app.include_router(page_routes(library))
    return httpx2.AsyncClient(transport=httpx2.ASGITransport(app), base_url="http://test")


@pytest.fixture
def browser(domain: Domain) -> httpx2.AsyncClient:
    return browser_of(Library([domain], settings=Settings(), ready=published.make([domain])))


async def fetch(browser: httpx2.AsyncClient, path: str, **headers: str) -> httpx2.Response:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return await browser.get(path, headers={"Accept-Encoding": "identity"} | named)


async def test_the_lean_document_has_no_examples(
    browser: httpx2.AsyncClient, domain: Domain
) -> None:
    lean = (await fetch(browser, "/openapi.json")).json()
    full = (await fetch(browser, "/openapi.full.json")).json()

    body = full["paths"]["/v1/paper/sheets"]["post"]["requestBody"]["content"]["application/json"]
    assert body["example"] == {"title": "Plan"}
    assert document(mounted([domain]).routes, [domain], examples=False) == lean
    assert _examples(full) > 0
    assert _examples(lean) == 0


def _examples(made: dict[str, Any]) -> int:
    return json.dumps(made).count('"example"') + json.dumps(made).count('"examples"')


async def test_a_domain_has_a_document_of_its_own(browser: httpx2.AsyncClient) -> None:
    one = (await fetch(browser, "/openapi/paper.json")).json()

    assert list(one["paths"]) == list((await fetch(browser, "/openapi.json")).json()["paths"])
    with pytest.raises(NotFound):
        await fetch(browser, "/openapi/stone.json")
    with pytest.raises(NotFound):
        await fetch(browser, "/docs/stone")


def test_a_domain_keeps_only_what_it_leads_to(domain: Domain) -> None:
    domains = [*topology.load(["organization"]), domain]
    made = document(mounted(domains).routes, domains, domain="paper", examples=False)

    references = set(excerpts.references(made))
    schemas = {name.rpartition("/")[2] for name in references if "/schemas/" in name}
    assert set(made["components"]["schemas"]) == schemas
    assert all(path.startswith("/v1/paper/") for path in made["paths"])
    assert {tag["name"] for tag in made["tags"]} == {"Paper / Sheet"}


PATHS = ("/openapi.json", "/openapi.full.json", "/openapi/paper.json", "/docs", "/docs/paper")


@pytest.mark.parametrize("encoding", ENCODINGS)
@pytest.mark.parametrize("path", [*PATHS, "/events"])
async def test_a_document_is_compressed_and_tagged(
    browser: httpx2.AsyncClient, path: str, encoding: str
) -> None:
    plain = await fetch(browser, path)
    packed = await fetch(browser, path, Accept_Encoding=f"zstd, {encoding};q=0.5")
    again = await fetch(
        browser, path, Accept_Encoding=encoding, If_None_Match=f'"x", W/{packed.headers["etag"]}'
    )

    assert "content-encoding" not in plain.headers
    assert packed.headers["content-encoding"] == encoding
    assert packed.content == plain.content
    assert int(packed.headers["content-length"]) < len(plain.content) / 2
    assert packed.headers["etag"] != plain.headers["etag"]
    assert (again.status_code, again.content) == (304, b"")
    assert again.headers["etag"] == packed.headers["etag"]
    for answer in (plain, packed, again):
        assert "Accept-Encoding" in answer.headers["vary"]
        assert answer.headers["cache-control"].startswith("public, max-age=")


async def test_brotli_is_preferred(browser: httpx2.AsyncClient) -> None:
    answer = await fetch(browser, "/openapi.json", Accept_Encoding="gzip, br")

    assert answer.headers["content-encoding"] == "br"


@pytest.mark.parametrize("accepted", ["gzip;q=0", "zstd", "*;q=0", "", "gzip; q=0.000, br;q=0, *"])
async def test_an_encoding_is_not_sent_where_it_is_refused(
    browser: httpx2.AsyncClient, accepted: str
) -> None:
    answer = await fetch(browser, "/openapi.json", Accept_Encoding=accepted)

    assert "content-encoding" not in answer.headers
    assert answer.json()["openapi"] == "3.1.0"


async def test_another_content_has_another_tag(browser: httpx2.AsyncClient, domain: Domain) -> None:
    ready = published.make([domain])
    changed = ready | {"openapi.json": ready["openapi.full.json"]}

    before = (await fetch(browser, "/openapi.json")).headers["etag"]
    after = (
        await fetch(
            browser_of(Library([domain], settings=Settings(), ready=changed)), "/openapi.json"
        )
    ).headers

    assert before != after["etag"]


def test_what_is_kept_is_read_again(domain: Domain, tmp_path: Path) -> None:
    made = published.make([domain])

    published.write(tmp_path / "kept", [domain])

    assert published.read(tmp_path / "kept", [domain]) == made


def test_another_source_has_another_fingerprint(tmp_path: Path) -> None:
    package = tmp_path / "thenga"
    package.mkdir()
    (package / "a.py").write_text("A = 1\n")
    (package / "examples.json").write_text("{}")
    before = published.fingerprint_of(package)

    (package / "published").mkdir()
    (package / "published" / "index.json").write_text("{}")
    assert published.fingerprint_of(package) == before
    (package / "examples.json").write_text("[]")
    assert published.fingerprint_of(package) != before
    (package / "examples.json").write_text("{}")
    (package / "a.py").rename(package / "b.py")
    assert published.fingerprint_of(package) != before


def test_documents_of_another_source_are_not_read(
    domain: Domain, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    published.write(tmp_path / "kept", [domain])
    plant(monkeypatch, published, "fingerprint", lambda: "f" * 32)

    assert published.read(tmp_path / "kept", [domain]) is None
    published.write(tmp_path / "kept", [domain])

    assert [path.name for path in (tmp_path / "kept").iterdir()] == ["f" * 32]


def test_a_split_process_reads_its_own_part(domain: Domain, tmp_path: Path) -> None:
    organization = topology.load(["organization"])
    published.write(tmp_path / "kept", [*organization, domain])

    own = published.read(tmp_path / "kept", [domain])

    assert own is not None
    assert "openapi.organization.json" not in own
    assert own.keys() == published.make([domain]).keys()
    assert gzip.decompress(own["openapi.json"].packed["gzip"]) == own["openapi.paper.json"].plain()
    assert published.read(tmp_path / "kept", topology.load(["identity"])) is None


async def test_without_kept_documents_another_process_makes_them(
    domain: Domain, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The loop goes on meanwhile, one build serves all who wait, and its work is kept."""
    processes, gate = 0, asyncio.Event()

    async def build(folder: Path) -> None:
        nonlocal processes
        processes += 1
        await gate.wait()
        await asyncio.to_thread(published.write, folder, [domain])

    plant(monkeypatch, published, "_in_another_process", build)
    library = Library([domain], settings=Settings(), kept=tmp_path / "kept")
    await library.load()

    gone = asyncio.create_task(library.get("openapi.json"))
    await until_true(lambda: processes == 1)
    gone.cancel()
    waiting = [asyncio.create_task(library.get("openapi.json")) for _ in range(5)]
    await asyncio.sleep(0)  # they all ask before it is made
    gate.set()
    found = await asyncio.gather(*waiting)

    assert processes == 1
    assert None not in found
    assert published.read(tmp_path / "kept", [domain]) is not None


async def test_a_build_that_fails_is_tried_again(
    domain: Domain, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def fail(folder: Path) -> None:
        raise RuntimeError("no memory")

    library = Library([domain], settings=Settings(), kept=tmp_path / "kept")
    with monkeypatch.context() as planted:
        plant(planted, published, "_in_another_process", fail)
        with pytest.raises(RuntimeError, match="no memory"):
            await library.get("openapi.json")

    async def build(folder: Path) -> None:
        await asyncio.to_thread(published.write, folder, [domain])

    plant(monkeypatch, published, "_in_another_process", build)
    assert await library.get("openapi.json") is not None


LIVE, SANDBOX = "https://api.example.org", "https://sandbox.example.org"


async def addresses(domain: Domain, kept: Path, **settings: str) -> dict[str, list[str]]:
    """The server addresses that each served document names."""
    library = Library([domain], settings=Settings(**settings), kept=kept)
    await library.load()
    client = browser_of(library)
    paths = [path for path in PATHS if path.startswith("/openapi")]
    found = [(await fetch(client, path)).json()["servers"] for path in paths]
    return {path: [one["url"] for one in each] for path, each in zip(paths, found, strict=True)}


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ({"base_url": f"{LIVE}/", "sandbox_url": f"{SANDBOX}/"}, [LIVE, SANDBOX]),
        ({"base_url": LIVE}, [LIVE, LIVE]),
        ({}, ["http://127.0.0.1:8000"] * 2),
    ],
    ids=["two", "one", "default"],
)
async def test_documents_name_the_addresses_of_the_installation(
    domain: Domain, tmp_path: Path, settings: dict[str, str], expected: list[str]
) -> None:
    published.write(tmp_path / "kept", [domain])

    found = await addresses(domain, tmp_path / "kept", **settings)

    assert len(found) == 3
    assert found == dict.fromkeys(found, expected)


def test_another_address_changes_nothing_else(domain: Domain) -> None:
    made = published.make([domain])

    moved = published.at_addresses(made, LIVE)

    changed = {name for name in made if moved[name].digest != made[name].digest}
    assert changed == {name for name in made if name.startswith("openapi.")}
    for name in changed:
        before, after = (json.loads(each[name].plain()) for each in (made, moved))
        assert before.pop("servers") != after.pop("servers")
        assert before == after


async def test_a_planted_default_address_is_seen(
    domain: Domain, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    published.write(tmp_path / "kept", [domain])
    plant(monkeypatch, published, "at_addresses", lambda found, *_: found)

    found = await addresses(domain, tmp_path / "kept", base_url=LIVE)

    assert found == dict.fromkeys(found, ["http://127.0.0.1:8000"] * 2)
