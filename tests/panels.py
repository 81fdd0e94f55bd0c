"""The panel of a domain, as Administration asks for it."""

from uuid import UUID

from fastapi import FastAPI

from thenga.kernel.standing.panels import Panels, PanelState, Value, panels_of


async def panel_of(
    app: FastAPI, domain: str, organization_id: UUID
) -> tuple[PanelState, dict[str, Value]]:
    """The state of an organization in a domain, and its figures by key."""
    port = app.state.shared.host.bindings.of(panels_of(domain))
    assert isinstance(port, Panels)
    shown = await port.summarize(organization_id=organization_id)
    return shown.state, {one.key: one.value for one in shown.figures}
