"""The reference page in Chromium; `make prove` only, because CI has no browser."""

import os
from pathlib import Path

import pytest

from tests.suites.browsing import Chromium
from tests.suites.processes import ApiProcess, with_own_limits
from thenga import topology
from thenga.kernel.http.document import published
from thenga.kernel.process.settings import Settings

READABLE_MS = 2000.0
PICTURE = Path(__file__).parents[2] / "docs" / "pictures" / "reference.png"
# Opens what stands closed and tells whether a person can see it.
SHOWN = (
    "(words => words.every(word => document.querySelector('details[open].operation')"
    ".innerText.includes(word)))"
)
WANTED = (
    *("organization:equipment:create", "Crane", "stale-version", "Add equipment"),
    *("audience: tenant", "1950 to 2100"),
)

pytestmark = pytest.mark.prove(needs="Chromium")


def test_a_domain_is_readable_within_two_seconds(settings: Settings, tmp_path: Path) -> None:
    published.write(published.KEPT, topology.load(topology.DOMAINS))
    env = {key: value for key, value in os.environ.items() if key.startswith("THENGA_")}
    api = ApiProcess(with_own_limits(env, 9), tmp_path, name="reference")
    api.start()
    try:
        with Chromium(tmp_path) as browser:
            pages = ["/docs", *(f"/docs/{name}" for name in topology.DOMAINS)]
            took = {path: _readable_ms(browser, api, path) for path in pages}
            browser.open(f"{api.origin}/docs/organization#{_operation(browser, api)}")
            shown = browser.evaluate(f"{SHOWN}({list(WANTED)})")
            PICTURE.parent.mkdir(exist_ok=True)
            browser.picture(PICTURE)
    finally:
        api.kill()

    print("\nreference_page " + " ".join(f"{path}={ms:.0f}ms" for path, ms in took.items()))
    assert shown is True
    assert PICTURE.stat().st_size < 300_000
    assert max(took.values()) <= READABLE_MS


def _readable_ms(browser: Chromium, api: ApiProcess, path: str) -> float:
    browser.open(api.origin + path)
    return browser.readable_ms()


def _operation(browser: Chromium, api: ApiProcess) -> str:
    """Find an operation as a reader does: by typing two words, then following the link."""
    browser.open(f"{api.origin}/docs")
    browser.evaluate(
        "(() => { const f = document.getElementById('find'); f.value = 'post equipment:create';"
        " f.dispatchEvent(new Event('input')); })()"
    )
    found = browser.evaluate(
        "[...document.querySelectorAll('tr[data-find]:not([hidden]) a')].map(a => a.hash)"
    )
    assert len(found) == 1, found
    return str(found[0]).removeprefix("#")
