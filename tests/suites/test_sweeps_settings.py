"""Every setting that a domain reads is declared in its manifest, and every declared one is read."""

import ast
import importlib
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from tests.suites import unread_setting
from thenga import topology
from thenga.domains.billing import settings as billing
from thenga.kernel.db import configuration
from thenga.kernel.db.configuration import row_of
from thenga.kernel.declare import law
from thenga.kernel.declare.manifest import Domain
from thenga.kernel.declare.setting import Setting
from thenga.kernel.process.host import Host

DOMAINS = topology.load(topology.DOMAINS)
_READERS = (configuration.value, configuration.in_force)


def reads(module: ModuleType) -> Iterator[tuple[str, object]]:
    """Each place where a module reads a setting, and what it names there."""
    tree = ast.parse(Path(str(module.__file__)).read_text())
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and _named(module, node.func) in _READERS:
            place = f"{module.__name__}:{node.lineno}"
            yield place, _named(module, node.args[1]) if len(node.args) > 1 else None


def _named(module: ModuleType, node: ast.expr) -> object:
    """What a dotted name of a module stands for; None for anything else."""
    if isinstance(node, ast.Name):
        return getattr(module, node.id, None)
    if isinstance(node, ast.Attribute):
        return getattr(_named(module, node.value), node.attr, None)
    return None


def faults_of(domain: Domain, modules: Sequence[ModuleType]) -> list[str]:
    """Reads of what the domain does not declare, and settings that it never reads."""
    found = [read for module in modules for read in reads(module)]
    undeclared = [
        f"{place}: reads {getattr(named, 'key', 'a setting that is not named there')}"
        for place, named in found
        if named not in domain.settings
    ]
    named = [setting for _, setting in found]
    idle = [f"{one.key}: is never read" for one in domain.settings if one not in named]
    return undeclared + idle


def modules_of(domain: Domain) -> list[ModuleType]:
    package = f"thenga.domains.{domain.name}"
    paths = [path for path in domain.home.rglob("*.py") if "migrations" not in path.parts]
    dotted = [path.relative_to(domain.home).with_suffix("").parts for path in paths]
    names = [".".join((package, *(part for part in one if part != "__init__"))) for one in dotted]
    return [importlib.import_module(name) for name in sorted(names)]


async def kept_undeclared(host: Host, domain: Domain) -> list[str]:
    """Keys of versions that were applied and that the domain does not declare."""
    declared = [setting.key for setting in domain.settings]
    async with host.engines.connection(domain.name, f"{domain.name}_system") as connection:
        rows = await connection.fetch(
            f"SELECT DISTINCT key FROM {row_of(domain.name).__table__.fullname} "
            f"WHERE refusal_code IS NULL AND key <> ALL ($1)",
            declared,
        )
    return [f"{domain.name}: keeps {row['key']}" for row in rows]


async def test_every_setting_that_is_read_is_declared(host: Host, seeded: None) -> None:
    settings: list[Setting[Any]] = [one for domain in DOMAINS for one in domain.settings]
    faults = []
    for domain in DOMAINS:
        faults += faults_of(domain, modules_of(domain)) + await kept_undeclared(host, domain)

    print(f"settings={len(settings)} undeclared={len(faults)}")
    assert faults == []


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        ((billing.TRIAL,), "reads law.vat.rate"),
        ((law.VAT_RATE, billing.TRIAL, billing.PAUSE), "billing.pause: is never read"),
    ],
)
def test_a_planted_setting_is_found(settings: tuple[Setting[Any], ...], told: str) -> None:
    (domain,) = (one for one in DOMAINS if one.name == "billing")
    planted = replace(domain, settings=settings)

    faults = faults_of(planted, [unread_setting])

    assert [fault for fault in faults if told in fault]
    assert [fault for fault in faults if "a setting that is not named there" in fault]


async def test_a_planted_key_is_found(host: Host, seeded: None) -> None:
    (domain,) = (one for one in DOMAINS if one.name == "organization")

    # The tests' own version of the bound on organizations is kept in every run.
    found = await kept_undeclared(host, replace(domain, settings=()))

    assert found == ["organization: keeps organization.perUser.max"]
