"""Descriptions by name fill what the models leave out, and no entry is left over."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from tests.kernel.paper import paper
from thenga import topology
from thenga.kernel.http.document import glossary
from thenga.kernel.http.document.openapi import document
from thenga.kernel.http.document.operations import mounted, operations


def test_every_entry_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    domains = topology.load(topology.DOMAINS)
    used: set[glossary.Key] = set()
    describe = glossary.describe
    monkeypatch.setattr(glossary, "describe", lambda made, all_: used.update(describe(made, all_)))

    document(mounted(domains).routes, domains)

    assert glossary.entries(domains) - used == set()


def test_the_nearest_description_wins(tmp_path: Path) -> None:
    domain = replace(paper(tmp_path / "paper"), home=tmp_path / "paper")
    file = domain.home / "content" / "descriptions.json"
    file.parent.mkdir(parents=True)
    fields = {"Sheet.size": "Size of the sheet.", "size": "Size.", "colour": "Colour."}
    file.write_text(json.dumps({"fields": fields}))
    properties = {"size": {}, "colour": {"description": "Its own."}, "createdAt": {}}
    listed = operations([domain])[:1]
    path, method = listed[0].path, listed[0].method.lower()
    operation = {"operationId": "x", "schema": {"$ref": "#/components/schemas/Sheet"}}
    made = {
        "components": {"schemas": {"Sheet": {"properties": properties}}},
        "paths": {path: {method: operation}},
    }

    glossary.describe(made, listed)

    assert {name: part["description"] for name, part in properties.items()} == {
        "size": "Size of the sheet.",
        "colour": "Its own.",
        "createdAt": "Time of creation.",
    }
