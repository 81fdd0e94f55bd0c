"""Plan administration: drafting, publishing, retiring and migrating plan versions."""

from thenga.domains.billing.services.plan_admin.catalogue_seed import seed_catalogue
from thenga.domains.billing.services.plan_admin.migrations import PlannedMigration, plan_migration
from thenga.domains.billing.services.plan_admin.sellers import set_seller
from thenga.domains.billing.services.plan_admin.versions import (
    EffectiveTooEarly,
    change_draft,
    create_plan,
    draft_version,
    offer_plan,
    publish_to_catalogue,
    publish_version,
    refresh_versions,
    retire_version,
)

__all__ = [
    "EffectiveTooEarly",
    "PlannedMigration",
    "change_draft",
    "create_plan",
    "draft_version",
    "offer_plan",
    "plan_migration",
    "publish_to_catalogue",
    "publish_version",
    "refresh_versions",
    "retire_version",
    "seed_catalogue",
    "set_seller",
]
