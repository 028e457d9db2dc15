"""Libraries that measure networks, beside csaw in its suites: a file each; the folder is the registry.

A file is named after its package. peer_loop.py runs it in a process of its own, by the interpreter that ``--peer``
names or, where the package is installed for csaw's, by that. It has WORKS, the names of works that it can do, and a
class Tool that imports the package when it is made:

    Tool(how, graph)    ``how`` has folder, vertices, directed, threads, the name of the work and what it needs: sources
                        of searches, or damping and tolerance; the ends of each edge, of an undirected one once, stand
                        in ``ends.npz`` of the folder
    draw()              does the work once
    edges(done)         1: what is counted are times that the work is done
"""

import sys
import tempfile
from collections.abc import Iterator
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from pkgutil import iter_modules

import numpy as np

from csaw.engine.bench.bench_row import Row, gap
from csaw.engine.bench.context import Context
from csaw.engine.bench.networks import Rows, ends_of
from csaw.engine.bench.peer_process import Child, PeerError
from csaw.partition.base.plain_data import OptionValue

FOLDER = Path(__file__).parent
NAMES = tuple(sorted(one.name for one in iter_modules(__path__)))


def measured(
    context: Context, graph: Rows, works: tuple[str, ...], *, directed: bool, **how: OptionValue
) -> Iterator[tuple[Row, list[float]]]:
    """Measure the works of a suite by each library that is there and has them.

    Yields:
        A row with the work and the peer, and the seconds of each repeat, after one that does not count; none where the
        row says why it was not measured.
    """
    names = {name: path for name in NAMES if (path := _python(context, name))}
    asked = [
        (work, name)
        for name in names
        for work in works
        if work in import_module(f"{__name__}.{name}").WORKS and context.only in f"{work}, {name}"
    ]
    if not asked:
        return
    with tempfile.TemporaryDirectory(dir=context.out) as folder:
        source, target = ends_of(graph, directed)
        np.savez(Path(folder, "ends.npz"), source=source, target=target)
        shape = {"vertices": graph.indptr.size - 1, "directed": directed, "threads": context.threads}
        for work, name in asked:
            row: Row = {"work": f"{work}, {name}", "peer": name, "ran_on": "cpu"}
            try:
                seconds = _seconds(name, names[name], how | shape | {"folder": folder, "work": work}, context.repeats)
            except PeerError as error:
                yield row | gap(row["work"], error), []
            else:
                yield row, seconds


def _python(context: Context, name: str) -> str:
    """The interpreter that has a library; empty where none is known."""
    return context.peers.get(name, sys.executable if find_spec(name) else "")


def _seconds(name: str, python: str, how: Row, repeats: int) -> list[float]:
    child = Child(name, python, how, FOLDER)
    try:
        return [1 / child.ask()["rate"] for _ in range(repeats)]
    finally:
        child.end()
