"""While the seller is the sample, production collects no money for it (BIL-56)."""

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import httpx2
import pytest

from tests.conftest import Time
from tests.console import thenga
from tests.domains.billing.paying import within
from tests.domains.billing.test_seller import production, waiting, written
from tests.factories import billing, documents, paying, payments, subscriptions
from tests.factories import identity as people
from thenga.domains.billing.services.dunning import collection, failures, invoice_clock, retries
from thenga.domains.billing.services.printing import pdf_archive
from thenga.domains.billing.services.subscriptions import final_usage
from thenga.domains.billing.services.trials import conversions, trials
from thenga.domains.billing.tables import (
    Account,
    Book,
    FailureCategory,
    FailureKind,
    Interval,
    Invoice,
    Payment,
    PaymentFailure,
    PaymentMethod,
    PlanKind,
    Subscription,
    SubscriptionStatus,
    Trial,
)
from thenga.kernel.db.work import Work
from thenga.kernel.process.host import Host
from thenga.kernel.values.calendar import local_day

__all__ = ["production"]  # a fixture

pytestmark = [pytest.mark.no_retry, pytest.mark.rule("BIL-56")]

STARTED = datetime(2026, 11, 14, 8, tzinfo=UTC)
TRIAL_ENDS = datetime(2026, 11, 28, 22, tzinfo=UTC)
MINUTE = timedelta(minutes=1)


@pytest.fixture
async def owner(host: Host, seeded: None) -> people.Member:
    who = await people.member(host, uuid4(), role="owner")
    await documents.account(host, who.organization_id)
    return who


async def owing(host: Host, organization_id: UUID, code: str) -> Invoice:
    """A released invoice of that seller for an active subscription, with a card on file."""
    subscription = await subscriptions.subscription(
        host, organization_id, kind=PlanKind.BASE, status=SubscriptionStatus.ACTIVE
    )
    await payments.method(host, organization_id)
    return await waiting(host, organization_id, code, subscription_id=subscription.id)


async def set_seller(host: Host, folder: Path, code: str) -> None:
    today = str(local_day(host.now()))
    done = await thenga(
        *("seller", "set", written(folder, sellerCode=code, effectiveFrom=today)),
    )
    assert done.returncode == 0, done.stderr


async def count(host: Host, organization_id: UUID, row: type[Any]) -> int:
    async with host.engines.connection("billing", "billing_system") as connection:
        return int(
            await connection.fetchval(
                f"SELECT count(*) FROM {row.__table__} WHERE organization_id = $1",
                organization_id,
            )
        )


@pytest.mark.usefixtures("production")
@pytest.mark.parametrize("way", ["eft", "paystack", "card"])
async def test_invoice_cannot_be_paid_until_the_seller_is_set(
    api: httpx2.AsyncClient, host: Host, owner: people.Member, way: str
):
    code = await documents.seller(host)
    invoice = await waiting(host, owner.organization_id, code)
    card = await payments.method(host, owner.organization_id)
    chosen = {"paymentMethodId": str(card.id)} if way == "card" else {"provider": way}
    before = await count(host, owner.organization_id, Payment)

    answer = await api.post(
        "/billing/payments",
        json={"invoiceId": str(invoice.id), **chosen},
        headers=within(owner),
    )

    assert (answer.status_code, answer.json()["code"]) == (409, "billing-seller-not-set")
    assert await count(host, owner.organization_id, Payment) == before


@pytest.mark.usefixtures("production")
async def test_card_is_not_verified_until_the_seller_is_set(
    api: httpx2.AsyncClient, host: Host, owner: people.Member
):
    account = await documents.account(host, owner.organization_id)

    answer = await api.post(
        f"/billing/accounts/{account.id}/payment-methods",
        json={"provider": "paystack"},
        headers=within(owner),
    )

    assert (answer.status_code, answer.json()["code"]) == (409, "billing-seller-not-set")
    assert await count(host, owner.organization_id, Invoice) == 0


@pytest.mark.usefixtures("production")
async def test_transfer_never_goes_to_the_bank_of_the_sample(
    api: httpx2.AsyncClient, host: Host, owner: people.Member, tmp_path: Path
):
    """Bank details are those of the current seller, who need not be the seller of the invoice."""
    code = await documents.seller(host)
    invoice = await waiting(host, owner.organization_id, code)
    await set_seller(host, tmp_path, code)
    body = {"invoiceId": str(invoice.id)}

    transfer = await api.post(
        "/billing/payments", json=body | {"provider": "eft"}, headers=within(owner)
    )
    page = await api.post(
        "/billing/payments", json=body | {"provider": "paystack"}, headers=within(owner)
    )

    assert (transfer.status_code, transfer.json()["code"]) == (409, "billing-seller-not-set")
    assert "Sample Bank" not in transfer.text
    assert (page.status_code, page.json()["status"]) == (201, "created"), page.text


@pytest.mark.usefixtures("production")
async def test_renewal_is_charged_once_its_invoice_is_issued(
    host: Host, owner: people.Member, tmp_path: Path
):
    code, organization_id = await documents.seller(host), owner.organization_id
    invoice = await owing(host, organization_id, code)
    before = await count(host, organization_id, Payment)

    await in_work(host, organization_id, invoice, collection.collect_automatically)
    blocked = await count(host, organization_id, Payment)
    await set_seller(host, tmp_path, code)
    await documents.number_all(host, organization_id, seller=code)
    work = billing.working(host, organization_id)
    await invoice_clock.run_due_invoice_steps(work, invoice.id)
    await work.finish()

    assert (blocked, await count(host, organization_id, PaymentFailure)) == (before, 0)
    assert await count(host, organization_id, Payment) == before + 1


@pytest.mark.usefixtures("production")
async def test_last_usage_of_a_plan_is_not_charged_for_the_sample(host: Host, owner: people.Member):
    code, organization_id = await documents.seller(host), owner.organization_id
    invoice = await owing(host, organization_id, code)
    before = await count(host, organization_id, Payment)

    await in_work(host, organization_id, invoice, final_usage._charge)

    assert await count(host, organization_id, Payment) == before


async def in_work(host: Host, organization_id: UUID, invoice: Invoice, charge: Any) -> None:
    """What a job of billing does with an invoice."""
    work = billing.working(host, organization_id)
    account = await work.lock_by(Account)
    assert invoice.subscription_id is not None
    subscription = await work.lock(Subscription, invoice.subscription_id)
    await charge(work, account, await work.lock(Invoice, invoice.id), subscription)
    await work.finish()


async def test_recovery_reminds_and_charges_nothing_for_the_sample(
    host: Host, owner: people.Member, request: pytest.FixtureRequest
):
    code, organization_id = await documents.seller(host), owner.organization_id
    invoice = await owing(host, organization_id, code)
    failure_id = await failed(host, organization_id, invoice)
    before = await count(host, organization_id, Payment)

    request.getfixturevalue("production")
    work = billing.working(host, organization_id)
    failure, subscription, owed = await retries.lock_recovery(work, failure_id)
    await retries.retry_on_date(work, failure, subscription, owed)
    await retries.retry_with_new_method(work, await card_of(work))
    await work.finish()

    work = billing.working(host, organization_id)
    found = await work.get(PaymentFailure, failure_id)
    await work.close()
    assert [attempt.reminder for attempt in found.history] == [True]
    assert await count(host, organization_id, Payment) == before


async def failed(host: Host, organization_id: UUID, invoice: Invoice) -> UUID:
    work = billing.working(host, organization_id)
    await work.lock_by(Account)
    assert invoice.subscription_id is not None
    subscription = await work.lock(Subscription, invoice.subscription_id)
    made = await failures.open_failure(
        *(work, await work.lock(Invoice, invoice.id), subscription),
        kind=FailureKind.DECLINED,
        category=FailureCategory.SOFT,
    )
    await work.finish()
    return made.id


async def card_of(work: Work) -> PaymentMethod:
    found = await work.find(PaymentMethod)
    assert found is not None
    return found


async def test_trial_that_was_bought_waits_for_the_seller(host: Host, seeded: None, clock: Time):
    payer = await paying.payer(host, clock, STARTED, book=Book.LIVE, bill_to=documents.BILL_TO)
    payer.card = "silent"  # so that no live document gets a number of a later day
    work = payer.work()
    trial = await trials.start_trial(work, plan_code="professional")
    await work.finish()
    work = payer.work()
    await conversions.convert(
        *(work, trial.id),
        interval=Interval.MONTH,
        how=conversions.PaymentChoice(payment_method_id=payer.method.id),
        when=conversions.ConversionTime.TRIAL_END,
    )
    await work.finish()

    with pytest.MonkeyPatch.context() as patched:
        settings = host.settings.model_copy(update={"production": True})
        patched.setattr(host, "settings", settings)
        await payer.at(TRIAL_ENDS + MINUTE)
    waits = await payer.read(Trial, trial.id)
    charged = await count(host, payer.organization_id, Payment)
    await payer.at(TRIAL_ENDS + 20 * MINUTE)

    assert (waits.status, charged) == ("active", 0)
    assert (await payer.read(Trial, trial.id)).status == "converted"
    assert await count(host, payer.organization_id, Payment) == 1


async def test_blocked_documents_keep_no_place_from_lost_ones(
    host: Host, owner: people.Member, tmp_path: Path
):
    """The documents that are asked for again are the oldest 500 of those that can be issued."""
    code = await documents.seller(host)
    numbered = await documents.issued(host, uuid4())
    blocked = await waiting(host, owner.organization_id, code)
    specimen = await waiting(host, uuid4(), code, book=Book.SANDBOX)

    with pytest.MonkeyPatch.context() as patched:
        settings = host.settings.model_copy(update={"production": True})
        patched.setattr(host, "settings", settings)
        before = await asked_again(host)
        await set_seller(host, tmp_path, code)
        after = await asked_again(host)

    lost = {
        f"render_pdf:{numbered.organization_id}:{numbered.id}",
        f"issue_documents:{specimen.organization_id}:{code}:sandbox",
    }
    waits = f"issue_documents:{blocked.organization_id}:{code}:live"
    assert lost <= before
    assert waits not in before
    assert {waits, *lost} <= after


async def asked_again(host: Host) -> set[str]:
    """The jobs of documents that the sweep finds minutes later."""
    work = documents.system(host, None, ahead=timedelta(minutes=3))
    await pdf_archive.repair_stuck(work)
    found = {str(job.key) for job in work._jobs}
    await work.close()
    return found
