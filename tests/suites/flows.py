"""The skeleton's flow as a stranger walks it, over real HTTP and real mail."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any
from uuid import uuid4

import httpx2

from tests.letters import Letters

_PASSWORD = "umbrella quartz meadow lantern"


STEPS = {
    *("register", "verify", "sign in", "found", "own", "add", "list", "refused elsewhere"),
    *("revoke", "dead there", "dead here", "still in"),
}


class StepFailed(AssertionError):
    """A step was answered otherwise than it should be; `response` is what came."""

    def __init__(self, step: str, response: httpx2.Response) -> None:
        super().__init__(f"{step}: {response.status_code} {response.text}")
        self.response = response


@dataclass
class Walk:
    """One stranger's way; each step names the status it must get."""

    client: httpx2.AsyncClient
    letters: Letters
    identity: str
    organization: str
    passed: list[str] = field(default_factory=list)
    token: str = ""
    session_id: str = ""

    async def ask(
        self, step: str, status: int, method: str, url: str, body: Any = None
    ) -> dict[str, Any]:
        headers = {"Authorization": f"Bearer {self.token}"} if self.token else {}
        response = await self.client.request(method, url, json=body, headers=headers)
        if response.status_code != status:
            raise StepFailed(step, response)
        self.passed.append(step)
        found: dict[str, Any] = response.json()
        return found

    async def join(self) -> None:
        """Register by mail, prove the address, sign in."""
        email, base = f"{uuid4()}@example.org", f"{self.identity}/identity/auth"
        person = {"email": email, "displayName": "Lindiwe Mokoena"}
        await self.ask("register", 202, "POST", f"{base}/register", person)
        proof = {"token": await self.letters.link_to(email), "password": _PASSWORD}
        await self.ask("verify", 200, "POST", f"{base}/verify-address", proof)
        secret = {"method": "password", "email": email, "password": _PASSWORD}
        signed_in = await self.ask("sign in", 200, "POST", f"{base}/sign-in", secret)
        self.token = signed_in["accessToken"]
        self.session_id = signed_in["session"]["id"]

    async def found(self) -> str:
        """Found a company, wait for ownership, add a machine; the path of the company."""
        profile = {"legalName": "Mokoena Plant Hire", "legalForm": "private_company"}
        body = {"organizationType": "enterprise", "profile": profile}
        made = await self.ask("found", 201, "POST", f"{self.organization}/organizations", body)
        path = f"{self.organization}/organizations/{made['id']}"

        async def owned() -> bool:
            headers = {"Authorization": f"Bearer {self.token}"}
            return (await self.client.get(path, headers=headers)).status_code == 200

        await until(owned)
        await self.ask("own", 200, "GET", path)
        machine = {"name": "Digger", "quantity": 1}
        added = await self.ask("add", 201, "POST", f"{path}/equipment", machine)
        listed = await self.ask("list", 200, "GET", f"{path}/equipment")
        assert [item["id"] for item in listed["items"]] == [added["id"]]
        return path

    async def leave(self, path: str) -> None:
        """End the session: from then on it is dead wherever it is shown."""
        end = f"{self.identity}/identity/sessions/{self.session_id}/revoke"
        await self.ask("revoke", 200, "POST", end)
        for step, url in {
            "dead there": path,
            "dead here": f"{self.identity}/identity/sessions",
        }.items():
            refused = await self.ask(step, 401, "GET", url)
            assert refused["code"] == "session-revoked"


async def walk(
    client: httpx2.AsyncClient, letters: Letters, identity: str, organization: str
) -> list[str]:
    """Two strangers, two companies, neither sees the other's; then one leaves."""
    one = Walk(client, letters, identity, organization)
    other = Walk(client, letters, identity, organization)
    await asyncio.gather(one.join(), other.join())
    mine, theirs = await asyncio.gather(one.found(), other.found())
    await one.ask("refused elsewhere", 404, "GET", theirs)
    await other.ask(
        "refused elsewhere", 404, "POST", f"{mine}/equipment", {"name": "X", "quantity": 1}
    )
    await one.leave(mine)
    await other.ask("still in", 200, "GET", theirs)
    return one.passed + other.passed


async def until(look: Callable[[], Awaitable[bool]], *, seconds: float = 180) -> None:
    async with asyncio.timeout(seconds):
        while True:
            if await look():
                return
            await asyncio.sleep(0.05)
