"""Neighbor samples: a table of vertices for each hop."""

import sys
from collections.abc import Collection, Sequence, Sized
from itertools import pairwise
from pathlib import Path

import numpy as np

from csaw.engine.samples import files
from csaw.engine.samples.array import bits
from csaw.engine.samples.layouts.layout import (
    EDGE,
    NUMBERS,
    SEED_TIME,
    TIME,
    VERTEX,
    Arrays,
    Declared,
    Shapes,
    Stored,
    Table,
    fixed,
)
from csaw.engine.samples.pyg_batches import EDGE_TYPE, Batch, of_places
from csaw.partition.base.first_work import is_little
from csaw.partition.graph.attributes import NUMBER
from csaw.partition.graph.types import RELATION

TIME_OF, RELATION_OF = "time_", f"{RELATION.name}_"


RELATION_KIND = "|u1"


class Hops(Table):
    """``hop_0`` [instances, m]: the sources; ``hop_1`` [instances, m f1], ``hop_2`` [instances, m f1 f2], ...

    Child j of column i is in column i f + j; fill where there is none. Samples in time have ``seed_time``, of the shape
    of hop_0, and ``time_1``, ``time_2``, ..., the time of the edge to each vertex of hop_1, hop_2, ... Samples with
    fanouts by relation have ``relation_1``, ``relation_2``, ..., the relation of that edge.
    """

    name = "hops"
    words = "instance", "instances"
    printed = "neighbor sample", "neighbor samples"
    heading = "Neighbor samples: a sample is a table of neighbors for each hop"
    counts_visits = True
    first_ids = "hop_0"

    def declared(self, name: str) -> Declared:
        if name == SEED_TIME:
            return fixed(name, NUMBERS, "time of each source, in the units of the graph", NUMBER, "column_0")
        if is_time_of_hop(name):
            hop = int(name.removeprefix(TIME_OF))
            said = f"time of the edge to each vertex of hop_{hop}, in the units of the graph; -2^63 where there is none"
            return fixed(name, NUMBERS, said, NUMBER, f"column_{hop}")
        if name.startswith(RELATION_OF):
            hop = int(name.removeprefix(RELATION_OF))
            said = f"number of the relation of the edge to each vertex of hop_{hop}; 0 where there is none"
            return fixed(name, RELATION_KIND, said, NUMBER, f"column_{hop}")
        hop = int(name.removeprefix("hop_"))
        parents = f"; Samples.parents({hop}) has the columns of their parents in hop_{hop - 1}"
        said = f"vertices drawn at hop {hop}{parents}" if hop else "sources of each instance"
        return fixed(name, VERTEX, said, NUMBER, f"column_{hop}")

    def wanted(self, found: Collection[str]) -> list[str]:
        hops = hop_names(found) or [self.first_ids]
        times = time_names(hops) if SEED_TIME in found else []
        return [*hops, *times, *(relation_names(hops) if f"{RELATION_OF}1" in found else [])]

    def check_shapes(self, path: Path, shapes: Shapes) -> None:
        hops = hop_names(shapes)
        widths = [shapes[name][1] for name in hops]
        if any(b % a if a else b for a, b in pairwise(widths)):
            files.refuse(path, "hops that are multiples of the hop before in width", widths)
        for hop, time in zip(hops, time_names(hops), strict=True):
            if shapes.get(time, shapes[hop]) != shapes[hop]:
                files.refuse(path / time, f"the shape of {hop}, {shapes[hop]}", shapes[time])
        for hop, relation in zip(hops[1:], relation_names(hops), strict=True):
            if shapes.get(relation, shapes[hop]) != shapes[hop]:
                files.refuse(path / relation, f"the shape of {hop}, {shapes[hop]}", shapes[relation])

    def fits(self, stored: Stored, sizes: Sequence[int]) -> bool:
        widths = [stored[name].shape[1] for name in hop_names(stored)]
        return len(widths) == len(sizes) + 1 and all(
            b == a * k for (a, b), k in zip(pairwise(widths), sizes, strict=True)
        )

    def read(self, path: Path, stored: Stored, start: int, stop: int) -> Arrays:
        return {name: stored[name][start:stop] for name in self.wanted(stored)}

    def edges(self, arrays: Arrays, fill: int) -> Arrays:
        """The edges of a group, breadth first within each instance."""
        from csaw.engine.samples.kernels import edges_of_hop

        counts, kind = self.edges_of_each(arrays, fill), arrays["hop_0"].dtype
        places, total = np.cumsum(counts) - counts, int(counts.sum())
        edges = {name: np.empty(total, held) for name, held in zip(EDGE, (np.int64, kind, kind, np.int32), strict=True)}
        timed, typed = SEED_TIME in arrays, f"{RELATION_OF}1" in arrays
        further = {TIME: np.empty(total, np.int64)} if timed else {}
        further |= {RELATION.name: np.empty(total, np.int32)} if typed else {}
        for depth, (src, dst) in enumerate(pairwise(_hops(arrays))):
            for name, found in further.items():
                row, column = np.nonzero(dst != kind.type(fill))
                place = places[row] + np.arange(row.size) - np.searchsorted(row, row)
                found[place] = arrays[f"{name}_{depth + 1}"][row, column]
            edges_of_hop(
                bits(src), bits(dst), bits(fill, kind), depth, places, *(bits(held) for held in edges.values())
            )
        return edges | further

    def edges_of_each(self, arrays: Arrays, fill: int) -> np.ndarray:
        hops = _hops(arrays)[1:]
        if is_little(sum(hop.nbytes for hop in hops)):
            return self._counted(arrays, fill)
        from csaw.engine.samples.kernels import count_present

        counts = np.zeros(len(arrays["hop_0"]), np.int64)
        for hop in hops:
            count_present(bits(np.ascontiguousarray(hop)), bits(fill, hop.dtype), counts)
        return counts

    def counted_edges(self, arrays: Arrays, fill: int) -> np.ndarray:
        """By NumPy where Numba is not loaded: side by side, threads count gigabytes in less time than that takes."""
        return self.edges_of_each(arrays, fill) if "numba" in sys.modules else self._counted(arrays, fill)

    def _counted(self, arrays: Arrays, fill: int) -> np.ndarray:
        counts = np.zeros(len(arrays["hop_0"]), np.int64)
        return sum((np.count_nonzero(hop != hop.dtype.type(fill), axis=1) for hop in _hops(arrays)[1:]), counts)

    def sources(self, arrays: Arrays) -> tuple[np.ndarray, np.ndarray]:
        first = np.ascontiguousarray(arrays["hop_0"])
        return first.reshape(-1), np.full(len(first), first.shape[1], np.int64)

    def members(self, arrays: Arrays, fill: int) -> list[tuple[np.ndarray, np.ndarray]]:
        """Sources for which nothing was drawn."""
        sources, *drawn = _hops(arrays)[:2]
        empty = sources != sources.dtype.type(fill)
        for hop in drawn:
            width = hop.shape[1] // max(sources.shape[1], 1)
            empty &= (hop == hop.dtype.type(fill)).reshape(*sources.shape, width).all(axis=2)
        return [(np.nonzero(empty)[0], sources[empty])]

    def visits(self, arrays: Arrays, fill: int, skipped: int) -> np.ndarray:
        return np.concatenate(list(self._present(arrays, fill)))

    def look(self, arrays: Arrays, fill: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        sizes = np.zeros(len(arrays["hop_0"]), np.int64)
        for hop in _hops(arrays)[1:]:
            sizes += (hop != hop.dtype.type(fill)).sum(axis=1)
        return sizes, np.concatenate(list(self._present(arrays, fill))), arrays["hop_0"][:0, 0]

    def rows_read(self, arrays: Arrays, depth: int | None) -> list[tuple[np.ndarray, str]]:
        return [(hop, "") for hop in _hops(arrays)[:depth]]

    def _present(self, arrays: Arrays, fill: int) -> list[np.ndarray]:
        """The vertices of each hop, without fill."""
        return [hop[hop != hop.dtype.type(fill)] for hop in _hops(arrays)]

    def as_batch(self, arrays: Arrays, fill: int, stored: Stored, start: int) -> Batch:
        hops = _hops(arrays)
        made = of_places(hops, fill, start, as_walks=False)
        if SEED_TIME in arrays:
            seeds, *times = (
                arrays[name][hop != hop.dtype.type(fill)]
                for name, hop in zip(time_names(hop_names(arrays)), hops, strict=True)
            )
            made |= {SEED_TIME: seeds, "edge_time": np.concatenate([np.zeros(0, np.int64), *times])}
        if f"{RELATION_OF}1" in arrays:
            relations = zip(relation_names(hops), hops[1:], strict=True)
            made[EDGE_TYPE] = np.concatenate(
                [arrays[name][hop != hop.dtype.type(fill)].astype(np.int64) for name, hop in relations]
            )
        return made


def hop_names(names: Collection[str]) -> list[str]:
    """Return hop_0, hop_1, ..., as far as there are such ``names``."""
    return [f"hop_{k}" for k in range(sum(name.startswith("hop_") for name in names))]


def time_names(hops: Sized) -> list[str]:
    """Return the names of the arrays of times of so many hops: of the sources, and of the edges to each further hop."""
    return [f"{TIME_OF}{k}" if k else SEED_TIME for k in range(len(hops))]


def relation_names(hops: Sized) -> list[str]:
    """Return the names of the arrays of relations of the edges to each of so many hops after the first."""
    return [f"{RELATION_OF}{k}" for k in range(1, len(hops))]


def is_relation_of_hop(name: str) -> bool:
    """Whether an array has the relations of the edges to a hop."""
    return name.startswith(RELATION_OF) and name.removeprefix(RELATION_OF).isdigit()


def is_time_of_hop(name: str) -> bool:
    """Whether an array has the times of the edges to a hop."""
    return name.startswith(TIME_OF) and name.removeprefix(TIME_OF).isdigit()


def _hops(arrays: Arrays) -> list[np.ndarray]:
    """The tables of vertices."""
    return [arrays[name] for name in hop_names(arrays)]
