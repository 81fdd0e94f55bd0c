"""What a flag evaluates to: a pure function of its rollout and the caller (ADM-12 to ADM-14)."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any, Literal
from uuid import UUID

from pydantic import JsonValue

from thenga.domains.administration.public import FlagResult

Mode = Literal["off", "percentage", "targeted", "on"]
Stickiness = Literal["organization", "user", "targeting_key"]
_BUCKETS = 10_000


@dataclass(frozen=True, slots=True)
class Targets:
    """Organizations, plans and people of a rollout."""

    organization_ids: frozenset[UUID] = frozenset()
    plan_codes: frozenset[str] = frozenset()
    user_ids: frozenset[UUID] = frozenset()

    @classmethod
    def of_row(cls, stored: Mapping[str, Any]) -> "Targets":
        """The targets of a JSON column."""
        return cls(
            frozenset(UUID(one) for one in stored.get("organizationIds", ())),
            frozenset(stored.get("planCodes", ())),
            frozenset(UUID(one) for one in stored.get("userIds", ())),
        )

    def to_row(self) -> dict[str, Any]:
        """The JSON of the column; kinds without a target are left out."""
        named = {
            "organizationIds": sorted(str(one) for one in self.organization_ids),
            "planCodes": sorted(self.plan_codes),
            "userIds": sorted(str(one) for one in self.user_ids),
        }
        return {name: values for name, values in named.items() if values}

    def __bool__(self) -> bool:
        return bool(self.organization_ids or self.plan_codes or self.user_ids)

    def match(self, caller: "Caller") -> bool:
        return (
            caller.organization_id in self.organization_ids
            or caller.plan_code in self.plan_codes
            or caller.user_id in self.user_ids
        )


@dataclass(frozen=True, slots=True)
class Rollout:
    """How far a flag is switched on."""

    mode: Mode = "off"
    percentage: Decimal = Decimal(0)
    include: Targets = field(default_factory=Targets)
    exclude: Targets = field(default_factory=Targets)


@dataclass(frozen=True, slots=True)
class Flag:
    """A flag with its variants and the rollout that applies."""

    key: str
    variants: dict[str, JsonValue]
    on_variant: str
    off_variant: str
    rollout: Rollout
    stickiness: Stickiness = "organization"
    salt: str = "1"


@dataclass(frozen=True, slots=True)
class Caller:
    """For whom a flag is evaluated, as Identity and Billing know them."""

    organization_id: UUID
    user_id: UUID | None = None
    plan_code: str | None = None
    targeting_key: str | None = None


def bucket(key: str, salt: str, subject: str) -> int:
    """A number from 0 to 9,999 that stays the same for a subject, whatever the percentage."""
    digest = hashlib.sha256(f"{key}:{salt}:{subject}".encode()).digest()
    return int.from_bytes(digest[:8], "big") % _BUCKETS


def evaluate(flag: Flag, caller: Caller) -> FlagResult:
    """The variant of this caller, with the steps that led to it."""
    rollout = flag.rollout
    if rollout.exclude.match(caller):
        return _off(flag, "TARGETING_MATCH", ["excluded"])
    if rollout.include.match(caller):
        return _on(flag, "TARGETING_MATCH", ["excluded: no", "included"])
    asked = ["excluded: no", "included: no"]
    match rollout.mode:
        case "on":
            return _on(flag, "STATIC", [*asked, "on for everybody"])
        case "off":
            return _off(flag, "DISABLED", [*asked, "off for everybody"])
        case "targeted":
            return _off(flag, "STATIC", [*asked, "no target matched"])
        case "percentage":
            return _split(flag, caller, asked)


def _split(flag: Flag, caller: Caller, asked: list[str]) -> FlagResult:
    subject = _subject(flag, caller)
    if subject is None:
        return _off(flag, "STATIC", [*asked, f"the caller has no {flag.stickiness}"])
    found, bound = bucket(flag.key, flag.salt, subject), int(flag.rollout.percentage * 100)
    trace = [*asked, f"bucket {found} of {bound}"]
    return _on(flag, "SPLIT", trace) if found < bound else _off(flag, "SPLIT", trace)


def _subject(flag: Flag, caller: Caller) -> str | None:
    match flag.stickiness:
        case "organization":
            return str(caller.organization_id)
        case "user":
            return str(caller.user_id) if caller.user_id else None
        case "targeting_key":
            return caller.targeting_key


def _on(
    flag: Flag, reason: Literal["TARGETING_MATCH", "STATIC", "SPLIT"], trace: list[str]
) -> FlagResult:
    name = flag.on_variant
    return FlagResult(value=flag.variants[name], variant=name, reason=reason, trace=trace)


def _off(
    flag: Flag, reason: Literal["TARGETING_MATCH", "STATIC", "DISABLED", "SPLIT"], trace: list[str]
) -> FlagResult:
    name = flag.off_variant
    return FlagResult(value=flag.variants[name], variant=name, reason=reason, trace=trace)
