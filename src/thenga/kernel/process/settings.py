"""Settings, read once at start and passed down; no domain reads the environment.

`thenga dev up` writes the file `env` of its folder, `$THENGA_HOME` or `.dev`, which is read here;
production sets the same names in its environment, which wins. An empty value counts as unset. The
docstrings of the fields are what `docs/settings.md` and `.env.example` say of them.
"""

import os
from functools import cache
from ipaddress import ip_address, ip_network
from pathlib import Path
from typing import Annotated, Literal, Self

from pydantic import AfterValidator, Field, SecretStr, ValidationError, model_validator
from pydantic_settings import BaseSettings, SettingsConfigDict

PREFIX = "THENGA_"
HOME = Path(os.environ.get(f"{PREFIX}HOME") or ".dev")
"""The folder of the servers of `thenga dev up`, and of the settings that reach them."""


class SettingRefused(RuntimeError):
    """A setting cannot be used; the text begins with its name and never has its value."""


def _networks(given: str) -> str:
    for part in filter(None, (part.strip() for part in given.split(","))):
        try:
            ip_network(part)
        except ValueError:
            raise ValueError("must be addresses or networks, comma separated") from None
    return given


_HostAndPort = Annotated[str, Field(pattern=r"^(.+:[0-9]{1,5})?$")]


class Settings(BaseSettings):
    """Where the parts are, and the numbers an operator may turn."""

    model_config = SettingsConfigDict(
        env_prefix=PREFIX,
        env_file=HOME / "env",
        env_ignore_empty=True,
        extra="allow",
        use_attribute_docstrings=True,
    )

    production: bool = False
    """Whether real companies are served: weak secrets and addresses of development are refused."""
    domains: str = ""
    """Domains that this process serves, comma separated. Empty serves all."""
    test_build: bool = False
    """Opens the hooks of tests. A production start with it is refused."""

    base_url: str = Field(default="http://127.0.0.1:8000", pattern=r"^https?://[^/?#]+/?$")
    """Address under which customers reach the API. Links in letters and documents begin with it."""
    sandbox_url: str = Field(default="", pattern=r"^(https?://[^/?#]+/?)?$")
    """Address of sandbox organizations. Empty serves them at `THENGA_BASE_URL` as well."""
    security_contact: str = Field(default="", pattern=r"^((mailto:|https://).+)?$")
    """`mailto:` or `https://` address for reports of weaknesses, in `/.well-known/security.txt`."""
    trusted_proxies: Annotated[str, AfterValidator(_networks)] = ""
    """Addresses or networks of our own proxies, comma separated. Only their `X-Forwarded-For` is
    believed; without them all customers behind a proxy count as a single address."""
    internal_listen: _HostAndPort = ""
    """`host:port` for our own processes: ports and `/metrics`. Empty opens none."""

    sealing_key: SecretStr = SecretStr("")
    """32 bytes in hex. Seals cursors and the columns that hold secrets."""
    sealing_keys_former: SecretStr = SecretStr("")
    """Former sealing keys, comma separated, until `thenga reseal` finds nothing under them."""
    lookup_key: SecretStr = SecretStr("")
    """32 bytes in hex. Signs the audit trail and finds accounts by keyed hashes. It cannot be
    changed: with another key nobody can sign in."""
    internal_secret: SecretStr = SecretStr("")
    """32 bytes in hex. Signs calls between our own processes."""

    # `{login}` and `{password}` are filled in for each login, the password by HMAC from the secret
    # of its kind. API processes are given no system address, because it sees the rows of every
    # organization.
    database: str = ""
    """Address of PostgreSQL, with `{login}:{password}` in place of a login."""
    database_secret: SecretStr = SecretStr("")
    """At least 32 bytes. The passwords of the domains' logins are made of it."""
    system_database: str = ""
    """As `THENGA_DATABASE`, for the logins that see the rows of every organization. Workers and
    migrations have it, API processes never."""
    system_database_secret: SecretStr = SecretStr("")
    """At least 32 bytes. The passwords of the system logins are made of it."""
    admin_database: SecretStr = SecretStr("")
    """Address of PostgreSQL with the administrator's login. Migrations alone have it."""
    connections: int | None = Field(default=None, ge=16)
    """Database connections of a process, all domains together. Empty means 64 in an API process
    and 128 in a worker."""
    pool_size: int = Field(default=8, ge=1, le=200)
    """Most database connections of a single login in a process."""
    pool_wait_seconds: float = Field(default=10.0, gt=0)
    """Longest wait for a database connection, then 503 or another try."""
    connection_age_seconds: float = Field(default=1800.0, gt=0)
    """Age at which a database connection is replaced."""
    statement_seconds: float = 10.0
    """Longest time of a single statement."""

    nats: str = ""
    """Address of NATS, with `{login}:{password}` in place of a login."""
    nats_secret: SecretStr = SecretStr("")
    """At least 32 bytes. The passwords of the NATS accounts are made of it."""
    nats_monitor: str = Field(default="", pattern=r"^(https?://.+)?$")
    """Address of the monitor of NATS, which `thenga doctor` reads."""
    redis: str = ""
    """Address of Redis, with its password: `redis://:password@host:6379/0`."""
    outbox_days: int = 7
    """Days that a published event stays in the database."""

    files: str = ""
    """A folder, or `s3://bucket` with an optional `/prefix`."""
    files_endpoint: str = Field(default="", pattern=r"^(https?://.+)?$")
    """Address of a server that speaks S3. Empty means Amazon's, in the region named."""
    files_region: str = "af-south-1"
    """Region of the bucket."""
    files_access_key: SecretStr = SecretStr("")
    """Access key of the bucket. Empty where the machine has a role."""
    files_secret_key: SecretStr = SecretStr("")
    """Secret key of the bucket."""
    scanner: _HostAndPort = ""
    """`host:port` of ClamAV. Files wait in quarantine while it does not answer."""
    scanner_seconds: float = 60.0
    """Seconds of silence of the scanner, after which a file waits for the next attempt."""

    smtp_host: str = "127.0.0.1"
    """Mail server that takes our letters."""
    smtp_port: int = 1025
    """Its port: usually 587 with `starttls`, 465 with `tls`."""
    smtp_security: Literal["starttls", "tls", "none"] = "starttls"
    """`starttls`, `tls` from the first byte, or `none`, which is refused in production and for a
    server on another machine."""

    in_flight: int = Field(default=200, ge=1)
    """Requests at once in a process."""
    in_flight_tenant: int = Field(default=50, ge=1)
    """Requests at once of a single organization."""
    bodies_per_address: int = Field(default=32, ge=1)
    """Request bodies received at once from a single address."""
    request_seconds: float = 30.0
    """Longest time of a request."""
    actor_per_minute: int = 600
    """Requests a minute of a single person or key."""
    auth_account_per_minute: int = 10
    """Sign-in attempts a minute for a single account."""
    auth_address_per_minute: int = 60
    """Sign-in attempts a minute from a single address."""
    callbacks_per_second: int = 100
    """Callbacks a second of a single provider, from all its addresses together."""
    usage_batches_per_second: int = 60
    """Batches a second of a single reporter of usage, in place of the limit of actors."""
    hashes_per_second: int = 30
    """Password hashes a second in a process."""
    body_bytes: int = 1024 * 1024
    """Largest request body that is no file."""
    upload_bytes: int = 50 * 1024 * 1024
    """Largest file."""
    upload_seconds: float = 600.0
    """Longest time of a whole file, in or out."""
    upload_idle_seconds: float = 30.0
    """Longest pause within a file."""
    drain_seconds: float = 20.0
    """Time that requests and jobs have to end when a process leaves."""

    trace_ratio: float = Field(default=0.0, ge=0, le=1)
    """Share of requests that are traced. 0 turns telemetry off."""
    otlp_endpoint: str = ""
    """Address of the collector of traces."""

    @model_validator(mode="after")
    def _mail_is_encrypted(self) -> Self:
        """Mail is plain on this machine alone, and never in production (NOT-28)."""
        if self.smtp_security == "none" and (self.production or not is_loopback(self.smtp_host)):
            raise ValueError("THENGA_SMTP_SECURITY: `none` is for loopback, not for production")
        return self

    def of_domain(self, prefix: str, domain: str) -> str:
        """The setting of one domain (`THENGA_DATABASE_BILLING`), empty where there is none."""
        name = f"{prefix}_{domain}"
        from_file = (self.model_extra or {}).get(name.lower(), "")
        return os.environ.get(f"{PREFIX}{name}".upper()) or str(from_file)


# The groups of the page of settings, each named by the first field that belongs to it.
GROUPS = {
    "production": "The process",
    "base_url": "Addresses",
    "sealing_key": "Keys",
    "database": "PostgreSQL",
    "nats": "NATS and Redis",
    "files": "Files",
    "smtp_host": "Mail",
    "in_flight": "Limits",
    "trace_ratio": "Telemetry",
}
# `THENGA_<NAME>_<DOMAIN>` moves a single domain to a server of its own.
PER_DOMAIN = {
    "database": "Database of the domain, in place of `THENGA_DATABASE`.",
    "system_database": "Database of its system login, in place of `THENGA_SYSTEM_DATABASE`.",
    "admin_database": "Database of its migrations, in place of `THENGA_ADMIN_DATABASE`.",
    "nats": "NATS of the domain, in place of `THENGA_NATS`.",
    "remote": "Address of the process that answers the ports of the domain.",
}


def is_loopback(name: str) -> bool:
    """Whether a host is this machine. Only addresses count: names can be resolved elsewhere."""
    try:
        return ip_address(name.strip("[]")).is_loopback
    except ValueError:
        return False


@cache
def load() -> Settings:
    """The settings of this process; read once."""
    try:
        return Settings()
    except ValidationError as refusal:
        raise SettingRefused("\n".join(_lines(refusal))) from None


def _lines(refusal: ValidationError) -> list[str]:
    """A line for each fault: the name of the setting and what is wrong with it."""
    lines = []
    for fault in refusal.errors(include_url=False, include_input=False, include_context=False):
        text = fault["msg"].removeprefix("Value error, ")
        name = "".join(f"{PREFIX}{part}".upper() for part in fault["loc"][:1])
        lines.append(f"{name}: {text[0].lower()}{text[1:]}" if name else text)
    return lines
