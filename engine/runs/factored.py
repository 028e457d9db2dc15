"""A graph whose weights are the static factors of a bias, computed while they are read: plan/factors.py says which."""

from collections.abc import Collection, Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property

import numpy as np

from csaw.engine.api import hooks
from csaw.engine.api.algorithm import Algorithm, Walk
from csaw.engine.cpu.specialize import Kernels
from csaw.engine.plan.factors import Factors, split
from csaw.engine.plan.methods import Method
from csaw.partition.arrays.loader import AGAIN, StoredArray
from csaw.partition.base.parallel import processors
from csaw.partition.errors import BiasError, StoreError
from csaw.partition.graph.attributes import WEIGHT_RANGE, Attributes
from csaw.partition.graph.edge_columns import WEIGHT
from csaw.partition.graph.store import INDICES, GraphStore
from csaw.partition.graph.views import View

PIECE = 1 << 20  # edges whose factors a thread computes at a time
HEADER = """\
# Written by csaw; delete at will.
import math
import numpy as np
from csaw.engine.draws.portable import exponential as csaw_exponential, logarithm as csaw_logarithm, power as csaw_power
from csaw.partition.base.compile import inner, njit
"""


def factored(
    store: GraphStore, algorithm: Algorithm, weighted: bool, select: Method | None
) -> tuple[GraphStore, Algorithm, bool]:
    """The graph, the algorithm and whether weights count, by which a run is planned and drawn.

    Where the bias of a walk has a static factor beside its weight and a dynamic one with bounds, the static one takes
    the place of the weight; otherwise they are as given.
    """
    found = split(store, algorithm, weighted, select) if isinstance(algorithm, Walk) else None
    return (store, algorithm, weighted) if found is None else (Factored(store, found, weighted), found.walk, True)


class Factored(View):
    """``store`` with static factors as weights: float32, times a power of 2.

    It holds 8 bytes a vertex in memory where they depend on degrees.
    """

    is_plain = False  # files have other weights: no reader takes rows from them
    one_sided_weights = True

    def __init__(self, store: GraphStore, factors: Factors, weighted: bool) -> None:
        super().__init__(store, _attributes(store, factors))
        self.in_memory = store.in_memory
        self.static, self.scale = factors.static, factors.scale
        self.reads_weights = weighted and store.weighted

    @cached_property
    def _hook(self) -> hooks.Hook:
        return hooks.edge_bias(self.static, self.reads_weights)

    @cached_property
    def _kernels(self) -> Kernels:
        return Kernels({}, [self._hook], ("static_factors.py",), HEADER)

    @cached_property
    def degrees(self) -> np.ndarray:
        """int64 [V]; where nothing reads them, their number alone is right."""
        reads = {"src_degree", "dst_degree"} & self._hook.reads
        return np.diff(self.store.read_indptr()) if reads else np.broadcast_to(np.int64(0), self.vertices)

    def read_indptr(self) -> np.ndarray:
        return self.store.read_indptr()

    def read_offsets(self, number: int, out: np.ndarray | None = None) -> np.ndarray:
        return self.store.read_offsets(number, out)

    def read_edges(self, number: int, arrays: Mapping[str, np.ndarray], first: int = 0) -> None:
        out = arrays.get(WEIGHT.array)
        read = {name: array for name, array in arrays.items() if name != WEIGHT.array}
        if out is not None:
            if INDICES not in read:
                read[INDICES] = np.empty(out.size, self.id_dtype)
            if self.reads_weights:
                read[WEIGHT.array] = out  # which the factors take the place of
        self.store.read_edges(number, read, first)
        if out is not None and out.size:
            self._fill(number, first, read[INDICES], out)

    def _fill(self, number: int, first: int, indices: np.ndarray, out: np.ndarray) -> None:
        part, offsets = self.partitions[number], self.store.read_offsets(number)
        params, none = hooks.params(self.static), np.empty(0, np.float32)
        fill, degrees = self._kernels.fill_factors, self.degrees

        def piece(begin: int) -> int:
            span = slice(begin, begin + PIECE)
            weights = out[span] if self.reads_weights else none
            given = part.first_vertex, offsets, first + begin, indices[span], weights
            wrong = fill(params, degrees, *given, self.scale, out[span])
            return begin + wrong if wrong >= 0 else -1

        pieces = range(0, out.size, PIECE)
        if len(pieces) == 1:
            found = [piece(0)]
        else:
            with ThreadPoolExecutor(processors()) as threads:
                found = list(threads.map(piece, pieces))
        if (wrong := max(found)) >= 0:
            src = part.first_vertex + int(np.searchsorted(offsets, first + wrong, side="right")) - 1
            raise BiasError(
                f"{self.static.name()}.edge_bias is not a finite number of at least 0 for the edge {src} -> "
                f"{indices[wrong]} (dense ids)"
            )

    def opened(self, number: int, name: str) -> StoredArray:
        """Raise StoreError for weights: no file has static factors."""
        if name == WEIGHT.array:
            raise StoreError(f"{self.path}: no file has the factors of a bias; read them with read_edges; {AGAIN}")
        return self.store.opened(number, name)

    def read_ahead(self, number: int, names: Collection[str], first: int = 0, count: int | None = None) -> None:
        wanted = {WEIGHT.array: self.reads_weights}
        self.store.read_ahead(number, [name for name in names if wanted.get(name, True)], first, count)


def _attributes(store: GraphStore, factors: Factors) -> Attributes:
    """The attributes of the graph, with weights and their bytes."""
    more = 0 if store.weighted else WEIGHT.dtype.itemsize
    rows = [[p.first_vertex, p.last_vertex, p.first_edge, p.edges, p.nbytes + more * p.edges] for p in store.partitions]
    said = store.attributes.copy()
    said.pop(WEIGHT_RANGE, None)
    said.update({"weighted": True, "partitions": rows, "factor": [factors.text, list(hooks.params(factors.static))]})
    return said
