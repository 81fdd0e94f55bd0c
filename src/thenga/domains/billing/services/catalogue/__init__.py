"""Catalogue: plans and their versions, meters and entitlement types."""

from thenga.domains.billing.services.catalogue.entitlement_types import (
    Boolean,
    Entitlement,
    Limit,
    Metered,
    Mode,
    parse_entitlements,
    serialize_entitlements,
)
from thenga.domains.billing.services.catalogue.meters import list_meters, meter_kind, meter_kinds
from thenga.domains.billing.services.catalogue.plans import (
    AnyPlan,
    PlanNotAvailable,
    compare_plans,
    get_plan,
    is_sold_on,
    list_plans,
    plan_on,
    plan_status_on,
    plan_version,
    price_of,
    renewal_version,
)

__all__ = [
    "AnyPlan",
    "Boolean",
    "Entitlement",
    "Limit",
    "Metered",
    "Mode",
    "PlanNotAvailable",
    "compare_plans",
    "get_plan",
    "is_sold_on",
    "list_meters",
    "list_plans",
    "meter_kind",
    "meter_kinds",
    "parse_entitlements",
    "plan_on",
    "plan_status_on",
    "plan_version",
    "price_of",
    "renewal_version",
    "serialize_entitlements",
]
