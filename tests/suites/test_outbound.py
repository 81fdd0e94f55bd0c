"""Addresses that customers and feeds name: whatever they say, nobody inside is called."""

import ipaddress
import ssl
from collections.abc import AsyncIterator, Callable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import httpx2
import pytest
import pytest_asyncio

from tests.planting import plant
from tests.suites.internet import PUBLIC, SITE, Internet, internet
from thenga.kernel.outside import outbound
from thenga.kernel.outside.outbound import (
    AddressRefused,
    Outbound,
    Reply,
    Silence,
    Unreached,
    guarded,
)

# Its event loop is its own: names and connections of it lead to the internet of the test.
pytestmark = pytest.mark.asyncio(loop_scope="function")


def listed(text: str) -> tuple[str, ...]:
    return tuple(text.split())


V4 = listed("""
    0.0.0.0 0.1.2.3 10.0.0.1 10.255.255.254 100.64.0.1 100.100.100.200 100.127.255.254 127.0.0.1
    127.0.0.53 127.255.255.254 168.63.129.16 169.254.0.1 169.254.169.254 169.254.170.2 172.16.0.1
    172.17.0.1 172.31.255.254 192.0.0.8 192.0.0.9 192.0.0.192 192.0.2.1 192.31.196.1 192.52.193.1
    192.88.99.1 192.168.0.1 192.168.255.254 192.175.48.1 198.18.0.1 198.19.255.254 198.51.100.1
    203.0.113.1 224.0.0.1 239.255.255.250 240.0.0.1 255.255.255.254 255.255.255.255
""")
V6 = listed("""
    :: ::1 ::7f00:1 ::a9fe:a9fe ::ffff:127.0.0.1 ::ffff:10.0.0.1 ::ffff:169.254.169.254
    ::ffff:196.25.1.9 ::ffff:0:7f00:1 64:ff9b::7f00:1 64:ff9b::a00:1 64:ff9b::a9fe:a9fe
    64:ff9b:1::7f00:1 100::1 100:0:0:1::1 2001::1 2001:0:7f00:1:: 2001:2::1 2001:10::1 2001:20::1
    2001:db8::1 2002:7f00:1::1 2002:a00:1::1 2002:a9fe:a9fe::1 2620:4f:8000::1 3fff::1 4000::1
    5f00::1 fc00::1 fd00:ec2::254 fd12:3456:789a::1 fe80::1 fe80::a9fe:a9fe fec0::1 ff02::1 ff0e::1
""")
SPELLINGS = listed("""
    0 0x0 127.1 127.0.1 0x7f.1 0x7f000001 0177.0.0.1 017700000001 2130706433 0xa9fea9fe 2852039166
    169.254.43518 0251.0376.0251.0376 10.1 0x0a.0.0.1 192.168.257 127.0.0.1. 127。0。0。1
""")
UNSAID = listed("""
    http://196.25.1.9/ http://tenders.example.co.za/ ftp://tenders.example.co.za/ file:///etc/passwd
    gopher://127.0.0.1:6379/_INFO unix:///var/run/docker.sock //127.0.0.1/ https:///nowhere
    https://user:secret@tenders.example.co.za/ https://tenders.example.co.za@127.0.0.1/
    https://127.0.0.1\\@tenders.example.co.za/ https://tenders.example.co.za\\@127.0.0.1/
    https://[::1%25lo]/ https://[fe80::1%25eth0]/ https://[::1/ https://127.0.0.1:0/ https://a..b/
    https://localhost/ https://LOCALHOST/ https://localhost./ https://internal.example.co.za/
    https://ⓛocalhost/ https://%31%32%37.0.0.1/ https://127.0.0.1%00.example.co.za/ javascript:1
    data:text/plain,x https://*/ https://-/ /relative tenders.example.co.za 127.0.0.1
""")

Way = Callable[[Internet, str], str]


class Fetched(NamedTuple):
    """How many addresses were tried, how many answered, and who was called that must not be."""

    cases: int
    answered: int
    tripwire_hits: int


def _url(address: str, path: str = "/") -> str:
    return f"https://[{address}]{path}" if ":" in address else f"https://{address}{path}"


def _redirected(net: Internet, target: str) -> str:
    net.name(SITE, [PUBLIC[0]])
    net.answer("/moved", f"Location: {target}", status="302 Found")
    return f"https://{SITE}/moved"


def by_name(net: Internet, address: str) -> str:
    net.name("feed.example.org", [address])
    return "https://feed.example.org/"


def by_one_of_several(net: Internet, address: str) -> str:
    net.name("feed.example.org", [PUBLIC[0], address])
    return "https://feed.example.org/"


def by_redirect(net: Internet, address: str) -> str:
    return _redirected(net, _url(address))


def by_redirect_to_a_name(net: Internet, address: str) -> str:
    net.name("feed.example.org", [address])
    return _redirected(net, "https://feed.example.org/")


def by_a_name_that_changes(net: Internet, address: str) -> str:
    """Public when it is looked up first, inside ever after."""
    net.name(SITE, [PUBLIC[0]], [address])
    return f"https://{SITE}/"


def by_redirect_to_the_name_that_has_changed(net: Internet, address: str) -> str:
    moved = _redirected(net, "/")
    net.name(SITE, [PUBLIC[0]], [address])
    return moved


WAYS: tuple[Way, ...] = (
    by_name,
    by_one_of_several,
    by_redirect,
    by_redirect_to_a_name,
    by_a_name_that_changes,
    by_redirect_to_the_name_that_has_changed,
)


def cases() -> Iterator[tuple[Way, str]]:
    for address in (*V4, *V6):
        yield lambda net, address: _url(address), address
        yield from ((way, address) for way in WAYS)
    for spelling in SPELLINGS:
        yield lambda net, address: _url(address), spelling
        yield by_redirect, spelling
    for url in UNSAID:
        yield lambda net, url: url, url
        yield _redirected, url


async def fetch_all(net: Internet, *, step: int = 1) -> Fetched:
    """Try every case, or every `step`th one: a hole shows in a part of them too."""
    tried = answered = 0
    for way, what in islice(cases(), None, None, step):
        net.names.clear()
        net.name("localhost", ["127.0.0.1", "::1"])
        net.name("internal.example.co.za", ["10.0.0.7"])
        net.answer("/", body=b"[]")
        tried += 1
        try:
            await guarded(way(net, what), most_bytes=1000, seconds=60)
            answered += 1
        except (AddressRefused, Silence):
            pass
    return Fetched(tried, answered, len(net.hits))


@pytest_asyncio.fixture(loop_scope="function")
async def net(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> AsyncIterator[Internet]:
    async with internet(monkeypatch, tmp_path) as (made, trusting):
        monkeypatch.setattr(outbound, "tls", lambda **_: trusting)
        yield made


async def test_no_address_and_no_redirect_leads_inside(net: Internet) -> None:
    fetched = await fetch_all(net)

    print(
        f"cases={fetched.cases} answered={fetched.answered} tripwire_hits={fetched.tripwire_hits}"
    )
    assert fetched.cases >= 480
    # Only names that change after their look-up: they are fetched from where they led then.
    assert fetched.answered == len(V4) + len(V6)
    assert fetched.tripwire_hits == 0


async def _by_name_again(url: httpx2.URL) -> str:
    await _right(url)
    return url.host


async def _as_the_library_says(url: httpx2.URL) -> str:
    found = await _addresses(url)
    if not all(ipaddress.ip_address(one).is_global for one in found):
        raise AddressRefused("not a public address")
    return found[0]


async def _one_is_enough(url: httpx2.URL) -> str:
    found = await _addresses(url)
    if not any(map(outbound.is_public, found)):
        raise AddressRefused("not a public address")
    return found[-1]


async def _redirects_are_trusted(url: httpx2.URL) -> str:
    return await _right(url) if url.path == "/moved" else (await _addresses(url))[0]


async def _addresses(url: httpx2.URL) -> list[str]:
    return sorted(await outbound.addresses([url.host]))


_right = outbound._public_address


@pytest.mark.parametrize(
    "bug", [_by_name_again, _as_the_library_says, _one_is_enough, _redirects_are_trusted]
)
async def test_a_planted_guard_with_a_hole_is_found(
    net: Internet, monkeypatch: pytest.MonkeyPatch, bug: Callable[[httpx2.URL], str]
) -> None:
    plant(monkeypatch, outbound, "_public_address", bug)

    assert (await fetch_all(net, step=8)).tripwire_hits > 0


@pytest.mark.parametrize("address", PUBLIC)
async def test_a_public_site_is_fetched_under_its_own_name(net: Internet, address: str) -> None:
    net.name(SITE, [address])
    net.answer("/list?page=2", 'ETag: "7"', body=b'{"tenders": []}')

    reply = await guarded(
        f"https://{SITE}/list?page=2#top",
        headers={"If-None-Match": '"6"'},
        most_bytes=15,
        seconds=5,
    )

    assert reply == Reply(200, b'{"tenders": []}', reply.headers)
    assert reply.headers["etag"] == '"7"'
    assert (net.lookups, len(net.asked)) == (1, 1)
    assert f"\r\nhost: {SITE}\r\n".encode() in net.asked[0].lower()
    assert b'if-none-match: "6"' in net.asked[0].lower()


async def test_a_certificate_of_another_name_is_silence(net: Internet) -> None:
    net.name("other.example.org", [PUBLIC[0]])
    net.answer("/", body=b"[]")

    with pytest.raises(Silence):
        await guarded("https://other.example.org/", most_bytes=1000, seconds=60)

    assert net.asked == []


async def test_only_allowed_hosts_are_called_redirects_included(net: Internet) -> None:
    net.name(f"files.{SITE}", [PUBLIC[0]])
    url = _redirected(net, f"https://files.{SITE}/")
    net.answer("/", body=b"[]")

    reply = await guarded(url, hosts={SITE, f"files.{SITE}"}, most_bytes=1000, seconds=60)
    assert reply.status == 200
    with pytest.raises(AddressRefused):
        await guarded(url, hosts={SITE}, most_bytes=1000, seconds=60)


async def test_a_redirect_to_another_host_carries_no_secret(net: Internet) -> None:
    net.name(f"files.{SITE}", [PUBLIC[0]])
    url = _redirected(net, f"https://files.{SITE}/")
    net.answer("/", body=b"[]")
    sent = {"Authorization": "Bearer canary", "User-Agent": "Thenga (ops@thenga.test)"}

    await guarded(url, headers=sent, most_bytes=1000, seconds=60)

    first, second = net.asked
    assert b"canary" in first
    assert b"canary" not in second
    assert b"Thenga (ops@thenga.test)" in second


async def test_size_time_and_redirects_are_bounded(net: Internet) -> None:
    net.name(SITE, [PUBLIC[0]])
    net.answer("/large", body=bytes(1001))
    net.answer("/packed", "Content-Encoding: gzip", body=b"\x1f\x8b")
    net.answer("/circle", "Location: /circle", status="301 Moved Permanently")

    for path in ("/large", "/packed", "/circle", "/nothing"):
        with pytest.raises(Silence):
            await guarded(f"https://{SITE}{path}", most_bytes=1000, seconds=60)
    assert len(net.asked) == 9  # the circle is left after five redirects

    net.hold = True
    with pytest.raises(Silence, match="TimeoutError"):
        await guarded(f"https://{SITE}/large", most_bytes=10_000, seconds=0.2)
    net.hold = False


async def test_a_refused_request_is_an_answer(net: Internet) -> None:
    net.name(SITE, [PUBLIC[0]])
    net.answer("/", "Retry-After: 120", status="503 Service Unavailable")

    reply = await guarded(f"https://{SITE}/", most_bytes=1000, seconds=60)

    assert (reply.status, reply.headers["retry-after"]) == (503, "120")


async def _readings(monkeypatch: pytest.MonkeyPatch) -> int:
    """How often three calls to a provider read the certificates of the machine."""
    reads = 0
    usual = ssl.SSLContext.load_verify_locations

    def counting(self: ssl.SSLContext, *given: Any, **named: Any) -> None:
        nonlocal reads
        reads += 1
        usual(self, *given, **named)

    with monkeypatch.context() as patch:
        patch.setattr(ssl.SSLContext, "load_verify_locations", counting)
        for _ in range(3):
            with pytest.raises(Unreached):
                await Outbound("http://127.0.0.1:1").send("GET", "/")
    return reads


async def test_calls_to_providers_share_the_certificates(monkeypatch: pytest.MonkeyPatch) -> None:
    """To read them takes some 20 ms, in which the process answers nobody."""
    outbound.tls(trust_env=True)

    assert await _readings(monkeypatch) == 0


async def test_planted_calls_that_read_the_certificates_each_are_found(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(outbound, "tls", outbound.tls.__wrapped__)

    assert await _readings(monkeypatch) == 3
