"""A setting that one domain reads from the environment, such as the key of its provider."""

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Variable:
    """`THENGA_<NAME>_<DOMAIN>`; listed in the manifest, read by `Settings.of_domain`."""

    name: str
    description: str
    is_secret: bool = False  # may be several, comma separated; weak ones are refused (SEC-62)
    # What is wrong with a value in production, also with none; `None` is right.
    fault: Callable[[str], str | None] | None = None

    def setting(self, domain: str) -> str:
        return f"THENGA_{self.name}_{domain}".upper()
