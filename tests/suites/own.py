"""PostgreSQL, NATS and Redis for one suite alone, because it breaks them."""

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests import meshes
from thenga.kernel.events import accounts
from thenga.kernel.process.settings import Settings
from thenga.tooling.dev import servers

# What suites about faults need; each further domain would only make their processes start later.
DOMAINS = ("identity", "organization", "billing", "notification")


@contextmanager
def own_servers(reads: accounts.Reads | None = None) -> Iterator[tuple[Path, dict[str, str]]]:
    """Their folder, and the settings of Thenga that reach them, as an environment."""
    folder = Path(tempfile.mkdtemp(prefix="thenga-suite-"))
    folder.chmod(0o755)
    try:
        settings = servers.up(folder, reads or meshes.reads(), names=("postgres", "nats", "redis"))
        yield (
            folder,
            settings | {"THENGA_TEST_BUILD": "true", "THENGA_DOMAINS": ",".join(DOMAINS)},
        )
    finally:
        servers.remove(folder)
        shutil.rmtree(folder, ignore_errors=True)


def settings_of(env: dict[str, str]) -> Settings:
    """The settings of such an environment, whatever this process was given itself."""
    named = {name.removeprefix("THENGA_").lower(): value for name, value in env.items()}
    return Settings.model_validate(named)
