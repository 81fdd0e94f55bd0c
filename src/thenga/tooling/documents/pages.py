"""The generated pages: a map of the endpoints, the lifecycles, and who reacts to what."""

import inspect
from collections.abc import Sequence
from pathlib import Path

from thenga.kernel.declare.event import Event
from thenga.kernel.declare.lifecycle import Lifecycle, Move, diagram
from thenga.kernel.declare.manifest import Domain
from thenga.kernel.events import catalogue
from thenga.kernel.http.document.operations import PREFIX, Operation, operations
from thenga.tooling.documents.effects import Reach

_MADE = "<!-- Made by `thenga docs`. Change the code, not this page. -->"


def map_page(domains: Sequence[Domain]) -> str:
    """Each endpoint with its function, its permission, its answers, and what it brings about."""
    every = operations(domains)
    lines = ["# Map", "", _MADE, "", f"{len(every)} operations, all under `{PREFIX}`."]
    for domain in domains:
        effects = reach(domain)
        lines += ["", f"## {domain.name}", ""]
        lines += ["| Operation | Function | Permission | Answers | Moves | Events |"]
        lines += ["|---|---|---|---|---|---|"]
        lines += [_row(one, effects) for one in every if one.domain is domain]
    return _text(lines)


def lifecycles_page(domains: Sequence[Domain]) -> str:
    """A diagram for each lifecycle, and under it the moves that have a guard."""
    lines = ["# Lifecycles", "", _MADE]
    for domain in domains:
        for lifecycle in domain.lifecycles:
            lines += ["", f"## {domain.name}: {_resource(lifecycle)}", ""]
            said = inspect.cleandoc(vars(lifecycle).get("__doc__") or "")
            lines += [said, ""] if said else []
            lines += ["```mermaid", diagram(lifecycle), "```"]
            guarded = [_guard(move) for move in lifecycle.moves.values() if move.guard is not None]
            lines += ["", "| Move | Guard |", "|---|---|", *guarded] if guarded else []
    return _text(lines)


def flows_page(domains: Sequence[Domain]) -> str:
    """Each event, and what other domains do because of it."""
    lines = ["# Flows", "", _MADE, "", "Fact, then reactions. Nothing else spans domains."]
    by_event = _by_event(domains)
    for domain in domains:
        drawn = [event for event in domain.events if event.type in by_event]
        lines += ["", f"## {domain.name}", ""]
        lines += _drawing(drawn, by_event)
        lines += ["| Event | What it says | Reactions |", "|---|---|---|"]
        for event in domain.events:
            known = by_event.get(event.type, [])
            answers = [f"`{where}.{name}`: {text}" for where, name, text in known]
            said = _line(catalogue.description(event))
            lines += [f"| `{event.type}` | {said} | {'<br>'.join(answers) or 'none'} |"]
    return _text(lines)


def reach(domain: Domain) -> Reach:
    """What the functions of a domain bring about."""
    return Reach(
        domain.home,
        events={event.__name__ for event in domain.events},
        moves={lifecycle.__name__: set(lifecycle.moves) for lifecycle in domain.lifecycles},
    )


def _row(one: Operation, reach: Reach) -> str:
    file = _file(one)
    module = ".".join(file.with_suffix("").parts).removeprefix("api.")
    effects = reach.of_route(module, one.name)
    answers = sorted({int(one.door.status_code or 200), *map(int, one.door.responses)})
    cells = [
        f"`{one.method} {one.path.removeprefix(PREFIX)}`",
        f"`{one.name}` in {file}",
        f"`{one.permission}`" if one.permission else "none",
        " ".join(str(status) for status in answers),
        ", ".join(effects.moves),
        ", ".join(effects.events),
    ]
    return f"| {' | '.join(cells)} |"


def _file(one: Operation) -> Path:
    """Where the function stands, seen from the folder of its domain."""
    path = Path(inspect.getsourcefile(one.function) or one.name)
    home = one.domain.home
    return path.relative_to(home) if path.is_relative_to(home) else Path(path.name)


def _resource(lifecycle: type[Lifecycle]) -> str:
    name = lifecycle.__name__.removesuffix("Lifecycle")
    return name if lifecycle.axis == "status" else f"{name} ({lifecycle.axis})"


def _guard(move: Move) -> str:
    guard = move.guard
    said = _line(inspect.getdoc(guard) or "") or getattr(guard, "__name__", "").replace("_", " ")
    return f"| `{move.verb}` | {said} |"


def _by_event(domains: Sequence[Domain]) -> dict[str, list[tuple[str, str, str]]]:
    found: dict[str, list[tuple[str, str, str]]] = {}
    for domain in domains:
        for kind, name, text in catalogue.reactions(domain):
            found.setdefault(kind, []).append((domain.name, name, _line(text)))
    return found


def _drawing(
    events: Sequence[type[Event]], by_event: dict[str, list[tuple[str, str, str]]]
) -> list[str]:
    if not events:
        return []
    lines = ["```mermaid", "flowchart LR"]
    for event in events:
        node = event.type.replace(".", "_")
        for domain, name, _ in by_event[event.type]:
            lines += [f"    {node}([{event.short_name()}]) --> {domain}_{name}[{domain}: {name}]"]
    return [*lines, "```", ""]


def _line(text: str) -> str:
    """The first paragraph in one line that a table can hold."""
    return " ".join(text.partition("\n\n")[0].split()).replace("|", "\\|")


def _text(lines: Sequence[str]) -> str:
    return "\n".join(lines).rstrip() + "\n"
