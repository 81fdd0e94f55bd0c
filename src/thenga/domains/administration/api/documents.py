"""JSON documents that callers send: any JSON up to 64 KiB. Their own type is checked later."""

from typing import Annotated, Any

import rfc8785
from pydantic import AfterValidator

_MOST_BYTES = 64 * 1024


def _bounded(value: Any) -> Any:
    # The messages never repeat the value (ADM-8).
    try:
        text = rfc8785.dumps(value)
    except rfc8785.CanonicalizationError:
        raise ValueError(
            "Use JSON with valid Unicode text, finite numbers and integers below 2^53."
        ) from None
    if len(text) > _MOST_BYTES:
        raise ValueError("Use at most 64 KiB.")
    if b"\\u0000" in text:
        raise ValueError("Remove the character U+0000.")
    return value


JsonDocument = Annotated[Any, AfterValidator(_bounded)]
