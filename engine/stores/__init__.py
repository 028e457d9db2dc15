"""Stores by their paths: open, verify, export and describe one, whatever it is and wherever its samples come from.

What is done with samples that are open, :mod:`csaw.engine.samples`, :mod:`csaw.engine.verify` and
:mod:`csaw.engine.export` do, which draw nothing. Here it is known how the samples of a virtual store are drawn.
"""

from pathlib import Path

from csaw.engine.api.registry import Algo
from csaw.engine.samples import Samples, check, open_stored
from csaw.engine.samples.check import VIRTUAL
from csaw.engine.samples.samples import READERS
from csaw.partition.base.python_names import kept, reading


@reading(READERS)
def open_samples(path: str | Path, graph: str | Path | None = None, algo: Algo | None = None) -> Samples:
    """Open the finished sample store at ``path``.

    A virtual sample is drawn from its graph store when it is read. Code that a store names is never run.

    Args:
        path: the sample store.
        graph: for a virtual sample, the path of its graph store; by default the path when it was sampled.
        algo: for a virtual sample, its algorithm, ``FILE.py:CLASS``, if it does not come with csaw.

    Returns:
        Samples, open for reading.

    Raises:
        OptionError: ``path`` is not a path.
        StoreError: the store is missing, unfinished, damaged, or of a later format; for a virtual sample also: its
            graph is missing or a different one, or its code was not given or has changed.
    """
    path = kept(path)
    attributes = check.attributes_of(path)
    if VIRTUAL not in attributes:
        return open_stored(path, attributes)
    from csaw.engine.runs.virtual import opened  # brings what draws

    return opened(path, attributes, graph, algo, {})
