"""`.env`, the settings of an installation: `.env.example` with fresh secrets in it."""

import re
import secrets
from pathlib import Path

# Each is a key of 32 bytes in hex, and stands empty in `.env.example`.
FRESH = (
    "THENGA_SEALING_KEY",
    "THENGA_LOOKUP_KEY",
    "THENGA_INTERNAL_SECRET",
    "THENGA_DATABASE_SECRET",
    "THENGA_SYSTEM_DATABASE_SECRET",
    "THENGA_NATS_SECRET",
    "THENGA_ADMIN_PASSWORD",
    "THENGA_REDIS_PASSWORD",
)


def filled(example: str) -> str:
    """The example with a value for each secret that we make ourselves."""
    text = example
    for name in FRESH:
        text, count = re.subn(rf"(?m)^{name}=$", f"{name}={secrets.token_hex(32)}", text)
        if count != 1:
            raise LookupError(f"{name}= stands {count} times in the example")
    return text


def write(path: Path, example: str) -> None:
    """Write a new file for its owner's eyes; one that is there is never overwritten."""
    text = filled(example)
    path.touch(mode=0o600, exist_ok=False)
    path.write_text(text)
