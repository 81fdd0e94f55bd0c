"""What operators see of a company's own data."""

from uuid import uuid4

from fastapi import FastAPI

from tests.factories import organization
from tests.panels import panel_of
from thenga.domains.organization.tables import Fact, FactConflict, Organization, OrganizationStatus
from thenga.kernel.process.host import Host
from thenga.kernel.standing.panels import PanelState


async def test_the_panel_shows_status_and_counts_facts(app: FastAPI, host: Host) -> None:
    person = uuid4()
    company = await organization.organization(host, person)

    state, shown = await panel_of(app, "organization", company.id)

    assert (shown["status"], shown["mode"]) == ("active", "live")
    assert shown["facts"] == 5
    assert (shown["facts_verified"], shown["suggestions_pending"]) == (0, 0)
    assert state is PanelState.OK


async def test_a_conflict_warns_and_a_suspension_is_an_alarm(app: FastAPI, host: Host) -> None:
    person = uuid4()
    company = await organization.organization(host, person)
    work = organization.working(host, person, company.id)
    fact = await work.lock_by(Fact, fact_key="legalName")
    fact.conflict_status = FactConflict.CONFLICTED
    await work.save(fact)
    await work.finish()
    warned, shown = await panel_of(app, "organization", company.id)

    work = organization.working(host, person, company.id)
    row = await work.lock(Organization, company.id)
    row.status = OrganizationStatus.SUSPENDED
    await work.save(row)
    await work.finish()
    alarmed, _ = await panel_of(app, "organization", company.id)

    assert shown["facts_conflicted"] == 1
    assert (warned, alarmed) == (PanelState.WARN, PanelState.ALARM)
