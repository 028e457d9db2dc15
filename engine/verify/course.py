"""The course of a verification: what is checked, one after the other, and how far that is."""

from collections.abc import Callable, Iterable, Iterator

from csaw.engine.samples import Samples
from csaw.engine.samples.layouts import Arrays
from csaw.partition.base.parallel import Crew, Result, go_on, processors
from csaw.partition.base.stages import stage

FILES, GRAPH, VERTICES, JOINED = "files", "graph", "vertices", "joined instances"
CHOICES, EDGES, TRANSITIONS, LAW, FINGERPRINT = "choices", "edges", "transitions", "law", "fingerprint of the graph"
BASES, POWER = "base instances", "what the tests would find"
PIECE_BYTES = 1 << 20  # of a sample that are checked at a time: some seconds where an instance is a large subgraph


def checks_of(samples: Samples) -> tuple[str, ...]:
    """The checks of a sample in order; those that it turns out not to need are left out later."""
    contents = (CHOICES, EDGES, TRANSITIONS) if samples.has_walks else (EDGES, LAW)
    if samples.manifest["request"].get("target"):
        contents = (VERTICES, JOINED, BASES)
    return (FILES, GRAPH, *contents, FINGERPRINT, POWER)


def passed(
    samples: Samples, what: str = EDGES, watch: Callable[[int, Arrays], None] = lambda start, arrays: None
) -> Iterator[tuple[int, Arrays]]:
    """Read all instances in turn, as ``iter_groups`` does but fewer at a time, while ``what`` of them is checked.

    ``watch`` is told of each group, too.
    """
    each = max(samples.nbytes / max(samples.source.instances, 1), 1.0)
    size = samples.group_size if samples.is_virtual else max(1, min(samples.group_size, int(PIECE_BYTES / each)))
    with stage(what, samples.instances, "instances") as seen:
        for start, arrays in samples.iter_groups(size):
            go_on()
            watch(start, arrays)
            yield start, arrays
            seen(min(start + size, samples.instances))


# Pieces of work side by side, with results in the order of the pieces: what is made of them does not depend on the
# number of threads.


def in_order(work: Callable[..., Result], pieces: Iterable[tuple[object, ...]]) -> Iterator[Result]:
    """Yield ``work(*piece)`` of each piece, on all processors.

    Kernels, reads and hashes release the interpreter meanwhile.

    Two pieces for each thread are in work or wait to be taken, so memory is bounded.
    """
    with Crew(processors(), 0) as crew:
        yield from crew.in_order(work, pieces)
