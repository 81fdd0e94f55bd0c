"""Client libraries can be made from the served document, and one of them works (`make prove`)."""

import asyncio
import importlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
import urllib.request
from collections.abc import AsyncIterator, Iterator, Sequence
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from tests.factories import identity
from tests.suites.processes import ApiProcess
from thenga import topology
from thenga.kernel.http.document import published
from thenga.kernel.process.host import Host
from thenga.tooling.dev import servers

pytestmark = pytest.mark.prove(needs="npm")

TYPESCRIPT = "@hey-api/openapi-ts@0.99.0"
# Bytes are bytes, of whatever kind; the generator knows JSON and streams.
CONFIG = """\
content_type_overrides:
  application/pdf: application/octet-stream
  "*/*": application/octet-stream
"""
COMPLAINT = re.compile(r"warning|error|unable|cannot|removal|omitted", re.IGNORECASE)
NOT_OURS = re.compile(r"^npm ", re.IGNORECASE)


@pytest.fixture(scope="module")
def folder() -> Iterator[Path]:
    made = Path(tempfile.mkdtemp(prefix="thenga-clients-"))
    yield made
    shutil.rmtree(made, ignore_errors=True)


@pytest.fixture(scope="module")
async def process(home: Path, folder: Path, seeded: None) -> AsyncIterator[ApiProcess]:
    # As `make install` leaves it; a request does not wait for a build on a busy machine.
    await asyncio.to_thread(published.write, published.KEPT, topology.load(topology.DOMAINS))
    api = ApiProcess(servers.up(home), folder)
    await asyncio.to_thread(api.start)
    yield api
    await asyncio.to_thread(api.kill)


@pytest.fixture(scope="module")
async def served(process: ApiProcess, folder: Path) -> Path:
    """The lean document as it is served."""
    path = folder / "openapi.json"
    address = f"{process.origin}/openapi.json"
    with await asyncio.to_thread(urllib.request.urlopen, address) as answer:  # our own server
        path.write_bytes(answer.read())
    return path


def complaints(told: str) -> list[str]:
    """Lines in which a generator says that something is not right."""
    return [
        line for line in told.splitlines() if COMPLAINT.search(line) and not NOT_OURS.match(line)
    ]


def _run(command: Sequence[str], folder: Path) -> str:
    # The Python generator formats what it made with the ruff of this environment.
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    env = {**os.environ, "PATH": path}
    done = subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True, check=False)
    told = done.stdout + done.stderr
    assert done.returncode == 0, told[-3000:]
    return told


def _python_client(served: Path, folder: Path) -> str:
    (folder / "config.yaml").write_text(CONFIG)
    options = ["--path", str(served), "--config", "config.yaml", "--meta", "none", "--overwrite"]
    return _run(
        ["openapi-python-client", "generate", *options, "--output-path", "thenga_client"], folder
    )


async def test_a_python_client_is_generated_and_adds_a_machine(
    process: ApiProcess, served: Path, folder: Path, host: Host, monkeypatch: pytest.MonkeyPatch
) -> None:
    told = await asyncio.to_thread(_python_client, served, folder)
    modules = len(list((folder / "thenga_client").rglob("*.py")))
    owner = await identity.member(host, uuid4(), role="owner")
    monkeypatch.syspath_prepend(str(folder))

    made = await asyncio.to_thread(_add_machine, process.origin, owner)

    print(f"python modules={modules} complaints={complaints(told)} machine={made.name}")
    assert complaints(told) == []
    assert (made.name, made.quantity, made.version) == ("Tower crane", 2, 1)


def _add_machine(origin: str, owner: identity.Member) -> Any:
    client = importlib.import_module("thenga_client").AuthenticatedClient(
        base_url=origin, token=owner.token
    )
    api = "thenga_client.api.organization_equipment"
    add = importlib.import_module(f"{api}.organization_equipment_add")
    get = importlib.import_module(f"{api}.organization_equipment_get")
    models = importlib.import_module("thenga_client.models")
    body = models.OrganizationEquipmentAdd(name="Tower crane", quantity=2)
    added = add.sync(owner.organization_id, client=client, body=body)
    assert isinstance(added, models.OrganizationEquipment), added
    missing = get.sync(owner.organization_id, uuid4(), client=client)
    assert isinstance(missing, models.ProblemNotFound), missing
    return get.sync(owner.organization_id, added.id, client=client)


async def test_a_typescript_client_is_generated(served: Path, folder: Path) -> None:
    npm = ["npm", "install", "--no-save", "--no-audit", "--no-fund", "--silent", "--prefix", "."]
    await asyncio.to_thread(_run, [*npm, TYPESCRIPT, "typescript@5"], folder)
    command = ["node_modules/.bin/openapi-ts", "-i", str(served), "-o", "typescript"]

    told = await asyncio.to_thread(_run, command, folder)

    types = (folder / "typescript" / "types.gen.ts").read_text()
    exported = set(re.findall(r"^export type (\w+)", types, re.MULTILINE))
    print(f"typescript types={len(exported)} complaints={complaints(told)}")
    assert complaints(told) == []
    assert {"OrganizationEquipmentAdd", "OrganizationEquipmentPage", "ProblemNotFound"} <= exported


def test_a_planted_schema_that_is_dropped_is_seen() -> None:
    told = "Unable to process schema /components/schemas/Planted:\n\nis wrong\n"

    assert complaints(told) == ["Unable to process schema /components/schemas/Planted:"]
