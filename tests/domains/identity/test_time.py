"""A sandbox moved 400 days: what belongs to it ends once, and nobody is signed out."""

from collections import Counter
from datetime import timedelta
from uuid import UUID, uuid4

import httpx2
import pytest

from tests import sweeps
from tests.domains.identity.inviting import address, invite, moved, told
from tests.domains.identity.test_assignments import text
from tests.domains.identity.test_roles import BECAUSE, READ, give
from tests.factories import identity as people
from tests.factories.identity import Member
from tests.suites import clocks
from thenga.domains.identity.services.invitations import _sending
from thenga.kernel.db.work import Work
from thenga.kernel.jobs.runner import JobSide
from thenga.kernel.process.host import Host

pytestmark = pytest.mark.usefixtures("nothing_waits")

DAYS = 400


async def furnished(api: httpx2.AsyncClient, host: Host) -> Member:
    """An organization with three invitations, two roles and a permission that will end."""
    owner = await people.member(host, uuid4(), role="owner", sandbox=True)
    member = await people.member(host, owner.organization_id, role="viewer")
    ends = text(host.now() + timedelta(days=30))
    for _ in range(3):
        assert (await invite(api, owner, address())).status_code == 201
    for code in ("approver", "contributor"):
        assert (await give(api, owner, member, code, validTo=ends)).status_code == 201
    body = {
        "target": {"type": "membership", "id": str(member.membership_id)},
        "permission": READ,
        "effect": "allow",
        "validTo": ends,
        **BECAUSE,
    }
    made = await api.post("/identity/permission-assignments", json=body, headers=owner.acting)
    assert made.status_code == 201
    return owner


async def ended(host: Host, organization_id: UUID) -> Counter[str]:
    """How often an end was told, by what ended."""
    found: Counter[str] = Counter()
    for name, key in (
        ("InvitationEnded", "outcome"),
        ("RoleAssignmentChanged", "status"),
        ("PermissionAssignmentChanged", "status"),
    ):
        events = await told(host, organization_id, name)
        found[name] = sum(one[key] == "expired" for one in events)
    return found


async def swept(host: Host, organization_id: UUID, wanted: int) -> Counter[str]:
    """Let the sweeps run until nothing is missing, and two rounds more."""

    async def all_told() -> bool:
        return (await ended(host, organization_id)).total() >= wanted

    async with clocks.running([JobSide(host, clocks.quick_of("identity"))]):
        await clocks.until(all_told)
        await sweeps.after_sweeps(host, "identity", organization_id)
    return await ended(host, organization_id)


@pytest.mark.rule("IDN-51")
async def test_sandbox_time_ends_rows_once_and_signs_nobody_out(
    api: httpx2.AsyncClient, host: Host, seeded: None
):
    owner = await furnished(api, host)

    await moved(host, owner.organization_id, timedelta(days=DAYS))
    found = await swept(host, owner.organization_id, 6)

    signed_in = await api.get("/identity/sessions", headers=owner.headers)
    print(f"moved_days={DAYS} ended={dict(found)} signed_out={signed_in.status_code != 200}")
    assert found == {
        "InvitationEnded": 3,
        "RoleAssignmentChanged": 2,
        "PermissionAssignmentChanged": 1,
    }
    assert signed_in.json()["items"][0]["status"] == "active"


async def test_a_planted_sweep_that_ends_an_invitation_again_is_found(
    api: httpx2.AsyncClient, host: Host, seeded: None, monkeypatch: pytest.MonkeyPatch
):
    owner = await furnished(api, host)
    end = _sending.end

    async def forgets_that_it_ended(work: Work, *given: object, **more: object) -> None:
        await end(work, *given, **more)  # type: ignore[arg-type]  # as it was called
        row = given[1]
        held = await work.lock(_sending.Invitation, row.id)  # type: ignore[attr-defined]
        held.status, held.next_check_at = _sending.InvitationStatus.PENDING, work.now
        await work.save(held)

    monkeypatch.setattr(_sending, "end", forgets_that_it_ended)
    await moved(host, owner.organization_id, timedelta(days=DAYS))

    found = await swept(host, owner.organization_id, 7)

    assert found["InvitationEnded"] > 3
