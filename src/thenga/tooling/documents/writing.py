"""Writes the generated pages, or tells which of them are no longer what the code says."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from thenga.kernel.declare.manifest import Domain
from thenga.tooling.documents import pages, settings, snapshots, texts

EVENTS = Path("schemas/events.json")
PORTS = Path("schemas/ports.json")
TEXTS = Path("texts.md")
ENV_EXAMPLE = Path("../.env.example")


def made(domains: Sequence[Domain]) -> dict[Path, str]:
    """Every generated file by its path inside `docs/`."""
    return {
        Path("map.md"): pages.map_page(domains),
        Path("lifecycles.md"): pages.lifecycles_page(domains),
        Path("flows.md"): pages.flows_page(domains),
        TEXTS: texts.texts_page(domains),
        Path("settings.md"): settings.settings_page(domains),
        ENV_EXAMPLE: settings.env_example(domains),
        EVENTS: _json(snapshots.event_schemas(domains)),
        PORTS: _json(snapshots.port_schemas(domains)),
    }


def stale(folder: Path, domains: Sequence[Domain]) -> list[Path]:
    """The files that differ from the code; raises `Promised` if a kept schema would change."""
    return _differing(folder, made(domains))


def write(folder: Path, domains: Sequence[Domain]) -> list[Path]:
    """Write what differs, and say which; nothing is written if a kept schema would change."""
    files = made(domains)
    differing = _differing(folder, files)
    for path in differing:
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(files[path])
    return differing


def _differing(folder: Path, files: dict[Path, str]) -> list[Path]:
    _refuse_changes(folder, files)
    return [path for path, text in files.items() if _read(folder / path) != text]


def _refuse_changes(folder: Path, files: dict[Path, str]) -> None:
    for path in (EVENTS, PORTS):
        known = json.loads(_read(folder / path) or "{}")
        snapshots.refuse_changes(known, json.loads(files[path]), file=f"docs/{path}")


def _read(path: Path) -> str | None:
    return path.read_text() if path.exists() else None


def _json(value: dict[str, Any]) -> str:
    return json.dumps(value, indent=2, sort_keys=True, ensure_ascii=False) + "\n"
