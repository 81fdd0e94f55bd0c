"""What runs in isolated children in tests: functions that behave, and some that do not."""

import ctypes
import os
import resource
import socket
import subprocess
import time
from pathlib import Path
from typing import Any

Options = dict[str, Any]
Result = tuple[bytes, Options]


def reverse(content: bytes, options: Options) -> Result:
    return content[::-1], {"length": len(content), **options}


def surroundings(content: bytes, options: Options) -> Result:
    """What a child is given, apart from its content."""
    return b"", {
        "environment": sorted(os.environ),
        "folder": str(Path.cwd()),
        "files": resource.getrlimit(resource.RLIMIT_NOFILE)[0],
        "memory": resource.getrlimit(resource.RLIMIT_AS)[0],
        "group": os.getpgid(0),
    }


def eat_memory(content: bytes, options: Options) -> Result:
    eaten = []
    while True:
        eaten.append(bytearray(8 * 1024 * 1024))


def loop(content: bytes, options: Options) -> Result:
    while True:
        pass


def sleep(content: bytes, options: Options) -> Result:
    time.sleep(3600)
    return b"", {}


def open_socket(content: bytes, options: Options) -> Result:
    with socket.create_connection(("127.0.0.1", options["port"]), timeout=2) as connection:
        connection.sendall(content)
    return b"", {}


def open_socket_in_c(content: bytes, options: Options) -> Result:
    """As a parser that was taken over would: past everything that Python can refuse."""
    libc = ctypes.CDLL(None)
    made = libc.socket(socket.AF_INET, socket.SOCK_STREAM, 0)
    address = socket.AF_INET.to_bytes(2, "little") + options["port"].to_bytes(2, "big")
    connected = libc.connect(made, address + bytes([127, 0, 0, 1]) + bytes(8), 16)
    return b"", {"connected": connected == 0}


def start_process(content: bytes, options: Options) -> Result:
    subprocess.run(["/bin/true"], check=True)
    return b"", {}


def leave_process_behind(content: bytes, options: Options) -> Result:
    """By C, as `os.fork` is refused: a process that would outlive its parent."""
    libc = ctypes.CDLL(None)
    if libc.fork() == 0:
        libc.sleep(3600)
        libc._exit(0)
    return b"", {}


def write_file(content: bytes, options: Options) -> Result:
    Path(options["path"]).write_bytes(content)
    return b"", {}


def crash(content: bytes, options: Options) -> Result:
    ctypes.string_at(0)
    return b"", {}


def leave(content: bytes, options: Options) -> Result:
    os._exit(0)


def fail(content: bytes, options: Options) -> Result:
    raise ValueError(content.decode())


def answer_too_much(content: bytes, options: Options) -> Result:
    return bytes(65 * 1024 * 1024), {}


def answer_no_json(content: bytes, options: Options) -> Result:
    return b"", {"value": object()}


def print_something(content: bytes, options: Options) -> Result:
    print("a library greets")
    os.write(1, b"and another one does so by its number")
    return b"right", {}
