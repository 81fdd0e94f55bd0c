"""A small internet on loopback: names that a test gives out, one site, and a tripwire.

Names are asked of a real DNS server on loopback. A connection to the site's two public addresses
reaches a real TLS server; one to any other address reaches the tripwire, which counts it.
"""

import asyncio
import ipaddress
import itertools
import socket
import ssl
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import dns.asyncquery
import dns.flags
import dns.message
import dns.rdatatype
import dns.rrset
import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

SITE = "tenders.example.co.za"
PORTAL = "etenders.gov.za"  # the national portal, which a test must never reach
PUBLIC = ("196.25.1.9", "2c0f:f930::9")


class Internet:
    """What names lead to, what the site answers, and who came where they must not."""

    def __init__(self) -> None:
        self.names: dict[str, Iterator[list[str]]] = {}
        self.lookups = 0
        self.hits: list[str] = []
        self.asked: list[bytes] = []
        self.answers: dict[str, bytes] = {}
        self.hold = False  # the site takes requests and says nothing

    def name(self, name: str, *each_time: list[str]) -> None:
        """Let a name lead there; with several lists, to another place at each look-up."""
        self.names[name] = itertools.chain(each_time[:-1], itertools.repeat(each_time[-1]))

    def answer(self, path: str, *head: str, status: str = "200 OK", body: bytes = b"") -> None:
        lines = [f"HTTP/1.1 {status}", f"Content-Length: {len(body)}", "Connection: close", *head]
        self.answers[path] = "\r\n".join([*lines, "", ""]).encode() + body

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(OSError, EOFError):  # the client may leave when it has seen enough
            request = await reader.readuntil(b"\r\n\r\n")
            self.asked.append(request)
            while self.hold:
                await asyncio.sleep(0.01)
            writer.write(self.answers.get(request.split()[1].decode(), b""))
            await writer.drain()
        writer.close()

    async def trip(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.hits.append(str(writer.get_extra_info("peername")))
        writer.close()


class _Names(asyncio.DatagramProtocol):
    """The DNS server."""

    def __init__(self, internet: Internet) -> None:
        self._internet = internet

    def connection_made(self, transport: Any) -> None:
        self._transport = transport

    def datagram_received(self, data: bytes, address: Any) -> None:
        query = dns.message.from_wire(data)
        asked = query.question[0]
        answer = dns.message.make_response(query)
        known = self._internet.names.get(asked.name.to_text(omit_final_dot=True))
        # Both kinds of address are answered to one question, so that one look-up is one question.
        for one in next(known) if known is not None else ():
            kind = "AAAA" if ":" in one else "A"
            answer.answer.append(dns.rrset.from_text(asked.name, 0, "IN", kind, one))
        self._transport.sendto(answer.to_wire(), address)


@asynccontextmanager
async def internet(
    monkeypatch: pytest.MonkeyPatch, folder: Path
) -> AsyncIterator[tuple[Internet, ssl.SSLContext]]:
    """The internet that this event loop sees, and what trusts its certificates."""
    made, loop = Internet(), asyncio.get_running_loop()
    serving, trusting = certificates(folder)
    site = await asyncio.start_server(made.serve, "127.0.0.1", 0, ssl=serving)
    wire = await asyncio.start_server(made.trip, "127.0.0.1", 0)
    names, _ = await loop.create_datagram_endpoint(
        lambda: _Names(made), local_addr=("127.0.0.1", 0)
    )
    port = names.get_extra_info("sockname")[1]
    look, connect = loop.getaddrinfo, loop.create_connection

    async def getaddrinfo(host: Any, at: Any, **more: Any) -> Any:
        text = host.decode() if isinstance(host, bytes) else host
        try:
            more.pop("flags", None)
            return await look(text, at, flags=socket.AI_NUMERICHOST, **more)
        except OSError:
            made.lookups += 1
        query = dns.message.make_query(text, dns.rdatatype.ANY)
        answer = await dns.asyncquery.udp(query, "127.0.0.1", port=port, timeout=5)
        found = [record.address for rrset in answer.answer for record in rrset]
        if not found:
            raise socket.gaierror(socket.EAI_NONAME, "no such name")
        return [entry for one in found for entry in await look(one, at, **more)]

    async def create_connection(factory: Any, host: Any = None, at: Any = None, **more: Any) -> Any:
        server = site if str(host) in PUBLIC else wire
        return await connect(factory, *server.sockets[0].getsockname(), **more)

    monkeypatch.setattr(loop, "getaddrinfo", getaddrinfo)
    monkeypatch.setattr(loop, "create_connection", create_connection)
    yield made, trusting
    site.close()
    wire.close()
    names.close()
    await asyncio.sleep(0.02)  # for connections that are just being served


def certificates(folder: Path) -> tuple[ssl.SSLContext, ssl.SSLContext]:
    """A server with the certificate of the site, and a client that trusts who signed it."""
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "Internet of tests")])
    now = datetime.now(UTC)
    alternatives = [
        x509.DNSName(SITE),
        *(x509.DNSName(f"*.{name}") for name in (SITE, PORTAL)),
        *(x509.IPAddress(ipaddress.ip_address(one)) for one in PUBLIC),
    ]
    certificate = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName(alternatives), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .sign(key, hashes.SHA256())
    )
    file = folder / "site.pem"
    file.write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )
        + certificate.public_bytes(serialization.Encoding.PEM)
    )
    serving = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    serving.load_cert_chain(file)
    return serving, ssl.create_default_context(cafile=str(file))
