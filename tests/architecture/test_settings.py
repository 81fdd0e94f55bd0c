"""Every setting is described, and compose.yaml passes it or says why not."""

import os
import re
import stat
from pathlib import Path

import pytest

from tests import composed
from thenga import starting, topology
from thenga.command import main
from thenga.kernel.process.settings import Settings
from thenga.tooling import env_file
from thenga.tooling.documents import settings

ROOT = Path(__file__).resolve().parents[2]
DOMAINS = topology.load(topology.DOMAINS)
EXAMPLE = (ROOT / ".env.example").read_text()
PAGE = (ROOT / "docs/settings.md").read_text()
EVERY = {each.name: each for group in settings.groups(DOMAINS).values() for each in group}
# Read in the source by another way than `Settings.<name>`.
_NAMED = re.compile(r"""(?:_own|_setting|_to|of_domain)\(\s*f?["']([a-z_]+)["']""")


def test_every_setting_is_documented_and_passed_or_withheld() -> None:
    passed = {name for each in composed.OURS for name in composed.services()[each]["environment"]}
    of_servers = set(settings.OF_COMPOSE)
    withheld = composed.compose()["x-withheld"]
    documented = {n for n, each in EVERY.items() if f"`{n}`" in PAGE and n in EXAMPLE and each.text}

    print(
        f"\nsettings={len(EVERY)} documented={len(documented)} "
        f"passed={len(passed | of_servers)} withheld={len(withheld)}"
    )
    assert documented == set(EVERY)
    assert passed | of_servers | set(withheld) == set(EVERY)
    assert not passed & set(withheld)
    assert all(withheld.values())


def test_every_name_that_a_domain_reads_is_declared() -> None:
    declared = {(d.name, variable.name) for d in DOMAINS for variable in d.environment}
    read = {
        (domain.name, name)
        for domain in DOMAINS
        for path in domain.home.rglob("*.py")
        if "of_domain(" in (source := path.read_text())
        for name in _NAMED.findall(source)
    }

    assert read - declared == set()
    assert read, "the way in which domains read settings has changed"


def test_what_domains_read_is_known_without_loading_them() -> None:
    assert topology.environments() == {domain.name: domain.environment for domain in DOMAINS}


def test_variables_of_compose_stand_in_the_example() -> None:
    taken = set(re.findall(r"\$\{(\w+)", settings.compose()))

    assert taken == set(composed.given(EXAMPLE))


def test_the_example_has_the_defaults_of_compose() -> None:
    """A variable that compose.yaml gives a default need not be filled in, and has that one."""
    blocks = [block.splitlines() for block in EXAMPLE.split("\n\n")]
    comments = {lines[-1].rstrip("="): " ".join(lines[:-1]) for lines in blocks}
    given = dict(re.findall(r"\$\{(\w+):-([^}]+)\}", settings.compose()))
    required = set(re.findall(r"\$\{(\w+):\?", settings.compose()))

    assert given["THENGA_SMTP_PORT"] == "587"
    wrong = {n: each for n, each in given.items() if f"Default: {each}." not in comments[n]}
    assert wrong == {}
    asked = {name for name, comment in comments.items() if "Required." in comment}
    assert asked == required - set(env_file.FRESH)
    assert not any("Default:" in comments[name] for name in asked)


def test_fresh_secrets_start_in_production(monkeypatch: pytest.MonkeyPatch) -> None:
    """What `thenga secrets` writes is all that a process asks for, but what only we know."""
    ours = {
        "THENGA_BASE_URL": "https://thenga.co.za",
        "THENGA_SMTP_HOST": "relay.co.za",
        "THENGA_SENDER_ADDRESS_NOTIFICATION": "post@thenga.co.za",
    }
    for name in [name for name in os.environ if name.startswith("THENGA_")]:
        monkeypatch.delenv(name)
    variables = composed.given(env_file.filled(EXAMPLE)) | ours
    for service, check in (
        ("migrate", starting.check),
        ("api", starting.check_api),
        ("worker", starting.check_serving),
    ):
        with monkeypatch.context() as process:
            for name, value in composed.environment(service, variables).items():
                process.setenv(name, value)
            check(Settings(_env_file=None), DOMAINS)  # type: ignore[call-arg]
            assert starting.unknown(topology.environments()) == []
    with pytest.raises(composed.Missing, match="THENGA_"):
        composed.environment("api", {})


def test_secrets_are_written_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / ".env"
    codes, texts = [], []
    for _ in range(2):
        with pytest.raises(SystemExit) as ended:
            main(["secrets", str(path)])
        codes.append(ended.value.code)
        texts.append(path.read_text())
    printed = capsys.readouterr().out
    text = texts[0]

    assert codes == [0, 1]
    assert texts[1] == text
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    values = [composed.given(text)[name] for name in env_file.FRESH]
    assert len({*values}) == len(values)
    assert all(re.fullmatch("[0-9a-f]{64}", value) for value in values)
    assert not any(value in printed for value in values)
    assert "stays as it is" in printed
