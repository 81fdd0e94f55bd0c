"""The page of all settings and `.env.example`, from the fields of `Settings` and the manifests."""

import re
import textwrap
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple, get_args

from pydantic import SecretStr
from pydantic.fields import FieldInfo

from thenga.kernel.declare.manifest import Domain
from thenga.kernel.process.settings import GROUPS, PER_DOMAIN, PREFIX, Settings
from thenga.tooling import env_file

_COMPOSE = Path(__file__).resolve().parents[4] / "compose.yaml"
_MADE = "<!-- Made by `thenga docs`. Change the code, not this page. -->"
_FRESH = "`thenga secrets` makes it."
# Read by compose.yaml alone.
OF_COMPOSE = {
    "THENGA_ADMIN_PASSWORD": "Password of PostgreSQL's administrator.",
    "THENGA_REDIS_PASSWORD": "Password of Redis.",
}
_PAGE_HEAD = f"""\
# Settings

{_MADE}

A process reads its settings from its environment, then from the file `env` of the folder of
`thenga dev up`: `$THENGA_HOME`, or `.dev` below the current folder. An empty value counts as unset.
A wrong one ends the start with a line that names it and exit code 2; a `THENGA_…` that nothing
reads is a warning. For `compose.yaml` they stand in `.env`: `.env.example` lists them, and
`thenga secrets` writes a `.env` with fresh secrets."""
_ENV_HEAD = """\
# Settings of an installation with compose.yaml. `thenga secrets` writes it to `.env`, with
# fresh secrets.
# Empty means unset. docs/settings.md says the same; `thenga docs` writes both.
"""


class Described(NamedTuple):
    """One setting, as both pages show it."""

    name: str
    text: str
    default: str = ""


def groups(domains: Sequence[Domain]) -> dict[str, list[Described]]:
    """Every setting there is, by the title of its group."""
    made: dict[str, list[Described]] = {}
    for name, field in Settings.model_fields.items():
        if name in GROUPS:
            title = GROUPS[name]
        described = Described(f"{PREFIX}{name}".upper(), _text(field), _default(field))
        made.setdefault(title, []).append(described)
    for domain in domains:
        for variable in domain.environment:
            described = Described(variable.setting(domain.name), variable.description)
            made.setdefault(domain.name.capitalize(), []).append(described)
    made["compose.yaml alone"] = [Described(*each) for each in OF_COMPOSE.items()]
    return made


def settings_page(domains: Sequence[Domain]) -> str:
    """`docs/settings.md`."""
    lines = [_PAGE_HEAD]
    for title, described in groups(domains).items():
        lines += ["", f"## {title}", "", "| Setting | Default | What it is |", "|---|---|---|"]
        lines += [f"| `{each.name}` | {each.default} | {_made(each)} |" for each in described]
    lines += ["", "## A domain on servers of its own", "", "| Setting | What it is |", "|---|---|"]
    lines += [
        f"| `{PREFIX}{name.upper()}_<DOMAIN>` | {text} |" for name, text in PER_DOMAIN.items()
    ]
    return "\n".join(lines) + "\n"


def env_example(domains: Sequence[Domain]) -> str:
    """`.env.example`: what compose.yaml takes from it can be filled in, the rest is named."""
    required = set(re.findall(r"\$\{(THENGA_\w+):\?", compose()))
    defaults = dict(re.findall(r"\$\{(THENGA_\w+):-([^}]+)\}", compose()))
    taken = required | set(re.findall(r"\$\{(THENGA_\w+)", compose()))
    lines = [_ENV_HEAD.rstrip()]
    for title, described in groups(domains).items():
        lines += ["", f"# --- {title}"]
        for each in described:
            is_asked = each.name in required and each.name not in env_file.FRESH
            default = "" if is_asked else defaults.get(each.name, each.default)
            lines += ["", *_comment(each._replace(default=default), is_required=is_asked)]
            lines.append(
                f"{each.name}=" if each.name in taken else f"# {each.name} is not taken here."
            )
    return "\n".join(lines) + "\n"


def compose() -> str:
    return _COMPOSE.read_text()


def _comment(setting: Described, *, is_required: bool) -> Iterator[str]:
    text = _made(setting) + (f" Default: {setting.default}." if setting.default else "")
    text += " Required." if is_required else ""
    yield from (f"# {line}" for line in textwrap.wrap(text.replace("`", ""), 96))


def _made(setting: Described) -> str:
    return f"{setting.text} {_FRESH}" if setting.name in env_file.FRESH else setting.text


def _text(field: FieldInfo) -> str:
    return " ".join((field.description or "").split())


def _default(field: FieldInfo) -> str:
    value = field.default
    if isinstance(value, SecretStr) or value in ("", None):
        return ""
    if isinstance(value, bool):
        return str(value).lower()
    choices = get_args(field.annotation) if isinstance(value, str) else ()
    return " ".join([f"`{value}`", *(["of", ", ".join(map(str, choices))] if choices else [])])
