"""What every request of a process shares: the host, the gate, the limits and the bounds."""

from dataclasses import dataclass
from typing import Annotated

from fastapi import Depends, Request

from thenga.kernel.access.gate import Gate
from thenga.kernel.http.bounds import Bounds
from thenga.kernel.http.limits import Limits, Rule
from thenga.kernel.process.host import Host
from thenga.kernel.process.settings import Settings


@dataclass(frozen=True)
class Rules:
    """The rate limits of an API process: by address, actor, account and provider."""

    address: Rule
    actor: Rule
    callback: Rule
    callback_address: Rule
    usage: Rule
    auth_address: Rule
    auth_account: Rule
    registration_account: Rule
    reset_account: Rule
    address_change_account: Rule
    invitation_account: Rule
    link_address: Rule
    recovery_account: Rule
    hashing: Rule

    @classmethod
    def of(cls, settings: Settings) -> "Rules":
        actors, hashes = settings.actor_per_minute, settings.hashes_per_second
        calls, batches = settings.callbacks_per_second, settings.usage_batches_per_second
        addresses, accounts = settings.auth_address_per_minute, settings.auth_account_per_minute
        return cls(
            # Generous: many people of one company share an address; it only stops floods.
            address=Rule("address", actors * 20, 60, lease=_lease(actors * 20)),
            actor=Rule("actor", actors, 60, lease=_lease(actors)),
            callback=Rule("callback", calls, 1, lease=max(1, calls // 10)),
            # Calls that no provider has signed; true ones are not counted here (SEC-64).
            callback_address=_strict("callback-address", addresses, 60, alone=addresses // 3),
            usage=Rule("usage", batches, 1, lease=max(1, batches // 10)),
            auth_address=_strict("auth-address", addresses, 60, alone=addresses // 3),
            auth_account=_strict("auth-account", accounts, 60, alone=accounts // 2),
            # One for each purpose, so registering an address uses up no password reset (IDN-6).
            registration_account=_strict("registration-account", 3, 3600, alone=2),
            reset_account=_strict("reset-account", 3, 3600, alone=2),
            address_change_account=_strict("address-change-account", 3, 3600, alone=2),
            # One organization cannot fill what an address that is not proven receives (SEC-66).
            invitation_account=_strict("invitation-account", 6, 86_400, alone=2),
            link_address=_strict("link-address", addresses // 6, 60, alone=addresses // 24),
            recovery_account=_strict("recovery-account", 5, 3600, alone=2),
            hashing=_strict("hashing", hashes, 1, alone=hashes // 3),
        )


def _strict(name: str, amount: int, seconds: int, *, alone: int) -> Rule:
    """A limit that guards sign-in: asked of Redis each time, and `alone` while it is away."""
    return Rule(name, max(1, amount), seconds, degraded=max(1, alone))


def _lease(amount: int) -> int:
    """A thirtieth at a time: what a process may waste stays small, and Redis is asked seldom."""
    return max(1, amount // 30)


@dataclass(frozen=True)
class Shared:
    """Made once by the application; entrances find it through the request."""

    host: Host
    gate: Gate
    limits: Limits
    rules: Rules
    bounds: Bounds


async def _sharing(request: Request) -> "Shared":
    return shared_of(request)


def shared_of(request: Request) -> Shared:
    shared = request.app.state.shared
    assert isinstance(shared, Shared)  # noqa: S101  # set where the application is made
    return shared


Sharing = Annotated[Shared, Depends(_sharing)]
