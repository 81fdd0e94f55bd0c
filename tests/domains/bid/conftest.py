"""A company that bids, and other domains that are silent when a test needs them so."""

from dataclasses import replace
from typing import Any
from uuid import UUID

import httpx2
import pytest

from tests.conftest import Time
from tests.factories import bid as factory
from tests.factories import bid_offer as offers
from tests.factories.bidding import Bidding
from tests.factories.identity import Member
from tests.settling import SameClock
from thenga.domains.compliance.public import Attestation, Attestations, EvidenceRef
from thenga.kernel.ports.binding import stand_in
from thenga.kernel.process.host import Host

_PROOF = UUID(int=7)


@pytest.fixture
async def owner(host: Host, seeded: None) -> Member:
    return await factory.company(host)


@pytest.fixture
async def bidder(host: Host, seeded: None) -> Member:
    """The owner of a company with a profile, who may sign for it."""
    return await offers.bidder(host)


@pytest.fixture
def joined(host: Host, bound: Host) -> Host:
    """The host of the worker, with every port answered."""
    return replace(host, bindings=bound.bindings, closing=[], clock=SameClock(host))


@pytest.fixture
async def bidding(
    api: httpx2.AsyncClient, host: Host, joined: Host, clock: Time, bidder: Member
) -> Bidding:
    """One bid of that company on a tender with terms and forms."""
    return Bidding(api, joined, clock, bidder, await offers.workspace(host, bidder))


@pytest.fixture
def proofs(bound: Host, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let Compliance state every number that a form asks for."""

    async def ask(shape: Any, arguments: dict[str, Any]) -> object:
        return [
            Attestation(
                code=code,
                state="met",
                number="MAAA0123456",
                evidence_ref=EvidenceRef(evidence_id=_PROOF, proof_version=1),
            )
            for code in arguments["codes"]
        ]

    monkeypatch.setitem(bound.bindings._bound, Attestations, stand_in(Attestations, ask))
