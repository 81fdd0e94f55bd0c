"""Settings of Identity: what an operator may change, with their defaults."""

import json
from pathlib import Path
from typing import Annotated

import cedarpy
from pydantic import AfterValidator, Field

from thenga.kernel.declare.setting import Setting

_SCHEMA = (Path(__file__).parent / "content" / "access.cedarschema").read_text()
_MOST_POLICIES = 200

MOST_KEYS = Setting(
    "identity.keys.most",
    Annotated[int, Field(ge=1, le=200)],
    25,
    "Active API keys that an organization can have",
)


def _only_forbids(text: str) -> str:
    """Refuse a text that permits anything, or that could err when it decides (IDN-37)."""
    policies = json.loads(cedarpy.policies_to_json_str(text))["staticPolicies"].values()
    if len(policies) > _MOST_POLICIES:
        raise ValueError(f"there are more than {_MOST_POLICIES} policies")
    for policy in policies:
        named = policy.get("annotations", {})
        if policy["effect"] != "forbid":
            raise ValueError("a policy permits; access policies only forbid")
        if not named.get("reason") or named.get("id", "base.").startswith("base."):
            raise ValueError("a policy has no `@id` of its own or no `@reason`")
    if not cedarpy.validate_policies(text, _SCHEMA).validation_passed:
        raise ValueError("a policy names what a decision does not have")
    return text


ACCESS = Setting(
    "identity.access",
    Annotated[str, Field(max_length=65_536), AfterValidator(_only_forbids)],
    "",
    "Access policies in Cedar, in addition to the built-in ones",
    kind="policy",
)

Origin = Annotated[str, Field(pattern=r"^https?://[^/\s]+$", max_length=255)]
PROVIDER_RETURN_ORIGINS: Setting[tuple[str, ...]] = Setting(
    "identity.provider.returnOrigins",
    Annotated[tuple[Origin, ...], Field(min_length=1)],
    ("https://app.thenga.example", "http://localhost:3000"),
    "Origins to which a person may return from an identity provider",
)

SETTINGS = (MOST_KEYS, ACCESS, PROVIDER_RETURN_ORIGINS)
