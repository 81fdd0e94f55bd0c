"""What tells records apart: the content hash (OPP-5) and the tender number (OPP-14).

Tender numbers have no national format and are unique per buyer at best, so they are never a key.
"""

import re
from collections.abc import Mapping
from hashlib import sha256
from typing import Any
from unicodedata import normalize

import rfc8785

_FRAME = ("id", "date")  # the publisher renews both every day, whatever the tender says
_RUNS = re.compile(r"[^\W\d_]+|\d+")
_SEPARATORS = re.compile(r"^[\s:;,.|/\\_\u2013\u2014-]+")


def content_hash(release: Mapping[str, Any]) -> str:
    """SHA-256 of the RFC 8785 form of a release, without `id` and `date`."""
    content = {name: value for name, value in release.items() if name not in _FRAME}
    return sha256(rfc8785.dumps(content)).hexdigest()


def number_key(number: str) -> str:
    """The searchable form of a tender number: `SCM 045/2026` and `SCM45/2026` are the same."""
    runs = _RUNS.findall(normalize("NFKC", number).upper())
    return "-".join(run.lstrip("0") or "0" if run.isdigit() else run for run in runs)


def cut_number(title: str, number: str) -> str | None:
    """The title without the number it begins with; None if it does not begin with it."""
    written = re.escape(number).replace(r"\ ", r"\s*")
    rest = re.sub(rf"^\s*{written}(?!\w)", "", title, count=1, flags=re.IGNORECASE)
    if rest == title:
        return None
    return _SEPARATORS.sub("", rest).strip() or None
