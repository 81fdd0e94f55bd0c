"""The generated pages say what the code says, and no schema that others rely on has changed."""

import ast
import json
from abc import abstractmethod
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.kernel.paper import SheetFolded, paper
from thenga import topology
from thenga.kernel.db.work import Work
from thenga.kernel.declare.manifest import Domain
from thenga.kernel.declare.port import Port
from thenga.kernel.declare.reaction import Reactions
from thenga.tooling.documents import pages, texts, writing
from thenga.tooling.documents.snapshots import Promised, bare, port_schemas, refuse_changes

DOCS = Path(__file__).resolve().parents[2] / "docs"


class Shelves(Port, name="paper.shelves"):
    @abstractmethod
    async def room(self, *, shelf: str, above: int = 0) -> int: ...


@pytest.fixture
def domain(tmp_path: Path) -> Domain:
    reactions = Reactions("paper")

    @reactions.on(SheetFolded)
    async def put_away(work: Work, event: SheetFolded) -> None:
        """What is folded is put away."""

    return replace(paper(tmp_path / "paper"), reactions=reactions, provides={Shelves: None})


def test_the_pages_are_what_the_code_says() -> None:
    differing = writing.stale(DOCS, topology.load(topology.DOMAINS))

    assert differing == [], "run `thenga docs`"


def test_pages_are_written_once_and_then_fresh(domain: Domain, tmp_path: Path) -> None:
    folder = tmp_path / "docs"
    first = writing.write(folder, [domain])

    assert len(first) == 8
    assert writing.stale(folder, [domain]) == []


def test_a_changed_schema_of_a_known_event_is_refused(domain: Domain, tmp_path: Path) -> None:
    writing.write(tmp_path, [domain])
    known = json.loads((tmp_path / writing.EVENTS).read_text())
    known["paper.SheetFolded.v1"]["properties"]["by"] = {"type": "string"}
    (tmp_path / writing.EVENTS).write_text(json.dumps(known))
    (tmp_path / "map.md").write_text("old")

    with pytest.raises(Promised, match=r"paper\.SheetFolded\.v1.*new version"):
        writing.write(tmp_path, [domain])

    assert (tmp_path / "map.md").read_text() == "old"


def test_a_new_event_is_accepted_by_writing(domain: Domain, tmp_path: Path) -> None:
    writing.write(tmp_path, [replace(domain, events=domain.events[:1])])

    differing = writing.stale(tmp_path, [domain])

    assert writing.EVENTS in differing
    assert writing.EVENTS in writing.write(tmp_path, [domain])


def test_prose_may_improve_but_a_field_named_like_prose_counts() -> None:
    before = {"description": "old", "properties": {"title": {"type": "string", "title": "Title"}}}

    assert bare(before) == {"properties": {"title": {"type": "string"}}}


def _with(change: dict[str, Any], required: list[str], known: dict[str, Any]) -> dict[str, Any]:
    changed: dict[str, Any] = json.loads(json.dumps(known))
    arguments = changed["paper.shelves.room"]["arguments"]["$defs"]["arguments"]
    arguments["properties"] |= change
    arguments["required"] += required
    return changed


def test_a_port_may_take_more_but_not_ask_for_more(domain: Domain) -> None:
    known = port_schemas([domain])
    more = {"below": {"type": "integer"}}

    refuse_changes(known, _with(more, [], known), file="x")

    with pytest.raises(Promised):
        refuse_changes(known, _with(more, ["below"], known), file="x")
    with pytest.raises(Promised):
        refuse_changes(known, _with({"above": {"type": "string"}}, [], known), file="x")


def test_the_map_tells_moves_and_events_through_services(domain: Domain) -> None:
    api, services = domain.home / "api", domain.home / "services" / "sheets"
    api.mkdir(parents=True)
    services.mkdir(parents=True)
    (services / "__init__.py").write_text(
        "from some.paper.services.sheets.folding import fold as fold_one\n"
    )
    (services / "folding.py").write_text(
        "async def fold(work, id):\n    SheetLifecycle.fold(row, at=work.now)\n    _tell(work)\n"
        "def _tell(work):\n    work.publish(public.SheetFolded.of(work))\n"
    )
    (api / "sheets.py").write_text(
        "from some.paper.services import sheets\n"
        "async def fold_sheet(work):\n    await sheets.fold_one(work, 1)\n"
    )
    reach = pages.reach(domain)

    effects = reach.of_route("sheets", "fold_sheet")

    assert (effects.moves, effects.events) == (["Sheet.fold"], ["SheetFolded"])
    assert reach.of_route("sheets", "read_sheet").events == []


def test_the_map_follows_routes_in_rooms(domain: Domain) -> None:
    room = domain.home / "api" / "press"
    room.mkdir(parents=True)
    (room / "sheets.py").write_text(
        "async def fold_sheet(work):\n    work.publish(public.SheetFolded.of(work))\n"
    )
    reach = pages.reach(domain)

    assert reach.of_route("press.sheets", "fold_sheet").events == ["SheetFolded"]
    assert reach.of_route("press", "fold_sheet").events == []


def test_the_map_lists_each_operation(domain: Domain) -> None:
    page = pages.map_page([domain])

    assert "4 operations" in page
    assert "| `POST /paper/sheets` | `write_sheet` in paper.py | `paper:sheet:write` | 201" in page


def test_lifecycles_and_flows_are_drawn(domain: Domain) -> None:
    assert "    flat --> folded: fold" in pages.lifecycles_page([domain])
    flows = pages.flows_page([domain])
    assert "paper_SheetFolded_v1([SheetFolded]) --> paper_put_away[paper: put_away]" in flows
    assert "| `paper.SheetFolded.v1` | A sheet is folded now. | `paper.put_away`: What" in flows


def test_texts_are_found_in_the_source() -> None:
    source = """
class Torn(Problem):
    "The sheet is torn. Take another."
    title = "This sheet is torn"

def fold(sheet):
    "Fold it once."
    sheet.note("This was folded.")
    raise Torn(f"Sheet {sheet.number} is torn. Take another.", hint="not a sentence")

colour: str = Field(description="Colour of the paper.")
"""

    assert [*texts.sentences(ast.parse(source))] == [
        "This was folded.",
        "Sheet {sheet.number} is torn. Take another.",
    ]


def test_the_texts_name_problems_and_descriptions(domain: Domain) -> None:
    page = texts.texts_page([domain])

    assert "— `401 token-expired`" in page
    assert "## kernel: Details" in page
    assert "## paper: Operations" in page
