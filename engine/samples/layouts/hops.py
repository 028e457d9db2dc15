"""Neighbor samples: a table of vertices for each hop."""

from collections.abc import Collection, Sequence
from itertools import pairwise
from pathlib import Path

import numpy as np

from csaw.engine.samples import files
from csaw.engine.samples.ids import bits
from csaw.engine.samples.layouts.declared import VERTEX, Declared, fixed
from csaw.engine.samples.layouts.layout import EDGE, Arrays, Shapes, Stored, Table
from csaw.engine.samples.pyg_batches import of_places
from csaw.engine.samples.pyg_parts import Batch
from csaw.partition.base.first_work import is_little
from csaw.partition.graph.about import NUMBER


class Hops(Table):
    """``hop_0`` [instances, m]: the sources; ``hop_1`` [instances, m f1], ``hop_2`` [instances, m f1 f2], ...

    Child j of column i is in column i f + j; fill where there is none.
    """

    name = "hops"
    words = "instance", "instances"
    printed = "neighbor sample", "neighbor samples"
    heading = "Neighbor samples: a sample is a table of neighbors for each hop"
    counts_visits = True
    first_ids = "hop_0"

    def declared(self, name: str) -> Declared:
        hop = int(name.removeprefix("hop_"))
        parents = f"; Samples.parents({hop}) has the columns of their parents in hop_{hop - 1}"
        said = f"vertices drawn at hop {hop}{parents}" if hop else "sources of each instance"
        return fixed(name, VERTEX, said, NUMBER, f"column_{hop}")

    def wanted(self, found: Collection[str]) -> list[str]:
        return hop_names(found) or [self.first_ids]

    def check_shapes(self, path: Path, shapes: Shapes) -> None:
        widths = [shape[1] for shape in shapes.values()]
        if any(b % a if a else b for a, b in pairwise(widths)):
            files.refuse(path, "hops that are multiples of the hop before in width", widths)

    def fits(self, stored: Stored, sizes: Sequence[int]) -> bool:
        widths = [stored[name].shape[1] for name in hop_names(stored)]
        return len(widths) == len(sizes) + 1 and all(
            b == a * k for (a, b), k in zip(pairwise(widths), sizes, strict=True)
        )

    def read(self, path: Path, stored: Stored, start: int, stop: int) -> Arrays:
        return {name: stored[name][start:stop] for name in hop_names(stored)}

    def edges(self, arrays: Arrays, fill: int) -> Arrays:
        """The edges of a group, breadth first within each instance."""
        from csaw.engine.samples.kernels import edges_of_hop

        counts, kind = self.edges_of_each(arrays, fill), arrays["hop_0"].dtype
        places, total = np.cumsum(counts) - counts, int(counts.sum())
        edges = {name: np.empty(total, held) for name, held in zip(EDGE, (np.int64, kind, kind, np.int32), strict=True)}
        for depth, (src, dst) in enumerate(pairwise(arrays.values())):
            edges_of_hop(bits(src), bits(dst), bits(fill, kind), depth, places, *map(bits, edges.values()))
        return edges

    def edges_of_each(self, arrays: Arrays, fill: int) -> np.ndarray:
        counts, hops = np.zeros(len(arrays["hop_0"]), np.int64), list(arrays.values())[1:]
        if is_little(sum(hop.nbytes for hop in hops)):
            return sum((np.count_nonzero(hop != hop.dtype.type(fill), axis=1) for hop in hops), counts)
        from csaw.engine.samples.kernels import count_present

        for hop in hops:
            count_present(bits(np.ascontiguousarray(hop)), bits(fill, hop.dtype), counts)
        return counts

    def sources(self, arrays: Arrays) -> tuple[np.ndarray, np.ndarray]:
        first = np.ascontiguousarray(arrays["hop_0"])
        return first.reshape(-1), np.full(len(first), first.shape[1], np.int64)

    def visits(self, arrays: Arrays, fill: int, skipped: int) -> np.ndarray:
        return np.concatenate(list(self._present(arrays, fill)))

    def look(self, arrays: Arrays, fill: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        sizes = np.zeros(len(arrays["hop_0"]), np.int64)
        for name, hop in arrays.items():
            if name != "hop_0":
                sizes += (hop != hop.dtype.type(fill)).sum(axis=1)
        return sizes, np.concatenate(list(self._present(arrays, fill))), arrays["hop_0"][:0, 0]

    def _present(self, arrays: Arrays, fill: int) -> list[np.ndarray]:
        """The vertices of each hop, without fill."""
        return [hop[hop != hop.dtype.type(fill)] for hop in arrays.values()]

    def as_batch(self, arrays: Arrays, fill: int, stored: Stored, start: int) -> Batch:
        return of_places(list(arrays.values()), fill, start, as_walks=False)


def hop_names(names: Collection[str]) -> list[str]:
    """Return hop_0, hop_1, ..., as far as there are such ``names``."""
    return [f"hop_{k}" for k in range(sum(name.startswith("hop_") for name in names))]
