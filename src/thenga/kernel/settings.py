"""Settings, read once at start and passed down; no domain reads the environment.

`thenga dev up` writes `.dev/env`, which is read here; production sets the same names in its
environment, which wins.
"""

import os
from functools import cache
from ipaddress import ip_address
from typing import Literal, Self

from pydantic import Field, SecretStr, model_validator
from pydantic_settings import BaseSettings, SettingsConfigDict


class Settings(BaseSettings):
    """Where the parts are, and the numbers an operator may turn."""

    model_config = SettingsConfigDict(env_prefix="THENGA_", env_file=".dev/env", extra="allow")

    # `{login}` and `{password}` are filled in for each login, the password by HMAC from the secret
    # of its kind; `THENGA_DATABASE_BILLING` moves one domain to a database of its own. API
    # processes are given no system address (security rule 5).
    database: str = ""
    database_secret: SecretStr = SecretStr("")
    system_database: str = ""
    system_database_secret: SecretStr = SecretStr("")
    admin_database: SecretStr = SecretStr("")
    nats: str = ""
    nats_secret: SecretStr = SecretStr("")
    redis: str = ""
    # A folder, or `s3://bucket` with an optional `/prefix`. The address is that of a server which
    # speaks S3; without one it is Amazon's, in the region named.
    files: str = ""
    files_endpoint: str = Field(default="", pattern=r"^(https?://.+)?$")
    files_region: str = "af-south-1"
    files_access_key: SecretStr = SecretStr("")
    files_secret_key: SecretStr = SecretStr("")
    scanner: str = Field(default="", pattern=r"^(.+:[0-9]{1,5})?$")  # `host:port` of ClamAV
    scanner_seconds: float = 60.0  # of silence, after which a file waits for the next attempt

    domains: str = ""  # comma separated; empty means all fifteen
    internal_secret: SecretStr = SecretStr("")  # signs calls between our own processes
    sealing_key: SecretStr = SecretStr("")  # 32 bytes in hex: cursors, sealed columns
    # Keys that only open, comma separated, until `thenga reseal` finds nothing under them.
    sealing_keys_former: SecretStr = SecretStr("")
    # 32 bytes in hex: keyed hashes that rows are found by, audit signatures. It is not rotated.
    lookup_key: SecretStr = SecretStr("")
    base_url: str = "http://127.0.0.1:8000"
    sandbox_url: str = ""  # where sandboxes are served; empty means at `base_url` as well
    trusted_proxies: str = ""  # addresses whose X-Forwarded-For is believed
    test_build: bool = False  # opens test hooks; a production start with it is refused
    production: bool = False

    # Database connections of a process, all domains together; empty means 64 in an API process
    # and 128 in a worker. `pool_size` is the most that one login may have of them.
    connections: int | None = Field(default=None, ge=16)
    pool_size: int = Field(default=8, ge=1, le=200)
    pool_wait_seconds: float = Field(default=10.0, gt=0)  # for a connection, then 503 or a retry
    connection_age_seconds: float = Field(default=1800.0, gt=0)
    in_flight: int = Field(default=200, ge=1)  # requests at once in a process
    in_flight_tenant: int = Field(default=50, ge=1)
    bodies_per_address: int = Field(default=32, ge=1)  # received at once from one address
    connections_per_address: int = Field(default=256, ge=1)  # not of trusted proxies
    # `host:port` of the listener for our own processes: ports and `/metrics`. Empty opens none.
    internal_listen: str = Field(default="", pattern=r"^(.+:[0-9]{1,5})?$")
    request_seconds: float = 30.0
    statement_seconds: float = 10.0
    actor_per_minute: int = 600
    auth_account_per_minute: int = 10
    callbacks_per_second: int = 100  # of one provider, whatever addresses they come from
    usage_batches_per_second: int = 60  # of one reporter, in place of the limit of actors
    auth_address_per_minute: int = 60
    hashes_per_second: int = 30
    body_bytes: int = 1024 * 1024
    upload_bytes: int = 50 * 1024 * 1024
    upload_seconds: float = 600.0  # for a whole file, in or out
    upload_idle_seconds: float = 30.0  # without a byte of it
    drain_seconds: float = 20.0
    outbox_days: int = 7
    trace_ratio: float = Field(default=0.0, ge=0, le=1)  # 0 leaves telemetry off
    otlp_endpoint: str = ""
    smtp_host: str = "127.0.0.1"
    smtp_port: int = 1025
    # `none` is for a mail server on this machine, in development and tests (NOT-28).
    smtp_security: Literal["starttls", "tls", "none"] = "starttls"

    @model_validator(mode="after")
    def _mail_is_encrypted(self) -> Self:
        if self.smtp_security == "none" and (self.production or not _is_loopback(self.smtp_host)):
            raise ValueError("THENGA_SMTP_SECURITY=none is for loopback, and not for production")
        return self

    def of_domain(self, prefix: str, domain: str) -> str:
        """The setting of one domain (`THENGA_DATABASE_BILLING`), empty where there is none."""
        name = f"{prefix}_{domain}"
        from_file = (self.model_extra or {}).get(name.lower(), "")
        return os.environ.get(f"THENGA_{name}".upper(), str(from_file))


def _is_loopback(name: str) -> bool:
    """Whether a host is this machine. Only addresses count: names can be resolved elsewhere."""
    try:
        return ip_address(name).is_loopback
    except ValueError:
        return False


@cache
def load() -> Settings:
    """The settings of this process; read once."""
    return Settings()
