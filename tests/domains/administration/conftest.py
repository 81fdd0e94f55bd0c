"""What tests of Administration begin with."""

import pytest

from tests.conftest import Time
from tests.domains.administration.working import Worker
from thenga.kernel.process.host import Host


@pytest.fixture
def worker(host: Host, seeded: None, clock: Time) -> Worker:
    """The jobs of Administration."""
    return Worker(host, clock)
