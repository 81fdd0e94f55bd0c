"""Setting checks: asks the domain that declares a setting whether its type takes a value.

Administration asks the port `<domain>.settings` before it stores a version. The same check runs
again where the version is applied (`kernel/db/configuration.py`), so the two cannot differ.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from functools import cache
from typing import Any

from pydantic import BaseModel, ConfigDict, JsonValue, ValidationError

from thenga.kernel.declare.port import Port, idempotent, port_of
from thenga.kernel.declare.setting import Setting
from thenga.kernel.ports.binding import answered_by
from thenga.kernel.process.host import Host


class SettingFault(BaseModel):
    """What is wrong with a value: where, and the kind of error; never the value (ADM-8)."""

    model_config = ConfigDict(frozen=True)

    pointer: str
    code: str


class CheckedSetting(BaseModel):
    """The value as it is stored, or what is wrong with it."""

    model_config = ConfigDict(frozen=True)

    value: JsonValue = None
    faults: list[SettingFault] = []


class SettingChecks(ABC):
    """Checks values of one domain's settings; silence: the change has to wait."""

    @abstractmethod
    @idempotent
    async def check(self, *, key: str, kind: str, text: str) -> CheckedSetting:
        """Check a JSON text by the type of the setting."""


@cache
def setting_checks_of(domain: str) -> type[Port]:
    """The port by which a domain checks values of its settings."""
    return port_of(SettingChecks, name=f"{domain}.settings", timeout=0.8)


def local_setting_checks(host: Host, domain: str, settings: Sequence[Setting[Any]]) -> Port:
    """The checks of a domain of this process."""
    return answered_by(setting_checks_of(domain), _Local(settings))


class _Local(SettingChecks):
    def __init__(self, settings: Sequence[Setting[Any]]) -> None:
        self._settings: dict[tuple[str, str], Setting[Any]] = {
            (one.key, one.kind): one for one in settings
        }

    async def check(self, *, key: str, kind: str, text: str) -> CheckedSetting:
        setting = self._settings.get((key, kind))
        if setting is None:
            return CheckedSetting(faults=[SettingFault(pointer="", code="unknown_key")])
        try:
            return CheckedSetting(value=setting.to_json(setting.parse(text)))
        except ValidationError as error:
            return CheckedSetting(faults=_faults(error))


def _faults(error: ValidationError) -> list[SettingFault]:
    found = error.errors(include_url=False, include_context=False, include_input=False)
    return [
        SettingFault(pointer="".join(f"/{part}" for part in one["loc"]), code=one["type"])
        for one in found[:20]
    ]
