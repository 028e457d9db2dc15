"""Commands run in this process before it forks: what they import and compile, the forks have."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

ENVIRONMENT = {
    "MALLOC_ARENA_MAX": "2",  # an arena a thread would take the address space that a fork may have
    "NUMBA_THREADING_LAYER": "workqueue",  # the one whose threads a fork may leave behind
    "NUMBA_NUM_THREADS": "2",
}


def small_chunks() -> None:
    """Chunks and groups of a few hundred bytes, so that small stores have many of each."""
    from csaw.engine.plan import planning
    from csaw.engine.samples import seal
    from csaw.partition.arrays import arrays

    sizes = ((arrays, "CHUNK_BYTES", 512), (planning, "GROUP_BYTES", 512), (seal, "EDGES_A_CHUNK", 64))
    for module, name, size in sizes:
        assert hasattr(module, name), f"{module.__name__} has no {name} any more"
        setattr(module, name, size)


def csaw(*arguments: str, folder: Path) -> int:
    """Run a command in this process, silently; its exit status."""
    from csaw.cli.main import main

    before, argv = Path.cwd(), sys.argv
    try:
        os.chdir(folder)
        sys.argv = ["csaw", *arguments]
        with _silent():
            main()
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else 0
    finally:
        os.chdir(before)
        sys.argv = argv
    return 0


def must(*arguments: str, folder: Path) -> None:
    """The same, for a command that the cases build on."""
    if code := csaw(*arguments, folder=folder):
        raise RuntimeError(f"csaw {' '.join(arguments)} ended with {code}")


def let_threads_go() -> None:
    """End the threads that zarr keeps: a fork would not have them."""
    from zarr.core.sync import cleanup_resources

    cleanup_resources()


@contextmanager
def _silent() -> Iterator[None]:
    """Send what the process writes to nowhere; the log's handlers stay on the real streams."""
    sys.stdout.flush()
    sys.stderr.flush()
    kept, nowhere = [os.dup(1), os.dup(2)], os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(nowhere, 1)
        os.dup2(nowhere, 2)
        yield
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        for number, descriptor in enumerate(kept, 1):
            os.dup2(descriptor, number)
            os.close(descriptor)
        os.close(nowhere)
