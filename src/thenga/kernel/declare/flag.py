"""Feature flags that a domain declares: on or off, asked by the port `administration.flags`."""

import re
from dataclasses import dataclass
from typing import Literal

_KEY = re.compile(r"[a-z][a-z0-9]*(\.[a-z][A-Za-z0-9_]*){1,4}")


@dataclass(frozen=True)
class DeclaredFlag:
    """One flag; its key begins with its domain. Administration has it from the deployment on."""

    key: str
    description: str
    purpose: Literal["release", "experiment", "operational"] = "release"

    def __post_init__(self) -> None:
        if not _KEY.fullmatch(self.key) or not self.description:
            raise TypeError(f"flag {self.key!r} needs a key like `bid.explainer` and a description")
