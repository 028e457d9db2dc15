"""Pieces of work side by side, with results in the order of the pieces: what is made of them does not depend on the
number of threads.
"""

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from csaw.partition.base.parallel import Crew, processors


def in_order(work: Callable[..., Any], pieces: Iterable[tuple]) -> Iterator[Any]:
    """Yield ``work(*piece)`` of each piece, on all processors.

    Kernels, reads and hashes release the interpreter meanwhile.

    Two pieces for each thread are in work or wait to be taken, so memory is bounded.
    """
    with Crew(processors(), 0) as crew:
        yield from crew.in_order(work, pieces)
