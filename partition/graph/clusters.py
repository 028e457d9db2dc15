"""Clusters of vertices, for ClusterGCN (Chiang et al., KDD 2019): each vertex is in one, and they are of about equal
size.

metis    k-way partitioning by METIS (Karypis and Kumar, SIAM J. Sci. Comput. 20(1), 1998): few edges between clusters;
         needs pymetis
lp       vertices in breadth-first order, cut into equal parts, which then trade vertices by label propagation with a
         bound on sizes (Meyerhenke, Sanders and Schulz, SEA 2014); for graphs that METIS takes too long for
random   a random order of the vertices, cut into equal parts
"""

import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, Self, TypedDict

import numpy as np

from csaw.partition.errors import BudgetError, MissingDependencyError, OptionError, StoreError
from csaw.partition.graph.given_arrays import array_of
from csaw.partition.graph.parts import Graph

METHODS = ("metis", "lp", "random")
MOST = 2**31 - 1  # clusters, and for METIS entries of rows: its integers have 32 bits
ROUNDS = 10  # of label propagation: later ones move hardly any vertex
SLACK = 1.1  # largest cluster of label propagation, in mean sizes


class Made(TypedDict):
    """How clusters were made, and how many they are."""

    count: int
    method: str
    seed: int


class DescribedClusters(Made):
    """The clusters of a graph store, as its attributes have them."""

    digest: str


class Loaded(Protocol):
    """A graph store, of which clusters are made."""

    vertices: int

    def load(self) -> Graph: ...


@dataclass(frozen=True)
class Clusters:
    """The clusters of a graph store, as its attributes have them. ``digest``: of the array, 32 hexadecimal digits."""

    count: int
    method: str
    seed: int
    digest: str

    @classmethod
    def of(cls, said: DescribedClusters) -> Self:
        """The clusters that attributes describe, which may say more."""
        return cls(said["count"], said["method"], said["seed"], said["digest"])

    def checked(self, path: Path, found: np.ndarray) -> np.ndarray:
        """``found``, the array of the store at ``path``; StoreError if it has another digest."""
        if digest_of(found) != self.digest:
            raise StoreError(
                f"{path}/clusters: expected the digest {self.digest}, found {digest_of(found)}; make the "
                "store again with csaw partition"
            )
        return found


def stored_clusters(path: Path, clusters: Clusters | None) -> Clusters:
    """The ``clusters`` of the store at ``path``; StoreError where there are none."""
    if clusters is None:
        raise StoreError(
            f"{path} has no clusters; make a store with clusters: csaw partition FILE OUT --num-clusters N"
        )
    return clusters


def digest_of(clusters: np.ndarray) -> str:
    """The digest of an array of clusters."""
    return hashlib.sha256(np.ascontiguousarray(clusters, "<i4").tobytes()).hexdigest()[:32]


def given_clusters(clusters: np.ndarray, vertices: int) -> tuple[np.ndarray, Made]:
    """The caller's own clusters as they are stored, and how they were made.

    OptionError unless they are one number for each vertex, from 0 to MOST - 1.
    """
    found = array_of("clusters", clusters)
    if (
        found.shape != (vertices,)
        or found.dtype.kind not in "iu"
        or (found.size and not 0 <= found.min() <= found.max() < MOST)
    ):
        raise OptionError(
            f"clusters: expected {vertices:,} integers of at least 0, one for each vertex, found {found.dtype} "
            f"{found.shape}"
        )
    return found.astype(np.int32), {"count": int(found.max(initial=-1)) + 1, "method": "given", "seed": 0}


def make_clusters(store: Loaded, count: int, method: str, seed: int) -> np.ndarray:
    """Make the cluster of each vertex of an open graph store: int32 [vertices], from 0 to ``count`` - 1, of which METIS
    may leave some unused.

    Reads the whole graph into memory, but for ``random``. Equal graphs, counts, methods and seeds give equal clusters;
    ``seed`` does not count for ``lp``.

    OptionError where there are fewer vertices than clusters; MissingDependencyError without pymetis, BudgetError for a
    graph that METIS cannot number.
    """
    if count > min(store.vertices, MOST):
        raise OptionError(
            f"--num-clusters: expected at most the graph's {min(store.vertices, MOST):,} vertices, found {count:,}"
        )
    if method == "random":
        return _cut(shuffled(store.vertices, seed), count)
    graph = store.load()
    if method == "metis":
        return _by_metis(graph.indptr, graph.indices, count, seed)
    from csaw.partition.graph.cluster_kernels import breadth_first, propagate  # brings Numba

    order = np.empty(store.vertices, np.int64)
    breadth_first(graph.indptr, graph.indices, order)
    clusters = _cut(order, count)
    most = max(int(SLACK * store.vertices / count), -(-store.vertices // count))
    propagate(graph.indptr, graph.indices, clusters, np.bincount(clusters, minlength=count), most, ROUNDS)
    return clusters


def joined_clusters(clusters: np.ndarray, count: int, ends: np.ndarray, vertices: int) -> np.ndarray:
    """The clusters of a graph that has grown. Vertices keep theirs. Each new one, in the order of dense ids, joins
    that of most of its neighbors, or the smallest if none has a cluster yet; of equal ones the first.

    ``clusters``: int32, of the vertices before. ``ends``: dense ids int64 [2, edges] of the edges of new vertices.
    """
    first, sizes = clusters.size, np.bincount(clusters, minlength=count)
    found = np.concatenate([clusters, np.full(vertices - first, -1, np.int32)])
    source, target = np.concatenate([ends, ends[::-1]], axis=1)
    target = target[np.argsort(source, kind="stable")]
    bounds = np.searchsorted(np.sort(source), np.arange(first, vertices + 1))
    for v, low, high in zip(range(first, vertices), bounds[:-1].tolist(), bounds[1:].tolist(), strict=True):
        near = found[target[low:high]]
        votes = np.bincount(near[near >= 0], minlength=count)
        found[v] = votes.argmax() if votes.any() else sizes.argmin()
        sizes[found[v]] += 1
    return found


def _cut(order: np.ndarray, count: int) -> np.ndarray:
    """The clusters of vertices when ``order`` is cut into ``count`` parts whose sizes differ by one at most."""
    clusters = np.empty(order.size, np.int32)
    clusters[order] = np.repeat(
        np.arange(count), np.diff(np.arange(count + 1, dtype=object) * order.size // count).astype(np.int64)
    )
    return clusters


def shuffled(vertices: int, seed: int) -> np.ndarray:
    """The vertices in order of 64-bit hashes of their numbers, which depend on the seed (SplitMix64: Steele, Lea and
    Flood, OOPSLA 2014).
    """
    return np.argsort(random_words(vertices, seed), kind="stable")


def random_words(vertices: int, seed: int) -> np.ndarray:
    """uint64 [vertices]: these hashes."""
    with np.errstate(over="ignore"):
        key = _mixed(np.uint64(seed % 2**64) + np.zeros(1, np.uint64))
        return _mixed(key + np.arange(vertices, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15))


def _mixed(word: np.ndarray) -> np.ndarray:
    word = word + np.uint64(0x9E3779B97F4A7C15)
    word = (word ^ (word >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    word = (word ^ (word >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.asarray(word ^ (word >> np.uint64(31)))


def _by_metis(indptr: np.ndarray, indices: np.ndarray, count: int, seed: int) -> np.ndarray:
    """METIS wants each edge in both directions, and none from a vertex to itself."""
    try:
        import pymetis
    except ImportError as error:
        raise MissingDependencyError("metis needs pymetis: pip install pymetis, or choose lp or random") from error
    from scipy.sparse import csr_array

    vertices = indptr.size - 1
    whole = csr_array((np.ones(indices.size, np.int8), indices.astype(np.int64), indptr), shape=(vertices, vertices))
    both = (whole.astype(bool) + whole.T.astype(bool)).tocoo()
    apart = both.coords[0] != both.coords[1]
    rows, columns = (ends[apart] for ends in both.coords)
    if rows.size > MOST:
        raise BudgetError(
            f"metis: expected at most {MOST:,} edges in both directions, found {rows.size:,}; choose lp or random"
        )
    order = np.lexsort((columns, rows))
    starts = np.zeros(vertices + 1, np.int32)
    np.cumsum(np.bincount(rows, minlength=vertices), out=starts[1:])
    if count == 1 or not rows.size:
        return _cut(np.arange(vertices), count)
    adjacency = pymetis.CSRAdjacency(starts, columns[order].astype(np.int32))
    _, found = pymetis.part_graph(count, adjacency, options=pymetis.Options(seed=seed % 2**31), recursive=False)
    return np.asarray(found, np.int32)
