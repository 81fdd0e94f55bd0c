"""`docker`, where the pages of docs/ are run without an engine.

What an engine would start in a container is started here, with the settings of that container and
in a folder of its own. The services themselves were started by the test, from compose.yaml.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

from tests.composed import ROOT

_FILE = "engine.json"


def install(folder: Path, work: Path) -> Path:
    """A folder for PATH with a `docker` in it; its containers see nothing but `folder`."""
    place = work / "bin"
    place.mkdir()
    program = place / "docker"
    program.write_text(
        f'#!/bin/sh\nPYTHONPATH={ROOT} exec {sys.executable} -m tests.flows.engine {folder} "$@"\n'
    )
    program.chmod(0o755)
    return place


def know(folder: Path, environments: dict[str, dict[str, str]]) -> None:
    """The settings of the services that run."""
    (folder / _FILE).write_text(json.dumps(environments))


def main(folder: Path, *asked: str) -> None:
    match asked:
        case ("build", "-t", "thenga", ".") | ("compose", "up", "-d"):
            return
        case ("run", "--rm", "thenga", *command):
            sys.exit(_run(folder, command, {}))
        case ("compose", "exec", "-T", service, *command) | ("compose", "exec", service, *command):
            environments = json.loads((folder / _FILE).read_text())
            sys.exit(_run(folder, command, environments[service]))
    sys.exit(f"docker {' '.join(asked)}: not known here")


def _run(folder: Path, command: list[str], environment: dict[str, str]) -> int:
    program = str(Path(sys.executable).parent / command[0])
    own = {"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT / "src")}
    done = subprocess.run([program, *command[1:]], env=own | environment, cwd=folder, check=False)
    return done.returncode


if __name__ == "__main__":
    main(Path(sys.argv[1]), *sys.argv[2:])
