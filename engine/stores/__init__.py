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

    A virtual one is drawn when it is read, from its graph store. Code that a store names is never run.

    Args:
        path: the sample store.
        graph: of a virtual sample, the path of its graph store; by default the place where it was.
        algo: of a virtual sample that an algorithm draws that csaw does not ship, that algorithm, ``FILE.py:CLASS``.

    Returns:
        Samples, open for reading.

    Raises:
        OptionError: it is no path.
        StoreError: the store is missing, unfinished, damaged, or of a later format; of a virtual one, its graph is
            missing or another, or nobody has named its code, or the file is another than it was.
    """
    path = kept(path)
    attributes = check.attributes_of(path)
    if VIRTUAL not in attributes:
        return open_stored(path, attributes)
    from csaw.engine.runs.virtual import opened  # brings what draws

    return opened(path, attributes, graph, algo, {})
