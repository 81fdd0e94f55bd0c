"""A database of its own in the run's PostgreSQL, for a suite that turns its protection off."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import psycopg
from pydantic import SecretStr

from thenga.kernel.db.migrate import Migrated, migrate
from thenga.kernel.process.settings import Settings
from thenga.tooling.dev.servers import DATABASE


@contextmanager
def database_apart(
    settings: Settings, name: str, targets: Sequence[Migrated]
) -> Iterator[Settings]:
    """The same settings for a new database with these domains in it; dropped at the end."""
    admin = settings.admin_database.get_secret_value()
    with psycopg.connect(admin, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name} TEMPLATE template0")
        made = settings.model_copy(
            update={
                "database": _named(settings.database, name),
                "system_database": _named(settings.system_database, name),
                "admin_database": SecretStr(_named(admin, name)),
            }
        )
        try:
            migrate(made, targets)
            yield made
        finally:
            connection.execute(f"DROP DATABASE {name} WITH (FORCE)")


def _named(address: str, name: str) -> str:
    return address.removesuffix(f"/{DATABASE}") + f"/{name}"
