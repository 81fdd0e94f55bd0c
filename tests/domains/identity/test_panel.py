"""What operators see of an organization's people and keys."""

from datetime import timedelta
from uuid import uuid4

from fastapi import FastAPI

from tests.factories import held, identity
from tests.panels import panel_of
from thenga.domains.identity.tables import ApiKey
from thenga.kernel.process.host import Host
from thenga.kernel.standing.panels import PanelState


async def test_the_panel_counts_members_owners_and_keys(app: FastAPI, host: Host) -> None:
    ours = uuid4()
    await identity.member(host, ours, role="owner")
    await identity.member(host, ours, role="member")
    await identity.member(host, uuid4(), role="owner")
    await held.with_api_keys(host, ours)

    state, shown = await panel_of(app, "identity", ours)

    assert (shown["members_active"], shown["owners"], shown["invitations_open"]) == (2, 1, 0)
    assert shown["members_without_second_factor"] == 2
    assert state is PanelState.OK


async def test_the_panel_warns_of_keys_that_expire_soon(app: FastAPI, host: Host) -> None:
    owner = await identity.member(host, uuid4(), role="owner")
    work = identity.working(host, owner.organization_id)
    await work.add(
        ApiKey(
            organization_id=owner.organization_id,
            hash=uuid4().bytes,
            name="Till",
            scopes=[],
            environment="live",
            prefix="thk_",
            last4="0000",
            allowed_networks=[],
            status="active",
            expires_at=work.now + timedelta(days=3),
            sponsor_user_id=owner.user_id,
        )
    )
    await work.finish()

    state, shown = await panel_of(app, "identity", owner.organization_id)

    assert (shown["api_keys_active"], shown["api_keys_expiring"]) == (1, 1)
    assert state is PanelState.WARN


async def test_an_organization_without_an_owner_is_an_alarm(app: FastAPI, host: Host) -> None:
    organization_id = uuid4()
    await identity.member(host, organization_id, role="member")

    state, shown = await panel_of(app, "identity", organization_id)

    assert shown["owners"] == 0
    assert state is PanelState.ALARM
