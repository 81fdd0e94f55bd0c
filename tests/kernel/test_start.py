"""A start is refused with a weak secret; the refusal names the setting and never its value."""

import json
import os
import secrets
import subprocess
import sys
from pathlib import Path

import pytest
from pydantic import ValidationError

from thenga import starting, topology
from thenga.kernel.process.settings import SettingRefused, Settings

pytestmark = pytest.mark.rule("SEC-62")

KEYS = ("THENGA_SEALING_KEY", "THENGA_LOOKUP_KEY", "THENGA_INTERNAL_SECRET")
OTHERS = (
    "THENGA_DATABASE_SECRET",
    "THENGA_SYSTEM_DATABASE_SECRET",
    "THENGA_NATS_SECRET",
    "THENGA_PAYSTACK_SECRETS_BILLING",
    "THENGA_FILES_SECRET_KEY",
)
BAD = {
    "empty": "",
    "one byte": "41",
    "31 bytes": "0f1e2d3c4b5a69788796a5b4c3d2e1f"[:31],
    "constant": "00" * 32,
    "two bytes in turn": "a1b2" * 16,
    "repeated text": "correct-horse-b" * 4,
    "counting": bytes(range(32)).hex(),
}


def good() -> dict[str, str]:
    """The settings of a process in production that has them all."""
    address = "postgresql://{login}:{password}@127.0.0.1:1/thenga"
    return {
        "THENGA_PRODUCTION": "true",
        "THENGA_DATABASE": address,
        "THENGA_SYSTEM_DATABASE": address,
        "THENGA_NATS": "nats://{login}:{password}@127.0.0.1:1",
        "THENGA_REDIS": "redis://127.0.0.1:1/0",
        "THENGA_FILES_ACCESS_KEY": "thenga",
        "THENGA_BASE_URL": "https://thenga.co.za",
        "THENGA_TRUSTED_PROXIES": "10.0.0.0/24",
        "THENGA_SENDER_ADDRESS_NOTIFICATION": "post@thenga.co.za",
        **{name: secrets.token_hex(32) for name in (*KEYS, *OTHERS)},
    }


def settings_of(env: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> Settings:
    for name in [name for name in os.environ if name.startswith("THENGA_")]:
        monkeypatch.delenv(name)
    for name, value in env.items():
        monkeypatch.setenv(name, value)
    return Settings(_env_file=None)  # type: ignore[call-arg]  # not seen by mypy


def refused(settings: Settings) -> str | None:
    try:
        starting.check(settings, topology.load(topology.DOMAINS))
    except SettingRefused as refusal:
        return str(refusal)
    return None


def test_good_secrets_start(monkeypatch: pytest.MonkeyPatch) -> None:
    assert refused(settings_of(good(), monkeypatch)) is None


def test_weak_and_equal_secrets_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    tried = started = unnamed = told = 0
    for setting in (*KEYS, *OTHERS):
        equal = {other: good()[other] for other in (*KEYS, *OTHERS) if other != setting}
        bad = [{setting: value} for value in BAD.values()]
        if setting.endswith("_BILLING"):
            # A provider need not be configured, and makes its secrets as long as it likes.
            bad = [one for one in bad if one[setting] not in ("", BAD["31 bytes"])]
        bad += [{other: value, setting: value} for other, value in equal.items()]
        for change in bad:
            refusal = refused(settings_of(good() | change, monkeypatch))
            tried += 1
            started += refusal is None
            unnamed += refusal is not None and setting not in refusal
            shown = len(change[setting]) > 4 and change[setting] in (refusal or "")
            told += shown
    print(f"\nstart bad_values={tried} started={started} unnamed={unnamed} value_told={told}")
    assert (started, unnamed, told) == (0, 0, 0)


@pytest.mark.parametrize("key", ["", "41", "zz" * 32, "00" * 16])
@pytest.mark.parametrize("setting", KEYS[:2])
def test_a_key_is_a_key_outside_production_too(
    setting: str, key: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = settings_of(good() | {"THENGA_PRODUCTION": "false", setting: key}, monkeypatch)

    assert setting in (refused(settings) or "")


@pytest.mark.parametrize("setting", ["THENGA_DATABASE", "THENGA_SYSTEM_DATABASE", "THENGA_NATS"])
def test_logins_do_not_share_a_password(setting: str, monkeypatch: pytest.MonkeyPatch) -> None:
    shared = good()[setting].replace("{password}", secrets.token_hex(32))

    assert setting in (refused(settings_of(good() | {setting: shared}, monkeypatch)) or "")


def test_a_weak_admin_password_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    admin = {"THENGA_ADMIN_DATABASE": "postgresql://postgres:short@127.0.0.1:1/thenga"}

    assert "THENGA_ADMIN_DATABASE" in (refused(settings_of(good() | admin, monkeypatch)) or "")


@pytest.mark.parametrize(
    "setting", ["THENGA_SYSTEM_DATABASE", "THENGA_SYSTEM_DATABASE_SECRET", "THENGA_ADMIN_DATABASE"]
)
def test_an_api_is_given_no_system_login(setting: str, monkeypatch: pytest.MonkeyPatch) -> None:
    above = ("THENGA_SYSTEM_DATABASE", "THENGA_SYSTEM_DATABASE_SECRET")
    given = {name: value for name, value in good().items() if name not in above}
    password = secrets.token_hex(32)
    admin = {"THENGA_ADMIN_DATABASE": f"postgresql://postgres:{password}@127.0.0.1:1/thenga"}
    named = {setting: (good() | admin)[setting]}
    domains = topology.load(topology.DOMAINS)

    starting.check_api(settings_of(given, monkeypatch), domains)
    if setting == "THENGA_SYSTEM_DATABASE":  # an address needs its secret
        named |= {"THENGA_SYSTEM_DATABASE_SECRET": secrets.token_hex(32)}
    with pytest.raises(SettingRefused, match=setting):
        starting.check_api(settings_of(given | named, monkeypatch), domains)


COMMANDS = (["api", "--port", "0"], ["worker"], ["migrate"], ["reseal"], ["sandbox"])


# In one process: each start of its own would take as long as all of them.
RUN_ALL = """
import contextlib, io, json, sys, traceback
from thenga.command import main
told = {}
for command in json.loads(sys.argv[1]):
    with contextlib.redirect_stderr(io.StringIO()) as said:
        try:
            main(command)
            code = 0
        except SystemExit as ended:
            code = ended.code
        except BaseException:
            code = traceback.format_exc()
    told[command[0]] = [code, said.getvalue().splitlines()]
print(json.dumps(told))
"""

REFUSALS = {
    "THENGA_SEALING_KEY": "00" * 32,
    "THENGA_SMTP_SECURITY": "plain",
    "THENGA_SCANNER": "clamav",
    "THENGA_TRUSTED_PROXIES": "nginx",
    "THENGA_DOMAINS": "billings",
    "THENGA_CONNECTIONS": "many",
    "THENGA_TEST_BUILD": "true",
}


def _said(commands: object, change: dict[str, str], folder: Path) -> dict[str, list[object]]:
    """What each command ends with and writes, with one setting changed."""
    return _run_with(commands, good() | change, folder)


def _run_with(commands: object, env: dict[str, str], folder: Path) -> dict[str, list[object]]:
    """The exit code of each command and its lines on standard error, with these settings alone."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("THENGA_")}
    done = subprocess.run(
        [sys.executable, "-c", RUN_ALL, json.dumps(commands)],
        env=kept | env,
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=300,
        check=True,
    )
    said: dict[str, list[object]] = json.loads(done.stdout.splitlines()[-1])
    return said


def test_each_command_refuses_before_it_starts(tmp_path: Path) -> None:
    weak = {"THENGA_SEALING_KEY": "00" * 32}
    line = "THENGA_SEALING_KEY: is constant or follows a pattern; use random bytes"

    said = _said(COMMANDS, weak, tmp_path)

    assert said == {command: [2, [line]] for command, *_ in COMMANDS}


# What needs settings and changes or reads an installation.
ALL_COMMANDS = (
    *COMMANDS,
    ["staff", "invite", "nomsa@thenga.co.za", "--role", "platform_operator"],
    ["seller", "set", "seller.toml"],
    ["dev", "sample"],
    ["doctor"],
    ["nats-config", "accounts.conf"],
)


def test_each_command_reads_the_settings_of_its_home(tmp_path: Path) -> None:
    weak = good() | {"THENGA_NATS_SECRET": "00" * 32, "THENGA_SCANNER": "clamav"}
    home, elsewhere = tmp_path / "servers", tmp_path / "elsewhere"
    for folder in (home, elsewhere):
        folder.mkdir()
    (home / "env").write_text("".join(f"{name}={value}\n" for name, value in weak.items()))

    said = _run_with(ALL_COMMANDS, {"THENGA_HOME": str(home)}, elsewhere)

    assert said.keys() == {command for command, *_ in ALL_COMMANDS}
    wrong = {command: told for command, told in said.items() if told[0] != 2}
    assert wrong == {}
    assert all(lines[0].startswith("THENGA_SCANNER: ") for _, lines in said.values())


def test_each_command_without_settings_says_what_to_run(tmp_path: Path) -> None:
    at_home = {"THENGA_HOME": str(tmp_path / "servers")}

    here = _run_with(ALL_COMMANDS, {}, tmp_path)
    there = _run_with([["migrate"]], at_home, tmp_path)

    line = "No settings: {} does not exist. Run `thenga dev up`, or set THENGA_HOME to its folder."
    assert here == {
        command: [2, [line.format(tmp_path / ".dev/env")]] for command, *_ in ALL_COMMANDS
    }
    assert there == {"migrate": [2, [line.format(tmp_path / "servers/env")]]}


@pytest.mark.parametrize("setting", REFUSALS)
def test_a_wrong_setting_is_a_line_that_names_it(setting: str, tmp_path: Path) -> None:
    ((code, lines),) = _said([["migrate"]], {setting: REFUSALS[setting]}, tmp_path).values()

    assert code == 2
    assert isinstance(lines, list)
    assert len(lines) == 1
    assert lines[0].startswith(f"{setting}: ")
    assert REFUSALS[setting] not in lines[0].removeprefix(f"{setting}: ") or setting.endswith(
        "DOMAINS"
    )


def test_a_setting_that_nothing_reads_is_a_warning(tmp_path: Path) -> None:
    misspelt = {"THENGA_SMTP_HSOT": "relay.co.za", "THENGA_SEALING_KEY": "00" * 32}

    ((_, lines),) = _said([["migrate"]], misspelt, tmp_path).values()

    assert isinstance(lines, list)
    assert lines[0] == (
        "warning: THENGA_SMTP_HSOT: there is no such setting; did you mean THENGA_SMTP_HOST?"
    )


@pytest.mark.parametrize(
    ("setting", "value", "line"),
    [
        ("THENGA_BASE_URL", "http://thenga.co.za", "must begin with https:// in production"),
        ("THENGA_BASE_URL", "", "must begin with https:// in production"),
        ("THENGA_BASE_URL", "https://127.0.0.1", "and this is loopback"),
        ("THENGA_BASE_URL", "https://localhost:8443", "and this is loopback"),
        ("THENGA_SANDBOX_URL", "http://sandbox.thenga.co.za", "must begin with https://"),
        ("THENGA_TRUSTED_PROXIES", "", "must name the proxy that ends TLS"),
        ("THENGA_SENDER_ADDRESS_NOTIFICATION", "", "must be the address that letters come from"),
        ("THENGA_SENDER_ADDRESS_NOTIFICATION", "post@thenga.example", "of an example domain"),
        ("THENGA_SENDER_ADDRESS_NOTIFICATION", "a@example.co.za", "of an example domain"),
    ],
)
def test_production_has_addresses_that_customers_reach(
    setting: str, value: str, line: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    above = ("THENGA_SYSTEM_DATABASE", "THENGA_SYSTEM_DATABASE_SECRET")
    env = {name: each for name, each in good().items() if name not in above}
    domains = topology.load(topology.DOMAINS)

    starting.check_api(settings_of(env, monkeypatch), domains)
    with pytest.raises(SettingRefused) as refusal:
        starting.check_api(settings_of(env | {setting: value}, monkeypatch), domains)

    assert str(refusal.value).startswith(f"{setting}: ")
    assert line in str(refusal.value)


def test_an_empty_setting_is_unset(monkeypatch: pytest.MonkeyPatch) -> None:
    settings = settings_of(good() | {"THENGA_CONNECTIONS": "", "THENGA_POOL_SIZE": ""}, monkeypatch)

    assert (settings.connections, settings.pool_size) == (None, 8)


def test_no_setting_turns_plans_off(monkeypatch: pytest.MonkeyPatch) -> None:
    """Development has plans too; `tests/flows/test_authorization.py` meets them."""
    settings = settings_of(good() | {"THENGA_WITHOUT_BILLING": "true"}, monkeypatch)
    source = Path(starting.__file__).parents[1]
    uses = [path for path in source.rglob("*.py") if "without_billing" in path.read_text().lower()]

    assert "without_billing" not in type(settings).model_fields
    assert uses == []


@pytest.mark.rule("NOT-28")
@pytest.mark.parametrize(
    ("production", "host", "security", "starts"),
    [
        ("false", "127.0.0.1", "none", True),
        ("false", "::1", "none", True),
        ("false", "relay.example.co.za", "none", False),
        ("false", "10.0.0.7", "none", False),
        ("true", "127.0.0.1", "none", False),
        ("true", "relay.example.co.za", "starttls", True),
        ("true", "relay.example.co.za", "tls", True),
    ],
)
def test_mail_without_tls_stays_on_this_machine(
    monkeypatch: pytest.MonkeyPatch, production: str, host: str, security: str, starts: bool
):
    mail = {"THENGA_SMTP_HOST": host, "THENGA_SMTP_SECURITY": security}
    env = good() | mail | {"THENGA_PRODUCTION": production}

    if starts:
        assert settings_of(env, monkeypatch).smtp_security == security
    else:
        with pytest.raises(ValidationError, match="THENGA_SMTP_SECURITY"):
            settings_of(env, monkeypatch)
