"""Settings of Billing: what an operator may change, with the defaults of the launch."""

from datetime import date
from decimal import Decimal
from enum import StrEnum
from typing import Annotated

from pydantic import Field

from thenga.kernel.declare import law
from thenga.kernel.declare.setting import Setting, SettingModel
from thenga.kernel.values.money import Money

LAUNCHED_ON = date(2026, 11, 1)  # the day from which the defaults below apply

Days = Annotated[int, Field(ge=0, le=365)]
Code = Annotated[str, Field(pattern=r"^[a-z][a-z0-9-]*$", max_length=60)]
Origin = Annotated[str, Field(pattern=r"^https?://[^/\s]+$", max_length=255)]

SELLER = Setting("billing.seller", Code, "thenga", "Seller on new documents")
PAY_LINK = Setting(
    "billing.pay_link",
    Annotated[str, Field(pattern=r"^https://[^\s]*\{invoiceId\}[^\s]*$", max_length=500)],
    "https://thenga.example/pay/{invoiceId}",
    "Page on which an invoice is paid; `{invoiceId}` is replaced",
)
INVOICE_DUE_DAYS = Setting(
    "billing.invoice.due_days", Days, 7, "Days until an invoice that is sent must be paid"
)
FALLBACK_PLAN = Setting(
    "billing.fallback_plan", Code, "explorer", "Plan of an organization that has bought none"
)
MIGRATION_NOTICE_DAYS = Setting(
    "billing.plan.migration_notice_days", Days, 30, "Days of notice before a plan is replaced"
)
RETURN_ORIGINS: Setting[tuple[str, ...]] = Setting(
    "billing.return_origins",
    tuple[Origin, ...],
    ("https://app.thenga.example", "http://localhost:3000"),
    "Origins to which a customer may return after a payment",
)
PAYFAST_CHECK_SOURCE = Setting(
    "billing.payfast.check_source", bool, False, "Compare the sender of PayFast callbacks"
)


class ProviderChoice(SettingModel):
    """The payment providers of each book."""

    live: tuple[Code, ...]
    sandbox: tuple[Code, ...]


PROVIDERS = Setting(
    "billing.providers",
    ProviderChoice,
    ProviderChoice(live=("paystack", "payfast", "eft"), sandbox=("sandbox",)),
    "Payment providers that customers can use",
)


class RenewalNotice(SettingModel):
    """Days of notice before a renewal, by the interval of the price."""

    month: Days = 3
    year: Days = 30

    def before(self, interval: str) -> int:
        return self.year if interval == "year" else self.month


RENEWAL_NOTICE = Setting(
    "billing.renewal.notice_days", RenewalNotice, RenewalNotice(), "Days of notice before a renewal"
)


class TrialPolicy(SettingModel):
    """How long a trial runs, and when its end is announced."""

    days: Annotated[int, Field(ge=1, le=365)] = 14
    notice_days: Days = 3


TRIAL = Setting("billing.trial", TrialPolicy, TrialPolicy(), "Trials", kind="policy")


class AfterGrace(StrEnum):
    """What the policy does after grace. `keep` only sends notices."""

    READ_ONLY = "read_only"
    NONE = "none"
    KEEP = "keep"


class DunningPolicy(SettingModel):
    """What follows a failed payment; this policy alone reduces access (BIL-41)."""

    retry_days: tuple[Days, ...] = (1, 3, 7, 14, 21)
    grace_days: Days = 14
    first_charge_grace_days: Days = 3
    first_charge_retry_days: tuple[Days, ...] = (1, 3)
    after_grace: AfterGrace = AfterGrace.READ_ONLY
    after_exhausted: AfterGrace = AfterGrace.NONE
    end_after_days: Days = 30
    grace_notice_days: Days = 3


DUNNING = Setting(
    "billing.dunning", DunningPolicy, DunningPolicy(), "Recovery of failed payments", kind="policy"
)


class PausePolicy(SettingModel):
    """How long and how often a subscription can be paused."""

    max_days: Annotated[int, Field(ge=1, le=365)] = 90
    max_in_a_year: Annotated[int, Field(ge=0, le=12)] = 2
    notice_days: Days = 3


PAUSE = Setting("billing.pause", PausePolicy, PausePolicy(), "Pauses", kind="policy")


class CancellationPolicy(SettingModel):
    """Within how many days of the first payment a cancellation returns all of it (BIL-8)."""

    full_refund_days: Days = 7


CANCELLATION = Setting(
    "billing.cancellation",
    CancellationPolicy,
    CancellationPolicy(),
    "Refunds after a cancellation",
    kind="policy",
)


class UsagePolicy(SettingModel):
    """At which percentages of a limit the customer is notified, and the least usage invoice."""

    thresholds: tuple[Annotated[int, Field(ge=1, le=100)], ...] = (80, 100)
    min_invoice: law.Rand = Decimal("20.00")

    @property
    def least(self) -> Money:
        return Money.of(f"{self.min_invoice:.2f}")


USAGE = Setting("billing.usage", UsagePolicy, UsagePolicy(), "Metered usage", kind="policy")

SETTINGS = (
    law.VAT_RATE,
    SELLER,
    PAY_LINK,
    INVOICE_DUE_DAYS,
    FALLBACK_PLAN,
    MIGRATION_NOTICE_DAYS,
    RETURN_ORIGINS,
    PAYFAST_CHECK_SOURCE,
    PROVIDERS,
    RENEWAL_NOTICE,
    TRIAL,
    DUNNING,
    PAUSE,
    CANCELLATION,
    USAGE,
)
