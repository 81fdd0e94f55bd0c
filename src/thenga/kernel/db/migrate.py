"""`thenga migrate`: logins, schemas, then each domain's own branch of migrations."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

import sqlalchemy as sa
from alembic import command
from alembic.config import Config

from thenga.kernel.db.engine import Engines
from thenga.kernel.process.settings import Settings

_ALEMBIC = Path(__file__).parent / "alembic"
# Trusted ones that come with PostgreSQL: whoever may create in the database may have them, and
# the logins of domains, which may not, use what they bring without a right of their own.
EXTENSIONS = ("btree_gist", "pg_trgm", "unaccent")


@dataclass(frozen=True)
class Migrated:
    """What one domain needs of the database."""

    domain: str
    versions: Path
    gate: bool = False


def migrate(settings: Settings, targets: Iterable[Migrated]) -> list[str]:
    """Bring every domain named to its newest version; repeatable."""
    done = []
    for target in targets:
        engine = admin_engine(settings, target.domain)
        with engine.begin() as connection:
            # A migration that cannot have its lock soon must not make the requests wait.
            connection.exec_driver_sql("SET LOCAL lock_timeout = '500ms'")
            _make_roles(connection, settings, target)
            connection.exec_driver_sql(f"SET LOCAL ROLE {target.domain}_owner")
            _upgrade(connection, target)
            done.append(target.domain)
            reading = f"GRANT SELECT ON {target.domain}.migration TO {target.domain}"
            connection.exec_driver_sql(reading)
        engine.dispose()
    return done


def admin_engine(settings: Settings, domain: str) -> sa.Engine:
    """The database of a domain, as its administrator."""
    address = settings.of_domain("admin_database", domain)
    address = address or settings.admin_database.get_secret_value()
    return sa.create_engine(address.replace("postgresql://", "postgresql+psycopg://"))


def _config(versions: Path) -> Config:
    config = Config()
    config.set_main_option("script_location", str(_ALEMBIC))
    config.set_main_option("version_locations", str(versions))
    config.set_main_option("path_separator", "newline")
    return config


def _upgrade(connection: sa.Connection, target: Migrated) -> None:
    config = _config(target.versions)
    config.attributes["connection"] = connection
    config.attributes["domain"] = target.domain
    command.upgrade(config, f"{target.domain}@head")


def _make_roles(connection: sa.Connection, settings: Settings, target: Migrated) -> None:
    domain = target.domain
    _make_role(connection, f"{domain}_owner", None)
    connection.exec_driver_sql(f"CREATE SCHEMA IF NOT EXISTS {domain} AUTHORIZATION {domain}_owner")
    engines = Engines(settings)
    logins = [domain, f"{domain}_system", *([f"{domain}_gate"] if target.gate else [])]
    for login in logins:
        _make_role(connection, login, urlsplit(engines.address(domain, login)).password or "")
        connection.exec_driver_sql(f"GRANT USAGE ON SCHEMA {domain} TO {login}")
        # A login may have changed its own defaults; only ours stay.
        connection.exec_driver_sql(f"ALTER ROLE {login} RESET ALL")
        connection.exec_driver_sql(f"ALTER ROLE {login} SET search_path = {domain}")
    connection.exec_driver_sql("REVOKE ALL ON SCHEMA public FROM PUBLIC")
    for extension in EXTENSIONS:
        connection.exec_driver_sql(f"CREATE EXTENSION IF NOT EXISTS {extension} SCHEMA public")
    # Migrations name operator classes and dictionaries; the logins still cannot name anything.
    connection.exec_driver_sql(f"GRANT USAGE ON SCHEMA public TO {domain}_owner")


def _make_role(connection: sa.Connection, name: str, password: str | None) -> None:
    # Several processes may migrate at once in tests: the lock makes «if absent» true.
    connection.exec_driver_sql("SELECT pg_advisory_xact_lock(hashtext('thenga roles'))")
    known = connection.exec_driver_sql(
        "SELECT 1 FROM pg_roles WHERE rolname = %s", (name,)
    ).scalar()
    if known is None:
        connection.exec_driver_sql(
            f"CREATE ROLE {name} NOSUPERUSER NOCREATEDB NOCREATEROLE NOBYPASSRLS"
        )
    if password is not None:
        quoted = password.replace("'", "''")
        connection.exec_driver_sql(f"ALTER ROLE {name} LOGIN PASSWORD '{quoted}'")
