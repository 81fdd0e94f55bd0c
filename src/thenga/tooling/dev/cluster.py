"""The files of a PostgreSQL server, whose programs refuse to run as root."""

import os
import shutil
import signal
import subprocess
import tempfile
from pathlib import Path

from thenga.tooling.dev import processes

INIT_OPTIONS = ("--encoding=UTF8", "--locale=C.UTF-8", "--auth=scram-sha-256")


def user() -> str | None:
    """Whom the server runs as, where it may not be us."""
    return "postgres" if os.geteuid() == 0 else None


def find_program(name: str) -> str:
    """A program of the server: `pg_config` knows where, else the newest that Debian has."""
    folders = []
    if shutil.which("pg_config"):
        told = subprocess.run(["pg_config", "--bindir"], capture_output=True, text=True, check=True)
        folders.append(Path(told.stdout.strip()))
    debian = list(Path("/usr/lib/postgresql").glob("*/bin"))
    debian.sort(key=lambda path: float(path.parent.name), reverse=True)
    return processes.find_program(name, *folders, *debian)


def place(home: Path) -> Path:
    """Here, unless the server's user cannot come in or the path is too long for a socket."""
    root = home / "postgres"
    reached = _run(["test", "-x", str(home)]).returncode == 0
    if reached and len(str(root)) < 80:
        return root
    return Path(tempfile.mkdtemp(prefix="thenga-postgres-")).resolve()


def make(root: Path, admin_password: str) -> None:
    """Make `data` and `socket` under a root; whole, or not at all."""
    fresh, password = root / "fresh", root / "password"
    shutil.rmtree(fresh, ignore_errors=True)  # left by a start that was interrupted
    for folder in (root, root / "socket"):
        folder.mkdir(mode=0o700, exist_ok=True)
    password.unlink(missing_ok=True)
    password.touch(mode=0o600)
    password.write_text(admin_password)
    owner = user()
    if owner:
        for path in (root, root / "socket", password):
            shutil.chown(path, owner, owner)
    command = [find_program("initdb"), "-D", str(fresh), "-U", "postgres", *INIT_OPTIONS]
    # Not synced: a cluster that a power cut spoils in its first second is made again.
    made = _run([*command, f"--pwfile={password}", "--no-sync"])
    password.unlink()
    if made.returncode:
        raise RuntimeError(f"initdb failed: {made.stderr.strip()}")
    fresh.rename(root / "data")


def clear(root: Path) -> None:
    """Wait for the children of a killed server: they still hold its memory and its files."""
    data = root / "data"
    if not processes.wait(lambda: not processes.inside(data, "postgres"), 5):
        for child in processes.inside(data, "postgres"):
            processes.end(child, signal.SIGKILL, seconds=5)
    # Nobody is left, so these are stale, even if their pid belongs to a zombie or a stranger.
    for stale in (data / "postmaster.pid", *(root / "socket").glob(".s.PGSQL.*")):
        stale.unlink(missing_ok=True)


def _run(command: list[str]) -> "subprocess.CompletedProcess[str]":
    owner = user()
    return subprocess.run(
        command,
        capture_output=True,
        text=True,
        cwd="/",
        user=owner,
        group=owner,
        extra_groups=[] if owner else None,
        check=False,
    )
