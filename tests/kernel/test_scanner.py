"""What the scanner's answers mean; with a real one in tests/suites/test_file_contents.py."""

import pytest

from thenga.kernel.errors import DependencyUnavailable
from thenga.kernel.files import scanner
from thenga.kernel.files.scanner import Outcome


@pytest.mark.parametrize(
    ("answer", "outcome"),
    [
        (b"stream: OK\0", Outcome.CLEAN),
        (b"stream: Win.Test.EICAR_HDB-1 FOUND\0", Outcome.INFECTED),
        (b"stream: Heuristics.Limits.Exceeded.MaxFileSize FOUND\0", Outcome.UNSCANNABLE),
        (b"stream: Heuristics.Encrypted.Zip FOUND\0", Outcome.UNSCANNABLE),
        (b"INSTREAM size limit exceeded. ERROR\0", Outcome.UNSCANNABLE),
    ],
)
def test_only_a_plain_ok_is_clean(answer: bytes, outcome: Outcome) -> None:
    assert scanner._read_verdict(answer).outcome is outcome


@pytest.mark.parametrize("answer", [b"\0", b"stream: OK FOUND?\0", b"PONG\0", b"stream: \xff\0"])
def test_an_unknown_answer_is_no_verdict(answer: bytes) -> None:
    with pytest.raises(DependencyUnavailable):
        scanner._read_verdict(answer)
