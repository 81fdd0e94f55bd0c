"""People who file papers, good and bad ones, in tests of the content of files."""

import io
import zipfile
from typing import Any
from uuid import UUID

import httpx2

from tests.factories import identity as people
from tests.filed import DOMAIN
from tests.kernel.running import running
from tests.suites import stores
from thenga.kernel.files.scanner import EICAR
from thenga.kernel.jobs.runner import JobSide, Pace
from thenga.kernel.process.host import Host

PACE = Pace(poll_seconds=0.1, first_delay=0.5, longest_delay=2.0)
CLEAN = b"%PDF-1.7\nA tax clearance certificate.\n%%EOF\n"


class Desk:
    """One person who files papers."""

    def __init__(self, host: Host, client: httpx2.AsyncClient, owner: people.Member) -> None:
        self.host, self.client, self.owner = host, client, owner

    async def send(self, content: bytes, **headers: str) -> tuple[UUID, httpx2.Response]:
        made = await self.client.post(
            "/filed/papers", json={"name": "paper.pdf"}, headers=self.owner.acting
        )
        paper = UUID(made.json()["id"])
        return paper, await self.put(paper, content, **headers)

    async def put(self, paper: UUID, content: bytes, **headers: str) -> httpx2.Response:
        return await self.client.put(
            f"/filed/papers/{paper}/content", content=content, headers=self.owner.acting | headers
        )

    async def read(self, paper: UUID) -> httpx2.Response:
        path = f"/filed/papers/{paper}/content"
        return await self.client.get(path, headers=self.owner.acting)

    async def status(self, paper: UUID) -> str:
        shown = await self.client.get(f"/filed/papers/{paper}", headers=self.owner.acting)
        return str(shown.json()["contentStatus"])

    def objects(self) -> set[str]:
        """What the store holds of this person's organization; others' jobs go on meanwhile."""
        mine = f"/{self.owner.organization_id}/"
        return {key for key in stores.keys(self.host.files) if mine in key}

    async def statuses(self, papers: list[UUID]) -> set[str]:
        return {await self.status(paper) for paper in papers}


def scanning(host: Host) -> Any:
    return running(JobSide(host, [DOMAIN], pace=PACE))


def zipped(content: bytes, *, beside: int = 0) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("first", bytes(beside))
        archive.writestr("last", content)
    return made.getvalue()


def encrypted() -> bytes:
    """A ZIP that says its member has a password, so nobody can look into it."""
    plain = bytearray(zipped(b"secret" * 40))
    for head, at in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        begin = -1
        while (begin := plain.find(head, begin + 1)) >= 0:
            plain[begin + at] |= 1
    return bytes(plain)


BAD = {
    "plain": lambda n: EICAR,
    "after text": lambda n: b"An offer.\n" * (n % 50 + 1) + EICAR,
    "in a pdf": lambda n: CLEAN + EICAR,
    "zipped": lambda n: zipped(EICAR, beside=n * 10),
    "zipped twice": lambda n: zipped(zipped(EICAR)),
    "encrypted": lambda n: encrypted(),
}
