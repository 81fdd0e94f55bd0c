"""What we ship is what we start: each command of compose.yaml, with its settings, does its work."""

import re
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any, TypeVar

import httpx2
import psycopg
import pytest

from tests import composed
from tests.flows.shipping import Shipped, new_env, shipped, start_nats
from tests.providers.messaging import MailServer
from thenga import topology
from thenga.tooling.dev import processes

pytestmark = pytest.mark.domains("identity", "organization", "compliance", "notification")

T = TypeVar("T")

_SECONDS = 240.0
_OLDEST = ("outbox.oldest_waiting", "jobs.oldest_unfinished")
_PAPER = b"""%PDF-1.4
1 0 obj <</Type/Catalog/Pages 2 0 R>> endobj
2 0 obj <</Type/Pages/Kids[3 0 R]/Count 1>> endobj
3 0 obj <</Type/Page/Parent 2 0 R/MediaBox[0 0 595 842]>> endobj
trailer <</Root 1 0 R>>
%%EOF
"""


@pytest.fixture
def installation(tmp_path: Path) -> Iterator[tuple[Shipped, MailServer]]:
    with MailServer(tmp_path) as relay, shipped(tmp_path, relay, new_env()) as made:
        yield made, relay


def test_what_compose_starts_does_its_work(installation: tuple[Shipped, MailServer]) -> None:
    made, relay = installation
    started = 0
    with ExitStack() as stack:
        for service in ("nats-config", "migrate"):
            done = made.run(service)
            assert done.returncode == 0, done.stderr
            started += 1
        nats = start_nats(made)
        stack.callback(processes.end, nats, signal.SIGTERM, seconds=30)
        for service in ("api", "worker"):
            child = made.child(service)
            stack.callback(child.kill)
            child.begin()
            child.await_ready(lambda service=service: made.is_healthy(service), _SECONDS)
            started += 1
        assert "worker.process.started" in (made.folder / "worker.log").read_text()
        assert f"{made.ports['api']}/docs" in (made.folder / "api.log").read_text()
        counts = _use(made, relay)
    done = " ".join(f"{what}={int(count > 0)}" for what, count in counts.items())
    print(f"\ncompose: commands={len(composed.OURS)} started={started} {done}")
    print(f"replaced: {sorted(made.replaced)}, the address and the port of the API")
    assert started == len(composed.OURS)
    assert all(counts.values()), counts


def _use(made: Shipped, relay: MailServer) -> dict[str, int]:
    """A person registers, founds a company and hands in a paper; how much the processes did."""
    email = "thandi@mokoena.co.za"
    with httpx2.Client(base_url=made.url, timeout=60) as client:
        _ask(client, "POST", "/identity/auth/register", {"email": email, "displayName": "Thandi"})
        code = _await(lambda: _code(relay), "the letter")
        signed_in = _ask(
            client,
            "POST",
            "/identity/auth/verify-address",
            {"token": code, "password": "correct horse battery staple"},
        )
        client.headers["Authorization"] = f"Bearer {signed_in['accessToken']}"
        company = _ask(
            client,
            "POST",
            "/organizations",
            {
                "organizationType": "enterprise",
                "mode": "sandbox",
                "profile": {"legalName": "Mokoena Civils", "legalForm": "private_company"},
            },
        )["id"]
        # The founder is its owner once Identity has read the event.
        path = f"/organizations/{company}"
        _await(lambda: client.get(path).status_code == 200, "the event")
        client.headers["X-Organization-Id"] = company
        _scan(client, company)
    _await(lambda: _ages(made) >= _AGES, "the ages of what waits")
    return {
        "letter": len(relay.mails),
        "event": _count(made, _READ),
        "job": _await(lambda: _count(made, _JOBS), "a job"),
        "scanned": _count(made, _SCANNED),
        "sealed": _await(lambda: _count(made, _SEALED), "the seal"),
    }


# A job that has ended well leaves no row.
_JOBS = """
    SELECT last_value - (SELECT count(*) FROM notification.procrastinate_jobs)
    FROM notification.procrastinate_jobs_id_seq WHERE is_called
"""
# What Identity read of Organization.
_READ = "SELECT count(*) FROM identity.inbox"
_SCANNED = "SELECT count(*) FROM compliance.document_version WHERE content_status = 'clean'"
_SEALED = "SELECT count(*) FROM identity.audit_entry WHERE seq IS NOT NULL"


def _scan(client: httpx2.Client, company: str) -> None:
    asked = {
        "organizationId": company,
        "documentTypeCode": "csd_report",
        "fileName": "csd.pdf",
        "issuedOn": "2026-01-05",
    }
    document = _ask(client, "POST", "/compliance/documents", asked)["id"]
    path = f"/compliance/documents/{document}"
    kind = {"Content-Type": "application/pdf"}
    sent = client.put(f"{path}/content", content=_PAPER, headers=kind)
    assert sent.status_code == 202, sent.text
    _await(lambda: client.get(path).json()["currentVersion"], "the scan")


_AGES = {
    ("notification", "letters.oldest_unsent"),
    *((name, what) for name in topology.DOMAINS for what in _OLDEST),
}


def _code(relay: MailServer) -> str | None:
    for mail in relay.mails:
        assert "post@thenga.co.za" in mail["From"]
        body = mail.get_body(("plain",))
        words = body.get_content().split() if body else []
        code = next((word for word in words if word.startswith("thl_")), None)
        if code is not None:
            return str(code)
    return None


def _ask(client: httpx2.Client, method: str, path: str, body: dict[str, Any]) -> Any:
    answer = client.request(method, path, json=body)
    assert answer.status_code in (200, 201, 202), answer.text
    return answer.json() if answer.content else None


def _await(find: Callable[[], T], what: str) -> T:
    over = time.monotonic() + _SECONDS
    while not (found := find()):
        assert time.monotonic() < over, f"{what} did not come"
        time.sleep(0.2)
    return found


def _ages(made: Shipped) -> set[tuple[str, str]]:
    """What `/metrics` shows the age of, in which domain."""
    text = httpx2.get(f"http://127.0.0.1:{made.ports['internal']}/metrics", timeout=60).text
    return set(re.findall(r'^thenga_oldest_seconds\{domain="(\w+)",what="(.+?)"\} ', text, re.M))


def _count(made: Shipped, query: str) -> int:
    password, port = made.variables["THENGA_ADMIN_PASSWORD"], made.ports["postgres"]
    address = f"postgresql://postgres:{password}@127.0.0.1:{port}/thenga"
    with psycopg.connect(address) as connection:
        row = connection.execute(query).fetchone()
    return int(row[0]) if row else 0
