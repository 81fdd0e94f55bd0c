"""The seller of an installation: set at the console, and printed on every tax invoice."""

import json
from datetime import date, timedelta
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import httpx2
import pytest
from fastapi import FastAPI

from tests.console import thenga
from tests.domains.billing.test_invoices import shown
from tests.factories import billing, documents
from tests.factories import identity as people
from tests.planting import plant
from tests.settling import Settle
from thenga.domains.billing.services.invoicing import invoices
from thenga.domains.billing.services.plan_admin import catalogue_seed
from thenga.domains.billing.services.pricing import sellers
from thenga.domains.billing.services.printing import pdf_archive
from thenga.domains.billing.tables import Book, Invoice
from thenga.kernel.db.audit import PLATFORM_CHAIN
from thenga.kernel.process.host import Host
from thenga.kernel.values.calendar import local_day

pytestmark = pytest.mark.settles("billing")

SELLER: dict[str, Any] = {
    "legalName": "Umkhonto Tenders (Pty) Ltd",
    "registrationNumber": "2026/765432/07",
    "vatNumber": "4580123456",
    "address": {
        "line1": "14 Loop Street",
        "city": "Cape Town",
        "province": "Western Cape",
        "postalCode": "8001",
    },
    "bank": {
        "bankName": "Nedbank",
        "accountName": "Umkhonto Tenders",
        "accountNumber": "1098765432",
        "branchCode": "198765",
    },
}
TOML = """
sellerCode = "{code}"
effectiveFrom = {day}
legalName = "Umkhonto Tenders (Pty) Ltd"
vatNumber = "4580 123 456"
address = {{line1 = "14 Loop Street", city = "Cape Town", province = "Western Cape", \
postalCode = "8001"}}
bank = {{bankName = "Nedbank", accountName = "Umkhonto Tenders", accountNumber = "1098765432", \
branchCode = "198765"}}
"""


@pytest.fixture
async def owner(host: Host, seeded: None) -> people.Member:
    return await people.member(host, uuid4(), role="owner")


@pytest.fixture
def production(app: FastAPI, host: Host, monkeypatch: pytest.MonkeyPatch) -> None:
    """The application and the worker's side are those of a production installation."""
    for process in (app.state.shared.host, host):
        changed = process.settings.model_copy(update={"production": True})
        monkeypatch.setattr(process, "settings", changed)


async def waiting(
    host: Host, organization_id: UUID, seller: str, *, book: Book = Book.LIVE, **given: Any
) -> Invoice:
    """An invoice of that seller, released: the numbering job has it now."""
    made = await documents.draft(host, organization_id, book=book, **given)
    work = billing.working(host, organization_id)
    held = await work.lock(Invoice, made.id)
    held.seller_code = seller
    await invoices.release_invoice(work, held)
    await work.finish()
    return held


def written(folder: Path, **changed: Any) -> str:
    path = folder / "seller.json"
    path.write_text(json.dumps(SELLER | changed))
    return str(path)


@pytest.mark.rule("BIL-56")
@pytest.mark.usefixtures("production")
async def test_live_invoice_waits_for_the_seller_and_is_issued_then(
    api: httpx2.AsyncClient, host: Host, owner: people.Member, settle: Settle, tmp_path: Path
):
    code, today = await documents.seller(host), local_day(host.now())
    invoice = await waiting(host, owner.organization_id, code)
    await settle(lambda: is_done(host, code))
    before = await shown(api, owner, invoice)

    done = await thenga(
        *("seller", "set", written(tmp_path, sellerCode=code, effectiveFrom=str(today)))
    )
    await ask_again(host, code)
    await settle(lambda: is_numbered(api, owner, invoice))

    after = await shown(api, owner, invoice)
    assert (before["number"], before["blockedBy"]) == (None, "billing-seller-not-set")
    assert (done.returncode, done.stdout.strip()) == (
        0,
        f"From {today} the seller is Umkhonto Tenders (Pty) Ltd, VAT number 4580123456.",
    ), done.stderr
    assert (after["title"], after["blockedBy"]) == ("Tax Invoice", None)
    assert after["seller"]["vatNumber"] == "4580123456"
    assert after["seller"]["legalName"] == after["seller"]["tradingName"] == SELLER["legalName"]
    assert after["seller"]["bank"]["accountNumber"] == "1098765432"
    (entry,) = await audited(host, code)
    assert (entry["actor"]["kind"], entry["detail"]["change"]) == ("system", "created")
    assert entry["reason"].startswith("At the console of ")


async def is_done(host: Host, code: str) -> bool:
    """Whether the numbering job of this seller has succeeded; only then it leaves no row."""
    async with host.engines.connection("billing", "billing_system") as connection:
        found = await connection.fetchval(
            "SELECT count(*) FROM billing.procrastinate_jobs "
            "WHERE task_name = 'billing.issue_documents' AND args::text LIKE '%' || $1 || '%'",
            code,
        )
        return int(found) == 0


async def ask_again(host: Host, code: str) -> None:
    """What the job that looks after documents does minutes later, for this seller alone."""
    work = documents.system(host, None, ahead=timedelta(minutes=3))
    await pdf_archive.repair_stuck(work)
    work._jobs = [job for job in work._jobs if code in str(job.key)]
    await work.finish()


async def audited(host: Host, code: str) -> list[dict[str, Any]]:
    """What the platform's trail says of this seller."""
    async with host.engines.connection("billing", "billing_system") as connection:
        rows = await connection.fetch(
            "SELECT entry FROM billing.audit_entry WHERE chain = $1 "
            "AND entry::jsonb ->> 'action' = 'billing.seller.set' AND entry LIKE '%' || $2 || '%'",
            PLATFORM_CHAIN,
            code,
        )
    return [json.loads(row["entry"]) for row in rows]


async def is_numbered(api: httpx2.AsyncClient, owner: people.Member, invoice: Invoice) -> bool:
    return (await shown(api, owner, invoice))["number"] is not None


@pytest.mark.usefixtures("production")
async def test_sandbox_invoices_are_issued_for_the_sample_seller(
    api: httpx2.AsyncClient, host: Host, owner: people.Member, settle: Settle
):
    code = await documents.seller(host)

    invoice = await waiting(host, owner.organization_id, code, book=Book.SANDBOX)
    await settle(lambda: is_numbered(api, owner, invoice))

    assert (await shown(api, owner, invoice))["seller"]["vatNumber"] == "4000000001"


@pytest.mark.usefixtures("production")
async def test_a_planted_invoice_of_the_sample_is_found(
    api: httpx2.AsyncClient,
    host: Host,
    owner: people.Member,
    settle: Settle,
    monkeypatch: pytest.MonkeyPatch,
):
    plant(monkeypatch, sellers, "is_sample_vat_number", lambda _: False)
    code = await documents.seller(host)

    invoice = await waiting(host, owner.organization_id, code)
    await settle(lambda: is_numbered(api, owner, invoice))

    assert (await shown(api, owner, invoice))["seller"]["vatNumber"] == "4000000001"


@pytest.mark.rule("BIL-56")
async def test_issued_documents_keep_their_seller(
    api: httpx2.AsyncClient, host: Host, owner: people.Member, settle: Settle, tmp_path: Path
):
    code, today = await documents.seller(host), local_day(host.now())
    first = written(tmp_path, sellerCode=code, effectiveFrom=str(today))

    once = await thenga("seller", "set", first)
    corrected = written(tmp_path, sellerCode=code, effectiveFrom=str(today), legalName="Umkhonto")
    before = await thenga("seller", "set", corrected)
    invoice = await waiting(host, owner.organization_id, code)
    await settle(lambda: is_numbered(api, owner, invoice))
    again = await thenga("seller", "set", corrected)
    after = await thenga("seller", "set", first := written_day(tmp_path, code, today))
    later = await thenga("seller", "set", written_day(tmp_path, code, today + timedelta(days=2)))
    between = await thenga("seller", "set", written_day(tmp_path, code, today + timedelta(days=1)))

    codes = [run.returncode for run in (once, before, again, after, later, between)]
    assert codes == [0, 0, 0, 2, 0, 0]
    assert f"Documents were issued until {today}" in after.stderr
    assert f"Another seller follows from {today + timedelta(days=2)}" in between.stdout
    assert (await shown(api, owner, invoice))["seller"]["legalName"] == "Umkhonto"


def written_day(folder: Path, code: str, day: Any) -> str:
    path = folder / f"{day}.toml"
    path.write_text(TOML.format(code=code, day=day))
    return str(path)


async def test_a_seller_from_the_input_is_the_one_of_new_invoices(host: Host, seeded: None):
    """As an operator hands it to a container; far off, so that other tests keep the sample."""
    day, next_day = (local_day(host.now()) + timedelta(days=ahead) for ahead in (365, 366))
    text = TOML.partition("\n")[2].partition("\n")[2].format(day=day)

    as_toml = await thenga("seller", "set", "-", given=text)
    as_json = await thenga(
        "seller", "set", "-", given=json.dumps(SELLER | {"effectiveFrom": str(next_day)})
    )

    line = "From {} the seller is Umkhonto Tenders (Pty) Ltd, VAT number 4580123456."
    assert (as_toml.stderr, as_toml.stdout.strip()) == ("", line.format(day))
    assert (as_json.stderr, as_json.stdout.strip()) == ("", line.format(next_day))
    assert len(await audited(host, f'"{day}"')) == 1


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"vatNumber": "5580123456"}, "vatNumber: A VAT number has ten digits and begins with 4"),
        ({"vatNumber": "458012345"}, "vatNumber: A VAT number has ten digits"),
        ({"vatNumber": "4000000001"}, "vatNumber: This VAT number is a sample"),
        ({"effectiveFrom": "soon"}, "effectiveFrom: "),
        ({"bank": None}, "bank: "),
        ({"slogan": "We sell"}, "slogan: Extra inputs are not permitted"),
        ({"effectiveFrom": "2026-11-01"}, "Another seller is set from 2026-11-01"),
        ({"effectiveFrom": "2062-11-20"}, "2062-11-20 is more than 366 days ahead. Check the year"),
    ],
)
async def test_a_wrong_seller_is_refused_in_one_line(
    host: Host, seeded: None, tmp_path: Path, changed: dict[str, Any], said: str
):
    code = await documents.seller(host)
    given = {"sellerCode": code, "effectiveFrom": "2027-01-01"} | changed

    refused = await thenga("seller", "set", written(tmp_path, **given))

    assert (refused.returncode, refused.stdout) == (2, "")
    assert len(refused.stderr.splitlines()) == 1, refused.stderr
    assert said in refused.stderr


async def test_a_seller_of_a_wrong_year_stops_no_earlier_one(
    host: Host, seeded: None, tmp_path: Path
):
    code, today = await documents.seller(host), local_day(host.now())
    await documents.seller(host, code=code, effective_from=date(2062, 11, 20))

    done = await thenga("seller", "set", written_day(tmp_path, code, today))

    assert (done.returncode, done.stderr) == (0, "")
    assert "Another seller follows from 2062-11-20" in done.stdout


async def test_a_file_that_is_none_is_refused(seeded: None, tmp_path: Path):
    broken = tmp_path / "seller.json"
    broken.write_text("{")

    missing = await thenga("seller", "set", str(tmp_path / "nowhere.json"))
    unreadable = await thenga("seller", "set", str(broken))

    assert (missing.returncode, unreadable.returncode) == (2, 2)
    assert "No such file" in missing.stderr
    assert "neither JSON nor TOML" in unreadable.stderr


def test_the_sample_is_the_deployed_seller() -> None:
    (deployed,) = catalogue_seed.deployed()["sellers"]

    assert sellers.is_sample_vat_number(deployed["vatNumber"])
