"""What we ship is what we start: each command of compose.yaml, with its settings, does its work."""

import os
import re
import stat
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import httpx2
import psycopg
import pyotp
import pypdf
import pytest

from tests import composed
from tests.flows import engine
from tests.flows.shipping import Shipped, running, shipped
from tests.flows.terminal import converse
from tests.flows.touring import blocks
from tests.providers.etenders import Etenders, etenders_apart
from tests.providers.messaging import MailServer
from thenga import topology
from thenga.kernel.values.calendar import local_day
from thenga.kernel.values.clock import SystemClock
from thenga.tooling.dev.sample_tenders import sample_releases

pytestmark = pytest.mark.domains(
    "identity",
    "organization",
    "compliance",
    "notification",
    "billing",
    "opportunity",
    "administration",
)

T = TypeVar("T")

_SECONDS = 240.0
_OLDEST = ("outbox.oldest_waiting", "jobs.oldest_unfinished")
_LED = "where the names of the portal lead to"
# What the operator fills in.
_OURS = {
    "THENGA_BASE_URL": "https://thenga.co.za",
    "THENGA_SMTP_HOST": "127.0.0.1",
    "THENGA_SENDER_ADDRESS_NOTIFICATION": "post@thenga.co.za",
}
_PAPER = b"""%PDF-1.4
1 0 obj <</Type/Catalog/Pages 2 0 R>> endobj
2 0 obj <</Type/Pages/Kids[3 0 R]/Count 1>> endobj
3 0 obj <</Type/Page/Parent 2 0 R/MediaBox[0 0 595 842]>> endobj
trailer <</Root 1 0 R>>
%%EOF
"""


class Installation(NamedTuple):
    """An installation of which all processes run, and who is around it."""

    shipped: Shipped
    started: list[str]
    relay: MailServer
    portal: Etenders
    desk: Path  # the folder in which the operator works
    env: dict[str, str]  # of the operator's shell


@pytest.fixture(scope="module")
def installation(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Installation]:
    folder, desk = tmp_path_factory.mktemp("machine"), tmp_path_factory.mktemp("desk")
    program = engine.install(folder, tmp_path_factory.mktemp("engine"))
    env = {"PATH": f"{program}:{os.environ['PATH']}", "HOME": str(desk)}
    _pasted(blocks("docs/operations.md")[0], desk, env)
    with (
        MailServer(folder) as relay,
        etenders_apart(folder, SystemClock().now) as (portal, lead),
        shipped(folder, relay, _filled_in(desk), led=lead.for_a_process(folder)) as made,
        running(made) as started,
    ):
        yield Installation(made, started, relay, portal, desk, env)


def _pasted(text: str, desk: Path, env: dict[str, str]) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        ["bash", "--norc"],
        input=text,
        env=env,
        cwd=desk,
        capture_output=True,
        text=True,
        timeout=_SECONDS,
        check=False,
    )


def _filled_in(desk: Path) -> dict[str, str]:
    """The `.env` of the first block, with what the page asks for."""
    path = desk / ".env"
    page = (composed.ROOT / "docs/operations.md").read_text()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert {name for name in _OURS if f"`{name}`" in page} == _OURS.keys()
    return composed.given(path.read_text()) | _OURS


def test_what_compose_starts_does_its_work(installation: Installation) -> None:
    made, relay = installation.shipped, installation.relay
    assert "worker.process.started" in (made.folder / "worker.log").read_text()
    assert f"{made.ports['api']}/docs" in (made.folder / "api.log").read_text()
    counts = _use(made, relay)
    done = " ".join(f"{what}={int(count > 0)}" for what, count in counts.items())
    print(f"\ncompose: commands={len(composed.OURS)} started={len(installation.started)} {done}")
    print(f"replaced: {sorted(made.replaced)}, the address and the port of the API, {_LED}")
    assert sorted(installation.started) == sorted(composed.OURS)
    assert all(counts.values()), counts


def _use(made: Shipped, relay: MailServer) -> dict[str, int]:
    """A person registers, founds a company and hands in a paper; how much the processes did."""
    email = "thandi@mokoena.co.za"
    with httpx2.Client(base_url=made.url, timeout=60) as client:
        _ask(client, "POST", "/identity/auth/register", {"email": email, "displayName": "Thandi"})
        code = _await(lambda: _code(relay, email), "the letter")
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


def _code(relay: MailServer, address: str) -> str | None:
    """The code of the newest letter to an address."""
    for mail in reversed(relay.mails):
        assert "post@thenga.co.za" in mail["From"]
        body = mail.get_body(("plain",))
        words = body.get_content().split() if body and mail["To"] == address else []
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


# --- The first day, from the pages for operators

SAID = (
    "so only staff invite staff",
    "outcome mfa_required",
    "From {today} the seller is Umkhonto Tenders (Pty) Ltd, VAT number 4580123456.",
    "portal: succeeded, new tenders: 3",
    "transfer R 1499.00 to Nedbank",
    "Tax Invoice TI-0000001 of Umkhonto Tenders (Pty) Ltd, VAT number 4580123456",
    "administration: applied",
)


@pytest.mark.rule("BIL-56")
@pytest.mark.rule("IDN-53")
@pytest.mark.rule("OPP-51")
def test_an_operator_has_the_first_day_of_the_pages(installation: Installation) -> None:
    began = time.monotonic()
    today = local_day(SystemClock().now())
    installation.portal.publish(
        *(release | {"date": f"{today}T00:00:00Z"} for release in sample_releases(today, 3))
    )
    _, *started = blocks("docs/operations.md")

    doctor = _pasted("\n".join(started), installation.desk, installation.env)
    code, said = converse(
        ["bash", "--norc", str(_page(installation))],
        installation.env,
        installation.desk,
        Operator(installation.relay).answer,
    )

    # Servers of tests do not sync; the source is what the page says.
    ailing = [line[4:22].strip() for line in doctor.stdout.splitlines() if line.startswith("NO")]
    assert ailing == ["fsync", "full_page_writes", "tender source"], doctor.stdout + doctor.stderr
    assert code == 0, said[-3000:]
    assert [text for text in SAID if text.format(today=today) not in said] == [], said[-6000:]
    printed = pypdf.PdfReader(installation.desk / "invoice.pdf").pages[0].extract_text()
    assert "Tax Invoice" in printed
    assert "VAT number 4580123456" in printed
    paid = [mail for mail in installation.relay.mails if "R1\xa0499,00" in mail["Subject"]]
    assert [mail["To"] for mail in paid] == ["lindiwe@mokoena.co.za"]
    assert installation.portal.agents == {"Thenga-TenderReader/1.0 (+https://thenga.co.za)"}
    assert installation.portal.tripped == 0
    print(
        f"\nfirst day: staff=2 signed_in=1 invoice=1 polls={len(installation.portal.requests)} "
        f"letters={len(installation.relay.mails)} seconds={time.monotonic() - began:.0f}"
    )


def _page(installation: Installation) -> Path:
    """The first functions, and every block of the page; its address leads to this machine."""
    functions, *_ = blocks("docs/tour.md")
    text = "\n".join([functions, *blocks("docs/tour-operators.md")])
    assert "https://thenga.co.za/v1" in text
    path = installation.desk / "page"
    path.write_text(text.replace("https://thenga.co.za/v1", installation.shipped.url))
    return path


class Operator:
    """Reads letters and a phone, and types what the shell asks for."""

    def __init__(self, relay: MailServer) -> None:
        self._relay = relay
        self._typed: set[str] = set()

    def answer(self, prompt: str, above: str) -> str | None:
        asked, _, address = prompt.removesuffix(": ").rpartition(" ")
        if asked == "Password of":
            return "violet tractor candle morning"
        if asked == "Code in the letter to":
            return _await(lambda: _code(self._relay, address), f"the letter to {address}")
        if asked == "Code on the phone of":
            (secret,) = re.findall(rf"^secret for the phone of {address}: (\w+)$", above, re.M)
            return _await(lambda: self._fresh(pyotp.TOTP(secret).now()), "the next code")
        return None

    def _fresh(self, code: str) -> str | None:
        """A phone shows the next code half a minute later; each works once."""
        if code in self._typed:
            return None
        self._typed.add(code)
        return code
