"""Known devices: where a person signed in before; strangers cannot lock them out (IDN-7)."""

from dataclasses import dataclass
from datetime import timedelta
from uuid import UUID

from sqlalchemy import select
from ua_parser import parse

from thenga.domains.identity.services.accounts import find_name
from thenga.domains.identity.tables import DeviceToken, KnownDevice
from thenga.kernel.crypto import tokens
from thenga.kernel.db.paging import Paged, Slice
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.work import Work
from thenga.kernel.values.ids import new_id

FORGOTTEN_AFTER = timedelta(days=90)
_LONGEST_LABEL = 60


@dataclass(frozen=True)
class Remembered:
    """A device that is known from now on, and the token it shows next time."""

    device: KnownDevice
    token: str


def describe(agent: str) -> tuple[str, str]:
    """A label that a person recognises, and the family, from what the program says of itself."""
    if not agent:
        return "Unknown device", "unknown"
    said = parse(agent)
    browser = said.user_agent.family if said.user_agent else ""
    system = said.os.family if said.os else ""
    label = " on ".join(name for name in (browser, system) if name) or agent.split("/")[0]
    return label[:_LONGEST_LABEL] or "Unknown device", system[:_LONGEST_LABEL] or "unknown"


async def recognize_device(read: Reader, key: bytes, token: str) -> KnownDevice | None:
    """The device that shows this token, if it is one of the person whose address this is."""
    if tokens.parse(token) is not tokens.Prefix.DEVICE:
        return None
    digest = tokens.digest(token)
    await read.present(digest)
    shown = await read.find(DeviceToken, hash=digest)
    name = await find_name(read, key)
    if shown is None or name is None or shown.user_id != name.user_id:
        return None
    await read.become(name.user_id)
    device = await read.find(KnownDevice, id=shown.device_id)
    if device is None or device.removed_at is not None:
        return None
    return device if device.last_seen_at + FORGOTTEN_AFTER > read.now else None


async def remember_device(work: Work, user_id: UUID) -> Remembered:
    """Know this device from now on."""
    label, family = describe(work.origin.agent)
    device = await work.add(
        KnownDevice(id=new_id(), user_id=user_id, label=label, family=family, last_seen_at=work.now)
    )
    token = tokens.mint(tokens.Prefix.DEVICE)
    await work.present(tokens.digest(token))
    await work.add(DeviceToken(hash=tokens.digest(token), user_id=user_id, device_id=device.id))
    return Remembered(device, token)


async def record_device(work: Work, device_id: UUID) -> KnownDevice:
    """A known device was used again."""
    device = await work.lock(KnownDevice, device_id)
    device.last_seen_at = work.now
    return await work.save(device)


async def list_devices(read: Reader, paged: Paged) -> Slice[KnownDevice]:
    """The devices one signed in from and has not forgotten."""
    statement = select(KnownDevice).where(
        KnownDevice.removed_at.is_(None),
        KnownDevice.last_seen_at > read.now - FORGOTTEN_AFTER,
    )
    by = KnownDevice.last_seen_at if paged.sort == "lastSeenAt" else None
    return await read.page(statement, paged, by)


async def forget_device(work: Work, device_id: UUID) -> KnownDevice:
    """Its token is worth nothing from now on; a session that it has open goes on."""
    device = await work.lock(KnownDevice, device_id)
    device.removed_at = device.removed_at or work.now
    return await work.save(device)
