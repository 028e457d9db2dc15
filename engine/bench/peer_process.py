"""The parent's side of peer_loop.py: start a sampler in a process, ask for draws, end it."""

import json
import os
import select
import signal
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

from csaw.engine.bench.bench_row import Row
from csaw.engine.bench.machine import held_to
from csaw.partition.errors import OptionError

LOOP, PEERS = Path(__file__).with_name("peer_loop.py"), Path(__file__).with_name("peers")
LIMIT_SECONDS = 120.0  # limit for a draw, and for loading with the first draw


class PeerError(Exception):
    """A peer cannot be measured; the message says why."""


def check_folder(name: str, folder: str, programs: Iterable[str]) -> None:
    """OptionError if the folder of a peer's programs has not all of them."""
    if missing := [program for program in programs if not os.access(Path(folder, program), os.X_OK)]:
        raise OptionError(
            f"--peer {name}={folder}: expected a folder with the programs {', '.join(programs)}; "
            f"{missing[0]} is not there, or cannot be run"
        )


class Child:
    """A sampler, or a library of another ``folder``, in a process of its own, its graph loaded and one draw done.

    PeerError if that takes too long.
    """

    def __init__(self, name: str, python: str, how: Row, folder: Path | None = None) -> None:
        settings, self.errors = (Path(how["folder"], f"{name}.{what}") for what in ("json", "txt"))
        settings.write_text(json.dumps(how))
        file = (folder or PEERS) / f"{name.replace('-', '_')}.py"
        paths = {"PYTHONPATH": os.pathsep.join(sys.path)} if name == "csaw" else {}
        try:
            with open(self.errors, "wb") as errors, held_to(how["threads"]):
                self.process = subprocess.Popen(
                    [python, str(LOOP), str(file), str(settings)],
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=errors,
                    env=os.environ | paths,
                    start_new_session=True,
                )
        except OSError as error:
            raise PeerError(f"{python} cannot be run: {error.strerror}") from error
        while self._line() != "ready":  # skip other lines that it prints when it starts
            pass

    def _line(self) -> str:
        assert self.process.stdout is not None
        if not select.select([self.process.stdout], [], [], LIMIT_SECONDS)[0]:
            self.end()
            raise PeerError(f"a draw did not end within {LIMIT_SECONDS:.0f} s")
        line = self.process.stdout.readline()  # a whole line, as children flush line by line
        if not line:
            self.end()
            lines = self.errors.read_text(errors="replace").strip().splitlines()
            raise PeerError(lines[-1][-200:] if lines else f"it ended with status {self.process.returncode}")
        return line.decode().strip()

    def ask(self, out: str = "") -> dict[str, float]:
        """Ask for one draw; returns its edges a second and the peak memory so far.

        The sample is saved as ``out``, if given.
        """
        assert self.process.stdin is not None
        self.process.stdin.write(f"{out}\n".encode())
        self.process.stdin.flush()
        return json.loads(self._line())

    def end(self) -> None:
        """End the process, and with it the programs that it runs."""
        if self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.communicate()
