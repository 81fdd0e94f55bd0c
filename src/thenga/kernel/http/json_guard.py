"""The JSON guard: bodies that parsers could read in two ways are refused.

`read_json` is the one parse of a body; what it gives goes straight to the models.
"""

import json
import math
import re
from itertools import accumulate
from typing import Never

from thenga.kernel.errors import MalformedRequest

_LONGEST_INTEGER = 40  # digits

# The closing quote is optional, so an open string is consumed at once and not tried again from
# each escaped quote inside it, which would take quadratic time.
_STRING = re.compile(rb'"(?:[^"\\]++|\\.)*+"?', re.DOTALL)
_NOT_BRACKETS = bytes(set(range(256)) - set(b"[]{}"))
_STEP = [1 if byte in b"[{" else -1 for byte in range(256)]

# Only an escape can bring a surrogate in, because surrogates are not UTF-8.
_SURROGATE_ESCAPE = re.compile(rb"\\u[dD][89a-fA-F]")


def read_json(body: bytes, *, max_depth: int = 32) -> object:
    """The document in the body, or `MalformedRequest` where it has no single meaning."""
    _check_depth(body, max_depth)
    try:
        value: object = _DECODER.decode(body.decode("utf-8"))
    except UnicodeDecodeError:
        raise MalformedRequest("The body is not UTF-8.") from None
    except json.JSONDecodeError as error:
        where = f"line {error.lineno}, column {error.colno}"
        raise MalformedRequest(f"The body is not valid JSON: parsing stopped at {where}.") from None
    if _SURROGATE_ESCAPE.search(body):
        _check_surrogates(value)
    return value


def _check_depth(body: bytes, max_depth: int) -> None:
    # Most bodies hold so few brackets that they cannot be too deep, and need no scan.
    if body.count(b"[") + body.count(b"{") <= max_depth:
        return
    brackets = _outside_strings(body).translate(None, _NOT_BRACKETS)
    if max(accumulate(map(_STEP.__getitem__, brackets)), default=0) > max_depth:
        raise MalformedRequest(f"The body is nested more than {max_depth} levels deep.")


def _outside_strings(body: bytes) -> bytes:
    # Without an escape every quote opens or closes a string, which a plain split finds sooner.
    if b"\\" not in body:
        return b"".join(body.split(b'"')[::2])
    return _STRING.sub(b"", body)


def _check_surrogates(value: object) -> None:
    try:
        json.dumps(value, ensure_ascii=False).encode("utf-8")
    except UnicodeEncodeError:
        raise MalformedRequest("A string contains half of a surrogate pair.") from None


def _object(pairs: list[tuple[str, object]]) -> dict[str, object]:
    members = dict(pairs)
    if len(members) != len(pairs):
        raise MalformedRequest("An object contains the same name twice.")
    return members


def _integer(text: str) -> int:
    if len(text) > _LONGEST_INTEGER and len(text.lstrip("-")) > _LONGEST_INTEGER:
        raise MalformedRequest(f"An integer has more than {_LONGEST_INTEGER} digits.")
    return int(text)


def _float(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise MalformedRequest("A number is too large.")
    return number


def _constant(_: str) -> Never:
    raise MalformedRequest("NaN and Infinity are not valid JSON.")


_DECODER = json.JSONDecoder(
    object_pairs_hook=_object, parse_int=_integer, parse_float=_float, parse_constant=_constant
)
