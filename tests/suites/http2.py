"""HTTP/2 frames written by hand (RFC 9113): half and endless ones, which no client would send."""

from asyncio import StreamReader

DATA, HEADERS, SETTINGS, GOAWAY, CONTINUATION = 0, 1, 4, 7, 9
_END_STREAM, _END_HEADERS = 1, 4
_FRAME = 16 * 1024
# A connection begins with these bytes, and with settings, which may be empty.
PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + bytes([0, 0, 0, SETTINGS, 0, 0, 0, 0, 0])
_INDEXED = {0x88: 200, 0x8C: 400, 0x8D: 404, 0x8E: 500}  # statuses of HPACK's own table


def frame(kind: int, flags: int, payload: bytes, stream: int = 1) -> bytes:
    begin = len(payload).to_bytes(3, "big") + bytes([kind, flags]) + stream.to_bytes(4, "big")
    return begin + payload


def field(name: str, value: str) -> bytes:
    """A header as literal text, without compression (RFC 7541, section 6.2.2)."""
    texts = (name.encode(), value.encode())
    return b"\0" + b"".join(_length(len(text)) + text for text in texts)


def request(
    name: str, path: str, *fields: tuple[str, str], method: str = "GET", body: bytes | None = None
) -> bytes:
    """A request to `name`; one with a body leaves it open."""
    own = ((":method", method), (":scheme", "https"), (":authority", name), (":path", path))
    block = b"".join(field(*each) for each in (*own, *fields))
    parts = [block[start : start + _FRAME] for start in range(0, len(block), _FRAME)]
    made = b""
    for number, part in enumerate(parts):
        flags = _END_HEADERS if number == len(parts) - 1 else 0
        if number == 0 and body is None:
            flags |= _END_STREAM
        made += frame(CONTINUATION if number else HEADERS, flags, part)
    return made + (frame(DATA, 0, body) if body is not None else b"")


def unfinished(whole: bytes) -> bytes:
    """The same request, which says that more of its headers will come."""
    return whole[:4] + bytes([whole[4] & ~_END_HEADERS]) + whole[5:]


async def status(reader: StreamReader) -> int:
    """The status of the first answer; 0 for a connection that ends without one."""
    try:
        while True:
            begin = await reader.readexactly(9)
            payload = await reader.readexactly(int.from_bytes(begin[:3], "big"))
            if begin[3] == HEADERS:
                return _status(payload)
    except (EOFError, ConnectionError):
        return 0


def _status(block: bytes) -> int:
    """`:status` comes first: from HPACK's table, or as text that is no shorter when compressed."""
    if block[0] in _INDEXED:
        return _INDEXED[block[0]]
    length, text = block[1], block[2:5]
    assert length == len(text) == 3, f"unexpected status field {block[:8]!r}"
    return int(text)


def _length(count: int) -> bytes:
    """An integer with a prefix of 7 bits (RFC 7541, section 5.1)."""
    if count < 127:
        return bytes([count])
    made, rest = bytes([127]), count - 127
    while rest >= 128:
        made, rest = made + bytes([rest % 128 + 128]), rest // 128
    return made + bytes([rest])
