"""Devices one signed in from: strangers who guess passwords cannot lock these out."""

from datetime import datetime
from typing import Annotated
from uuid import UUID

from fastapi import Path, Response

from thenga.domains.identity.permissions import Permission
from thenga.domains.identity.services import sessions
from thenga.domains.identity.tables import KnownDevice
from thenga.kernel.db.paging import Paged
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.work import Work
from thenga.kernel.errors import NotFound
from thenga.kernel.http.bodies import PageOf, Stored
from thenga.kernel.http.doors import router as make_router
from thenga.kernel.http.entrances import reads, writes
from thenga.kernel.http.lists import paged

router = make_router("Identity / Device")
UserId = Annotated[UUID, Path(alias="userId")]
DeviceId = Annotated[UUID, Path(alias="deviceId")]


class DeviceView(Stored):
    """A device you signed in from."""

    label: str
    family: str
    last_seen_at: datetime

    @classmethod
    def of(cls, device: KnownDevice) -> "DeviceView":
        return cls.model_validate(device)


@router.get("/identity/users/{userId}/devices")
async def list_devices(
    user_id: UserId,
    read: Annotated[Reader, reads(Permission.DEVICE_MANAGE)],
    page: Annotated[Paged, paged("createdAt", "lastSeenAt")],
) -> PageOf[DeviceView]:
    """List the devices you signed in from during the last 90 days."""
    if user_id != read.actor.id:
        raise NotFound()
    return PageOf[DeviceView].of(await sessions.list_devices(read, page), DeviceView.of)


@router.delete("/identity/users/{userId}/devices/{deviceId}", status_code=204)
async def forget_device(
    user_id: UserId, device_id: DeviceId, work: Annotated[Work, writes(Permission.DEVICE_MANAGE)]
) -> Response:
    """Forget a device. Its next sign-in counts as new. Its session is not ended by this."""
    if user_id != work.actor.id:
        raise NotFound()
    await sessions.forget_device(work, device_id)
    return Response(status_code=204)
