"""Pricing: billing periods, proration, VAT, sellers and overage."""

from thenga.domains.billing.services.pricing.overage import (
    OverageTerms,
    is_below_minimum,
    overage_cost,
    overage_units,
    price_units,
    units_affordable,
)
from thenga.domains.billing.services.pricing.periods import (
    Period,
    interval_adverb,
    interval_of,
    midnight_after_days,
    period_containing,
    period_number,
    renewal_notice_at,
    usage_month,
)
from thenga.domains.billing.services.pricing.proration import RunningLine, prorate, unused_after
from thenga.domains.billing.services.pricing.sellers import (
    is_sample_vat_number,
    seller_on,
    seller_vat_rate,
    vat_rate_on,
)
from thenga.domains.billing.services.pricing.vat import Taxed, split_credit_vat, split_vat

__all__ = [
    "OverageTerms",
    "Period",
    "RunningLine",
    "Taxed",
    "interval_adverb",
    "interval_of",
    "is_below_minimum",
    "is_sample_vat_number",
    "midnight_after_days",
    "overage_cost",
    "overage_units",
    "period_containing",
    "period_number",
    "price_units",
    "prorate",
    "renewal_notice_at",
    "seller_on",
    "seller_vat_rate",
    "split_credit_vat",
    "split_vat",
    "units_affordable",
    "unused_after",
    "usage_month",
    "vat_rate_on",
]
