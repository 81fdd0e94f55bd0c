"""`/.well-known/security.txt`: the contact of this installation, or 404 without one."""

from datetime import UTC, datetime

import httpx2
import pytest
from fastapi import FastAPI
from pydantic import ValidationError

from thenga.kernel.errors import NotFound
from thenga.kernel.http.security_contact import security_routes
from thenga.kernel.process.settings import Settings

PATH = "/.well-known/security.txt"
CONTACT = "mailto:security@tenders.example"


def browser(settings: Settings) -> httpx2.AsyncClient:
    app = FastAPI()
    app.include_router(security_routes(settings, lambda: datetime(2031, 1, 1, tzinfo=UTC)))
    return httpx2.AsyncClient(transport=httpx2.ASGITransport(app), base_url="http://test")


async def test_security_txt_names_the_contact_and_expires() -> None:
    settings = Settings(security_contact=CONTACT, base_url="https://tenders.example")

    answer = await browser(settings).get(PATH)

    assert answer.headers["content-type"] == "text/plain; charset=utf-8"
    assert answer.text.splitlines() == [
        f"Contact: {CONTACT}",
        "Expires: 2031-06-30T00:00:00Z",
        "Preferred-Languages: en",
        f"Canonical: https://tenders.example{PATH}",
    ]


async def test_without_a_contact_there_is_no_security_txt() -> None:
    with pytest.raises(NotFound):
        await browser(Settings(security_contact="")).get(PATH)


def test_a_contact_is_an_address_that_a_client_can_open() -> None:
    with pytest.raises(ValidationError):
        Settings(security_contact="security@tenders.example")
