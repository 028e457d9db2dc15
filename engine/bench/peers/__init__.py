"""Other samplers, and csaw as one of them, each run by engine/bench/peer_loop.py in an interpreter that has it.

Programs are rows of the table in programs.py, Python packages classes in libraries.py, csaw is in csaw.py; a TOOLS of
each file names them. These files import nothing but NumPy at their tops, so that they can be read where no sampler is
installed, and by interpreters that do not have csaw. A class, or a row of the table, has

    works               the names of works that it can draw, all if there are none; ``on_gpu`` those on a GPU, if fewer
    devices             where it draws
    programs            the names of its programs, if it is no Python package: ``--peer NAME=FOLDER`` says where
    unchecked           why its law cannot be tested; empty if it can
    (how, graph)        makes the tool. ``how`` has folder, length, rounds, threads, device, listed (sources), together
                        (sources a call) and the work's options, and of programs their folder as ``programs``, and
                        ``keep`` where the walks are asked for; ``graph()`` gives indptr, indices and weights of a CSR,
                        of works in time also times

and a tool has

    draw()              the sample, in whatever form the sampler gives it
    edges(drawn)        how many edges were sampled; left out where ``drawn`` is a list of arrays of walks
    walks(drawn)        walks as an array [walks, vertices], or edges as [edges, 2]; of works in time the times of steps
                        stand behind the vertices, and -1 after the end of a walk; left out likewise
    rate(drawn)         edges a second by the sampler's own clock; left out where the time of draw() is what a user
                        waits for

``how`` may have ``walks``, how many walks begin, at the first sources of ``listed`` (programs: at the first vertices);
without it they begin at every vertex, ``rounds`` times.
"""

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
from csaw.engine.bench.peers import csaw, libraries, programs
from csaw.partition.errors import OptionError

FIRST = "csaw"
Tool = type[csaw.Tool] | type[libraries.Library] | programs.ProgramPeer
OTHERS: dict[str, Tool] = {**libraries.TOOLS, **programs.TOOLS}
TOOLS: dict[str, Tool] = {**csaw.TOOLS, **dict(sorted(OTHERS.items()))}
LOOP = Path(__file__).parents[1] / "peer_loop.py"
LIMIT_SECONDS = 120.0  # limit for a draw, and for loading with the first draw


def file_of(name: str) -> Path:
    """The file that has a peer."""
    return next(Path(str(one.__file__)) for one in (csaw, libraries, programs) if name in one.TOOLS)


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
    """A sampler, or a tool of another ``file``, in a process of its own, its graph loaded and one draw done.

    PeerError if that takes too long.
    """

    def __init__(self, name: str, python: str, how: Row, file: Path | None = None) -> None:
        settings, self.errors = (Path(how["folder"], f"{name}.{what}") for what in ("json", "txt"))
        settings.write_text(json.dumps(how))
        file = file or file_of(name)
        paths = {"PYTHONPATH": os.pathsep.join(sys.path)} if name == "csaw" else {}
        try:
            with open(self.errors, "wb") as errors, held_to(how["threads"]):
                self.process = subprocess.Popen(
                    [python, str(LOOP), str(file), name, str(settings)],
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
