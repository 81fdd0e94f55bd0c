"""`/.well-known/security.txt` (RFC 9116): whom to write to about a weakness."""

from collections.abc import Callable
from datetime import datetime, timedelta

from fastapi import APIRouter
from fastapi.responses import PlainTextResponse

from thenga.kernel.errors import NotFound
from thenga.kernel.process.settings import Settings

_VALID = timedelta(days=180)  # the standard wants less than a year


def security_routes(settings: Settings, now: Callable[[], datetime]) -> APIRouter:
    """The contact that the operator named in `THENGA_SECURITY_CONTACT`; 404 without one."""
    router = APIRouter(include_in_schema=False)

    @router.get("/.well-known/security.txt")
    async def security_contact() -> PlainTextResponse:
        if not settings.security_contact:
            raise NotFound("The operator of this installation has named no security contact.")
        lines = (
            f"Contact: {settings.security_contact}",
            f"Expires: {now() + _VALID:%Y-%m-%dT%H:%M:%SZ}",
            "Preferred-Languages: en",
            f"Canonical: {settings.base_url}/.well-known/security.txt",
        )
        return PlainTextResponse("\n".join(lines) + "\n")

    return router
