"""Worlds in the real database: the rows that make one true, and the facts the gate reads there."""

import random
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

import asyncpg

from tests.domains.identity.deciding import worlds
from tests.domains.identity.deciding.model import TYPES, World
from thenga.domains.identity.services.decisions import Facts, _statement, decide
from thenga.domains.identity.services.decisions._entitled import ASK
from thenga.kernel.crypto import tokens
from thenga.kernel.process.host import Host
from thenga.kernel.values.ids import new_id

_DAY = timedelta(days=1)


def settled(w: World) -> World:
    """The world as far as the database can tell it: what it keeps nothing about is as usual."""
    usual = ("method", "mfa_needed", "signed_in_too_long", "policy", "amount")
    w = w | {name: worlds.GOOD[name] for name in usual}
    if w["actor"] != "key":
        w["network"] = True
    if w["platform_role"]:
        w["staff"] = True
    if w["permission"] is None:
        nothing = {"audiences": (), "feature": False, "effect": "read", "while_suspended": False}
        nothing |= {"half": False, "people_only": False}
        w |= nothing | {"sensitivity": "normal", "agents": "never", "agent": False}
    away = w["actor"] == "service" or w["session"] in ("not_there", "unknown")
    if not w["named"] and away and w["actor"] != "key":
        w["tenant"] = False
    if w["actor"] == "key" and not w["tenant"]:
        w["named"] = True
    if w["owner"]:
        w["any_role"] = True
    if w["held"] or w["held_on"] or w["deny"] or w["denied_on"]:
        w["any_role"] = w["any_role"] or w["membership"] is None
    return w


@dataclass
class Stored:
    """One world in the database."""

    admin: asyncpg.Connection
    chance: random.Random
    now: datetime
    organization: UUID = field(default_factory=uuid4)
    user: UUID = field(default_factory=new_id)
    session: UUID = field(default_factory=new_id)
    membership: UUID = field(default_factory=new_id)
    key: UUID = field(default_factory=new_id)
    role: UUID = field(default_factory=new_id)
    code: str = field(default_factory=lambda: f"bid:workspace:w{uuid4().hex}")
    token: str = field(default_factory=lambda: tokens.mint(tokens.Prefix.ACCESS))
    key_text: str = field(default_factory=lambda: tokens.mint(tokens.Prefix.KEY_LIVE))

    async def add(self, table: str, **values: Any) -> None:
        made = {"id": new_id(), "created_at": self.now, "updated_at": self.now, "version": 1}
        values = made | values
        places = ", ".join(f"${n}" for n in range(1, len(values) + 1))
        await self.admin.execute(
            f"INSERT INTO identity.{table} ({', '.join(values)}) VALUES ({places})",
            *values.values(),
        )

    async def keep(self, w: World) -> None:
        """Write the rows that make the world true."""
        await self._catalogue(w)
        await self._tenant(w)
        if w["actor"] == "person":
            await self._person(w)
        if w["actor"] == "key":
            await self._key(w)

    async def _catalogue(self, w: World) -> None:
        if w["permission"] is not None:
            await self.add(
                "permission",
                code=self.code,
                domain="bid",
                title="In a world",
                effect=w["effect"],
                audiences=list(w["audiences"]),
                sensitivity=w["sensitivity"],
                feature="bid.workspaces" if w["feature"] else None,
                keys=True,
                agents=w["agents"],
                while_suspended=w["while_suspended"],
                half=w["half"],
                people_only=w["people_only"],
                roles=["owner", "administrator", "approver", "platform_operator"],
                scopes=list(w["declared"]),
                status=w["permission"],
            )

    async def _tenant(self, w: World) -> None:
        if not w["tenant"] and w["actor"] != "key":
            return
        await self.add(
            "tenant_mirror",
            organization_id=self.organization,
            status=w["tenant_state"],
            sandbox=w["sandbox"],
            ahead=timedelta(0),
            source_sequence=0,
            capabilities_off=["bid:workspace" if w["switched_off"] else "bid:work"],
        )
        if w["signal_age"] is not None:
            access, used_up = w["signal"]
            await self.add(
                "entitlement_signal",
                organization_id=self.organization,
                feature="bid.workspaces",
                state="exhausted" if used_up else "granted",
                access=access,
                limit_count=5 if used_up else None,
                used_count=5 if used_up else None,
                source_sequence=1,
                checked_at=self.now - timedelta(seconds=w["signal_age"]),
            )

    async def _person(self, w: World) -> None:
        await self.add(
            "user_account",
            id=self.user,
            user_id=self.user,
            email=f"{self.user}@example.test",
            display_name="Somebody",
            locale="en-ZA",
            time_zone="UTC",
            status=w["account"],
            staff=w["staff"],
        )
        if w["session"] not in ("unknown", "not_there"):
            await self._session(w)
        if w["platform_role"]:
            await self.add(
                "platform_role_assignment",
                user_id=self.user,
                role_code="platform_operator",
                status="active",
                valid_from=self.now - _DAY,
                reason="a world",
            )
        if w["tenant"] and w["membership"] is not None:
            await self._member(w)

    async def _session(self, w: World) -> None:
        soon, past = self.now + _DAY, self.now - timedelta(seconds=1)
        await self.add(
            "session",
            id=self.session,
            user_id=self.user,
            kind="interactive",
            status=w["session"],
            assurance="aal2" if w["aal2"] else "aal1",
            methods=["password"],
            authenticated_at=self.now - 2 * _DAY,
            proven_at=self.now - timedelta(seconds=w["proof_age"]),
            active_organization_id=self.organization if w["tenant"] and not w["named"] else None,
            last_seen_at=self.now,
            idle_expires_at=past if w["idle_over"] else soon,
            expires_at=past if w["session_over"] else soon,
            network="",
        )
        await self.add(
            "access_token",
            hash=tokens.digest(self.token),
            session_id=self.session,
            user_id=self.user,
            expires_at=past if w["token_over"] else soon,
        )

    async def _member(self, w: World) -> None:
        mine = {"organization_id": self.organization}
        await self.add(
            "membership",
            id=self.membership,
            user_id=self.user,
            status=w["membership"],
            origin="direct",
            display_name="",
            **mine,
        )
        holds = w["any_role"] and self.chance.random() < 0.3
        await self.add(
            "custom_role",
            id=self.role,
            code="of_this_world",
            name="Of this world",
            permissions=[self.code] if holds and w["held"] else [],
            status=self.chance.choice(["active", "deprecated"]),
            **mine,
        )
        if w["any_role"]:
            await self._assigned("of_this_world", None)
        if w["owner"]:
            await self._assigned("owner", None)
        if w["held"] and not holds:
            await self._given("allow", None, w)
        if w["deny"]:
            await self._given("deny", None, w)
        for effect, places in (("allow", w["held_on"]), ("deny", w["denied_on"])):
            for place in places:
                await self._given(effect, place, w)
        await self._noise(w)

    async def _given(self, effect: str, place: str | None, w: World) -> None:
        """One of the ways in which a right comes to a member."""
        ways = ["direct", "through", "built_in"] if w["any_role"] else ["direct"]
        way = self.chance.choice(ways)
        if way == "built_in" and effect == "allow":
            # An owner of one resource only is denied as anybody else.
            await self._assigned("approver" if place is None else "owner", place)
            return
        target = self.role if way == "through" else self.membership
        await self._permitted(effect, place, target, "role" if way == "through" else "membership")

    async def _noise(self, w: World) -> None:
        """What is over, not yet begun, revoked or somebody else's counts for nothing."""
        later, before = self.now + _DAY, self.now - _DAY
        if w["any_role"]:
            # Its time is over, though no sweep has written it down yet.
            await self._assigned("administrator", None, valid_from=before - _DAY, valid_to=before)
            await self._assigned("owner", None, status="revoked")
        if not w["deny"]:
            scheduled = {"status": "scheduled", "valid_from": later}
            await self._permitted("deny", None, self.membership, "membership", **scheduled)
        await self._permitted("allow", "y", self.membership, "membership", status="revoked")
        await self._permitted("deny", None, new_id(), "membership")

    async def _assigned(self, role: str, place: str | None, **more: Any) -> None:
        values = {"status": "active", "valid_from": self.now - _DAY} | more
        await self.add(
            "role_assignment",
            organization_id=self.organization,
            membership_id=self.membership,
            role_code=role,
            **_scope(place),
            **values,
        )

    async def _permitted(
        self, effect: str, place: str | None, target: UUID, kind: str, **more: Any
    ) -> None:
        values = {"status": "active", "valid_from": self.now - _DAY} | more
        await self.add(
            "permission_assignment",
            organization_id=self.organization,
            target_type=kind,
            target_id=target,
            permission=self.code,
            effect=effect,
            **_scope(place),
            **values,
        )

    async def _key(self, w: World) -> None:
        soon, past = self.now + _DAY, self.now - timedelta(seconds=1)
        await self.add(
            "api_key",
            id=self.key,
            organization_id=self.organization,
            hash=tokens.digest(self.key_text),
            name="Of a world",
            scopes=[self.code] if w["key_scope"] else ["bid:other:read"],
            environment="live",
            prefix="thk_live",
            last4=self.key_text[-4:],
            allowed_networks=["127.0.0.0/8"] if w["network"] else ["196.25.1.0/24"],
            status=w["key"],
            status_code=w["key_cause"] if w["key"] == "revoked" else None,
            expires_at=past if w["key_over"] else soon,
            sponsor_user_id=self.user,
            sponsor_state="present",
            grace_ends_at=past if w["grace_over"] else soon,
        )

    async def facts(self, host: Host, w: World) -> Facts | None:
        """What the gate's own statement reads of it."""
        asked: UUID | None = None
        if w["named"]:
            asked = self.organization if w["tenant"] else uuid4()
        if w["actor"] == "key":
            digest = tokens.digest(self.key_text)
            return await _statement.of_key(
                host, digest, organization_id=asked, permission=self.code, network="127.0.0.1"
            )
        if w["actor"] == "person" and w["session"] not in ("unknown", "not_there"):
            digest = tokens.digest(self.token)
            return await _statement.of_token(
                host, digest, organization_id=asked, permission=self.code
            )
        person = self.user if w["actor"] == "person" else None
        session = self.session if person and w["session"] == "unknown" else None
        kind = "user" if person else "service"
        (found,) = await _statement.of_known(host, [(kind, session, person, asked, self.code)])
        return found

    async def decided(self, host: Host, w: World) -> tuple[str, str | None, tuple[str, ...]]:
        """What is decided on the facts as they were read."""
        facts = await self.facts(host, w)
        assert facts is not None
        question = replace(worlds.question_of(w), organization_id=_asked(w, self.organization))
        policy = worlds.verdict_of("base")
        outcome = decide(facts, question, now=self.now, policy=policy)
        if outcome is ASK:
            outcome = decide(worlds.heard(facts, w), question, now=self.now, policy=policy)
        return worlds.told(outcome)


def _asked(w: World, organization: UUID) -> UUID | None:
    return organization if w["named"] else None


def _scope(place: str | None) -> dict[str, str | None]:
    if place is None:
        return {"scope_domain": None, "scope_type": None, "scope_id": None}
    domain, kind = TYPES[place].split(".")
    return {"scope_domain": domain, "scope_type": kind, "scope_id": place}
