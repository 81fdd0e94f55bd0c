"""The view of one organization: a live panel of every domain, stored nowhere (ADM-26)."""

from collections.abc import Collection
from dataclasses import dataclass

from thenga.domains.administration.services import actions
from thenga.domains.administration.services.dashboards.asking import ask_all
from thenga.kernel.db.reader import Reader
from thenga.kernel.standing.panels import Panels, TenantPanel


@dataclass(frozen=True, slots=True)
class DomainPanel:
    """What one domain shows; None if it is silent."""

    domain: str
    panel: TenantPanel | None


async def read_tenant(read: Reader, *, only: Collection[str] | None) -> list[DomainPanel]:
    """Ask every domain for its panel, and record that staff looked and why."""
    organization_id = read.organization_id
    await actions.record_read(read, "tenant", organization_id, organization_id=organization_id)
    found = await ask_all(
        read.host, Panels, lambda port: port.summarize(organization_id=organization_id)
    )
    return [DomainPanel(name, found[name]) for name in sorted(found) if not only or name in only]
