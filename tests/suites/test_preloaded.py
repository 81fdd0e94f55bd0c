"""Forked processes are ended one by one, and what they used is counted."""

import asyncio
import socket
import sys
from pathlib import Path

from tests import records
from tests.suites.processes import Child
from thenga.tooling.dev.processes import free_ports


def answers(port: int) -> bool:
    with socket.socket() as asking:
        return asking.connect_ex(("127.0.0.1", port)) == 0


async def test_who_is_killed_is_who_was_meant(tmp_path: Path) -> None:
    ports = free_ports(4)
    started = [Child(f"web-{port}", _web(port), {}, tmp_path, fresh=False) for port in ports]
    before = records.cpu()

    started[0].begin()
    await asyncio.gather(*(asyncio.to_thread(one.begin) for one in started[1:]))
    for one, port in zip(started, ports, strict=True):
        await asyncio.to_thread(one.await_ready, lambda port=port: answers(port), 30)
    for number, one in enumerate(started):
        one.kill()
        assert [answers(port) for port in ports] == [place > number for place in range(4)]

    assert records.cpu() > before


def _web(port: int) -> list[str]:
    return [sys.executable, "-m", "http.server", str(port), "--bind", "127.0.0.1"]
