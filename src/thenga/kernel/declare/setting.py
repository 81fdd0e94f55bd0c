"""Settings: the values of a domain that an operator may change, each declared with its type.

A domain lists its settings in its manifest. Administration shows them, has a change approved and
publishes it; `kernel/db/configuration.py` stores it in the domain's own schema and reads it again.
"""

import re
from dataclasses import dataclass
from datetime import date, datetime
from functools import cached_property
from typing import Any, Generic, Literal, TypeVar
from uuid import UUID

from pydantic import BaseModel, ConfigDict, TypeAdapter
from pydantic.alias_generators import to_camel

from thenga.kernel.declare.event import Event
from thenga.kernel.values.calendar import local_midnight

T = TypeVar("T")

LAW = "law"  # the first part of keys that several domains share
_KEY = re.compile(r"[a-z][a-z0-9]*(\.[a-z][A-Za-z0-9_]*){1,4}")
_SECRET = re.compile(r"secret|password|token|apikey", re.IGNORECASE)


class SettingModel(BaseModel):
    """A setting of several fields; its JSON has camel case names and no others."""

    model_config = ConfigDict(
        frozen=True, extra="forbid", alias_generator=to_camel, populate_by_name=True
    )


@dataclass(frozen=True, slots=True)
class InForce(Generic[T]):
    """The value in force at an instant; number 0 is the default in the code."""

    value: T
    number: int = 0
    since: datetime | None = None  # a default without a date has always been in force


@dataclass(frozen=True, eq=False)
class Setting(Generic[T]):
    """One setting: its key begins with its domain, or with `law` where several domains share it.

    `since` holds later defaults with the local day on which each took effect, for values that the
    law has changed. A wrong declaration stops the start of the process (ADM-7).
    """

    key: str
    type: Any  # anything that pydantic can check
    default: T
    title: str
    approval: Literal["second_person", "none"] = "second_person"
    kind: Literal["configuration", "policy"] = "configuration"
    since: tuple[tuple[date, T], ...] = ()

    def __post_init__(self) -> None:
        if not _KEY.fullmatch(self.key) or not self.title:
            raise TypeError(f"setting {self.key!r} needs a key like `bid.price.floor` and a title")
        if _SECRET.search(self.key):
            raise TypeError(f"setting {self.key!r} is named like a secret; use an integration")
        if not self._adapter.json_schema():
            raise TypeError(f"setting {self.key!r} has a type that checks nothing")
        for default in (self.default, *(value for _, value in self.since)):
            self.parse(self._adapter.dump_json(default, by_alias=True, warnings=False))

    @property
    def domain(self) -> str:
        return self.key.split(".")[0]

    def schema(self) -> dict[str, Any]:
        """The JSON Schema of its values."""
        return self._adapter.json_schema(by_alias=True)

    def parse(self, text: str | bytes) -> T:
        """The value of a JSON text; raises `ValidationError` where the type refuses it."""
        parsed: T = self._adapter.validate_json(text, strict=True)
        return parsed

    def to_json(self, value: T) -> Any:
        """The value as it is stored."""
        return self._adapter.dump_python(value, mode="json", by_alias=True)

    def load(self, stored: Any) -> T:
        """The value that `to_json` has made."""
        loaded: T = self._adapter.validate_python(stored)
        return loaded

    def built_in(self, at: datetime) -> InForce[T]:
        """The default of the code at an instant."""
        reached = [one for one in self.since if local_midnight(one[0]) <= at]
        if not reached:
            return InForce(self.default)
        day, value = max(reached, key=lambda one: one[0])
        return InForce(value, since=local_midnight(day))

    @cached_property
    def _adapter(self) -> TypeAdapter[Any]:
        return TypeAdapter(self.type)


class Acknowledged(Event):
    """The answer of a domain to a change that Administration published; declared in each `public`
    as `PolicyAcknowledged`."""

    config_id: UUID
    policy_key: str
    number: int
    outcome: Literal["applied", "refused"]
    refusal_code: str | None = None
