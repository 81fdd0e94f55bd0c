"""Where files are kept in tests: a folder, and an S3 server of one's own on loopback."""

import json
import secrets
import shutil
import signal
import sys
import tempfile
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from pathlib import Path

import obstore
from pydantic import SecretStr

from thenga.kernel.files.store import FileStore
from thenga.kernel.process.settings import Settings
from thenga.tooling.dev import processes

_SECONDS = 60.0


@contextmanager
def folder(settings: Settings) -> Iterator[Settings]:
    """The settings of a store in a new folder."""
    with tempfile.TemporaryDirectory(prefix="thenga-files-") as made:
        yield settings.model_copy(update={"files": f"{made}/files"})


@contextmanager
def s3(settings: Settings) -> Iterator[Settings]:
    """The settings of a store on a new S3 server, which checks signatures."""
    place = Path(tempfile.mkdtemp(prefix="thenga-s3-"))
    secret = secrets.token_hex(32)
    (place / "logins.json").write_text(json.dumps(_logins(secret)))
    master, volume, filer, port = processes.free_ports(4)
    options = {
        "dir": place,
        "ip": "127.0.0.1",
        "ip.bind": "127.0.0.1",
        "master.port": master,
        "master.telemetry": "false",
        "master.volumeSizeLimitMB": 64,
        "volume.port": volume,
        "volume.max": 20,
        "filer.port": filer,
        "s3.port": port,
        "s3.config": place / "logins.json",
    }
    server = processes.find_program("weed", Path(sys.executable).parent)
    told = [f"-{name}={value}" for name, value in options.items()]
    process = processes.spawn([server, "server", "-s3", *told], log=place / "log", folder=place)
    address = f"http://127.0.0.1:{port}"
    try:
        made = settings.model_copy(
            update={
                "files": "s3://thenga",
                "files_endpoint": address,
                "files_access_key": SecretStr("thenga"),
                "files_secret_key": SecretStr(secret),
            }
        )
        assert processes.wait(lambda: _has_bucket(made), _SECONDS), (place / "log").read_text()
        yield made
    finally:
        processes.end(process, signal.SIGKILL, seconds=5)  # it takes half a minute to stop gently
        shutil.rmtree(place, ignore_errors=True)


def _logins(secret: str) -> object:
    keys = [{"accessKey": "thenga", "secretKey": secret}]
    return {"identities": [{"name": "thenga", "credentials": keys, "actions": ["Admin"]}]}


def _has_bucket(settings: Settings) -> bool:
    """This server makes a bucket for the first object in it."""
    store = FileStore(settings)._store()
    try:
        obstore.put(store, "first", b"")
        obstore.delete(store, "first")
    except obstore.exceptions.BaseError:
        return False
    return True


def keys(store: FileStore) -> set[str]:
    """Every object that can be reached."""
    found = obstore.list(store._store())
    return {one["path"] for batch in found for one in batch}


async def parts(content: bytes, size: int = 50_000) -> AsyncIterator[bytes]:
    """A body as it comes from the network."""
    for begin in range(0, len(content), size):
        yield content[begin : begin + size]
