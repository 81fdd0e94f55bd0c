"""Panels: every domain shows operators one organization, by a port that the kernel binds."""

from uuid import UUID

import pytest
from fastapi import FastAPI
from pydantic import ValidationError

from tests.conftest import Opening
from tests.probe import Thing
from tests.through_json import through_json
from thenga import topology
from thenga.kernel.db.reader import Reader
from thenga.kernel.process.host import Host
from thenga.kernel.standing import panels
from thenga.kernel.standing.figures import Figures, figures_of
from thenga.kernel.standing.panels import Figure, Panel, Panels, PanelState, local_panels, panels_of
from thenga.kernel.values.ids import new_id
from thenga.kernel.values.money import Money


async def of_things(read: Reader) -> Panel:
    counts = await panels.count(read, things=(Thing, Thing.name == "shown"))
    renews = Figure(key="checked", value=read.now)
    due = Figure(key="due", value=Money(12_50, "ZAR"))
    plan = Figure(key="plan", value="starter")
    return Panel(figures=[*counts, renews, due, plan], state=PanelState.WARN)


async def things(opening: Opening, organization_id: UUID, count: int) -> None:
    work = opening.work(organization_id)
    for _ in range(count):
        await work.add(Thing(organization_id=organization_id, name="shown"))
    await work.finish()


async def test_a_panel_shows_one_organization_and_travels(host: Host, opening: Opening) -> None:
    ours, theirs = new_id(), new_id()
    await things(opening, ours, 2)
    await things(opening, theirs, 5)
    port = through_json(panels_of("probe"), local_panels(host, "probe", of_things))
    assert isinstance(port, Panels)

    shown = await port.summarize(organization_id=ours)

    values = {one.key: one.value for one in shown.figures}
    assert (values["things"], values["due"], values["plan"]) == (2, Money(12_50, "ZAR"), "starter")
    assert values["checked"] <= shown.as_of
    assert shown.state is PanelState.WARN


@pytest.mark.parametrize("personal", ["Thabo Mokoena", "thabo@mokoena.example", "+27821234567"])
def test_a_panel_takes_codes_and_no_personal_data(personal: str) -> None:
    with pytest.raises(ValidationError):
        Figure(key="owner", value=personal)


def test_every_domain_answers_its_panel_and_its_figures(app: FastAPI) -> None:
    bindings = app.state.shared.host.bindings
    domains = topology.load(topology.DOMAINS)

    assert [d.name for d in domains if d.panel is None] == []
    for domain in domains:
        assert isinstance(bindings.of(panels_of(domain.name)), Panels)
        assert isinstance(bindings.of(figures_of(domain.name)), Figures)
    print(f"domains={len(domains)} panels={len(bindings.every(Panels))}")
