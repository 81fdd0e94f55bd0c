"""Assets: equipment and fleet, and the certificates that expire."""

from thenga.domains.organization.services.assets.equipment import (
    add_equipment,
    archive_equipment,
    change_equipment,
    equipment_papers,
    list_equipment,
    move_equipment,
    publish_equipment_expiry,
)
from thenga.domains.organization.services.assets.expiries import (
    Expiry,
    ExpiryState,
    next_expiry,
    state_on,
)
from thenga.domains.organization.services.assets.expiry_watch import soonest_expiry
from thenga.domains.organization.services.assets.fleet_assets import (
    VinInvalid,
    add_fleet_asset,
    archive_fleet_asset,
    change_fleet_asset,
    fleet_asset_papers,
    list_fleet_assets,
    move_fleet_asset,
    publish_fleet_asset_expiry,
)

__all__ = [
    "Expiry",
    "ExpiryState",
    "VinInvalid",
    "add_equipment",
    "add_fleet_asset",
    "archive_equipment",
    "archive_fleet_asset",
    "change_equipment",
    "change_fleet_asset",
    "equipment_papers",
    "fleet_asset_papers",
    "list_equipment",
    "list_fleet_assets",
    "move_equipment",
    "move_fleet_asset",
    "next_expiry",
    "publish_equipment_expiry",
    "publish_fleet_asset_expiry",
    "soonest_expiry",
    "state_on",
]
