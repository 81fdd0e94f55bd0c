"""The fuzz walk sends again what was drawn, while an operation is described alike."""

from copy import deepcopy
from pathlib import Path
from typing import Any

import schemathesis

from tests.documented import whole_document
from tests.suites import corpus
from tests.suites.corpus import WAYS, Corpus

NAME = "add_equipment"


def _operation(document: dict[str, Any]) -> Any:
    (found,) = corpus.described(schemathesis.openapi.from_dict(document), NAME.__eq__)
    return found


def _sent(cases: list[Any]) -> list[Any]:
    return [(one.query, one.body, dict(one.headers), one.meta.generation.mode) for one in cases]


def test_stored_cases_are_those_that_were_drawn(tmp_path: Path) -> None:
    corpus.write(tmp_path, NAME.__eq__)
    operation = _operation(whole_document())

    stored = Corpus(tmp_path).cases(operation)

    assert stored is not None
    for way in WAYS:
        drawn = corpus.drawn(operation, way, corpus.EXAMPLES // 4)
        assert _sent(stored[way]) == _sent(drawn), str(way)
    print(f"stored_cases={sum(map(len, stored.values()))}")


def test_a_planted_field_makes_the_stored_cases_unfit() -> None:
    document = deepcopy(whole_document())
    body = document["paths"]["/v1/organizations/{organizationId}/equipment"]["post"]["requestBody"]
    schema = body["content"]["application/json"]["schema"]["$ref"].rpartition("/")[2]
    before = corpus.fingerprint(_operation(document))

    document["components"]["schemas"][schema]["properties"]["planted"] = {"type": "string"}

    assert corpus.fingerprint(_operation(document)) != before
    assert Corpus().cases(_operation(document)) is None


def test_other_words_leave_the_stored_cases_fit() -> None:
    document = deepcopy(whole_document())
    before = corpus.fingerprint(_operation(document))

    document["paths"]["/v1/organizations/{organizationId}/equipment"]["post"]["summary"] = "Other"

    assert corpus.fingerprint(_operation(document)) == before
