"""compose.yaml as an engine reads it: its services with the variables of a `.env` filled in."""

import re
from functools import cache
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).resolve().parents[1]
OURS = ("nats-config", "migrate", "api", "worker")


class Missing(LookupError):
    """A required variable is not set."""


@cache
def compose() -> dict[str, Any]:
    made: dict[str, Any] = yaml.safe_load((ROOT / "compose.yaml").read_text())
    return made


def services() -> dict[str, Any]:
    made: dict[str, Any] = compose()["services"]
    return made


def given(env_file: str) -> dict[str, str]:
    """The variables of a `.env`."""
    lines = [line.partition("=") for line in env_file.splitlines() if re.match(r"\w+=", line)]
    return {name: value for name, _, value in lines}


def environment(service: str, variables: dict[str, str]) -> dict[str, str]:
    """What the process of a service is given."""
    declared: dict[str, str] = services()[service].get("environment", {})
    return {name: filled(value, variables) for name, value in declared.items()}


def command(service: str, variables: dict[str, str]) -> list[str]:
    return [filled(part, variables) for part in services()[service]["command"]]


def filled(text: str, variables: dict[str, str]) -> str:
    """A text with its variables: `${NAME:?}` must be set, `${NAME:-default}` need not be."""

    def value(match: re.Match[str]) -> str:
        name, kind, default = match.groups()
        if variables.get(name):
            return variables[name]
        if kind == ":?":
            raise Missing(name)
        return str(default)

    return re.sub(r"\$\{(\w+)(:\?|:-)([^}]*)\}", value, text)
