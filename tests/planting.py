"""Plants a bug in the product: a function is replaced wherever the product refers to it."""

import sys
from types import ModuleType
from typing import Any

import pytest


def plant(monkeypatch: pytest.MonkeyPatch, module: ModuleType, name: str, bug: Any) -> None:
    """Replace a function in its module and in every face that exports it, until the test ends."""
    original = getattr(module, name)
    monkeypatch.setattr(module, name, bug)
    for known in list(sys.modules.values()):
        if known.__name__.startswith("thenga.") and vars(known).get(name) is original:
            monkeypatch.setattr(known, name, bug)
