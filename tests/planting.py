"""Plants a bug in the product: a function is replaced wherever the product refers to it."""

import asyncio
import sys
from collections.abc import Awaitable, Callable
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


def together(count: int) -> Callable[[], Awaitable[None]]:
    """What a planted race calls between looking and acting: nobody acts before so many looked.

    However slow the machine is, they meet. Whoever comes later passes.
    """
    looked, all_looked = 0, asyncio.Event()

    async def wait() -> None:
        nonlocal looked
        looked += 1
        if looked >= count:
            all_looked.set()
        async with asyncio.timeout(60):
            await all_looked.wait()

    return wait
