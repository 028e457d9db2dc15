"""NumPy's .npz: the CSR matrix that ``scipy.sparse.load_npz`` reads, [V, V] by dense id, in which entry (i, j) is the
edge from vertex i to vertex j; an undirected edge is two.

``indptr`` [V + 1] and ``indices`` [E], int32 or int64; ``data`` float32 [E], the weights, or bool, all true;
``edge_ids`` int64 [E] where the store has them. Original ids are ``vertex_ids`` [V], or ``original_id_offsets`` int64
[V + 1] and ``original_id_text`` uint8, UTF-8; neither where they are the dense ones. ``directed`` and ``fingerprint``
say the rest.
"""

import zipfile
from collections.abc import Callable, Iterable, Iterator
from operator import attrgetter
from typing import IO

import numpy as np

from csaw.engine.export.graph_rows import Edges, Piece

Pick = Callable[[Piece], np.ndarray]
SUFFIXES = (".npz",)
IS_BINARY = True
HOLDS = ("ids", "names", "edge_ids", "vertices", "direction")


def write_graph(edges: Edges, file: IO[bytes], name: str, update: Callable[[int], None]) -> None:
    store = edges.store
    small = np.dtype(np.int32 if max(store.vertices, store.edges) <= np.iinfo(np.int32).max else np.int64)
    with zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as archive:
        facts = {
            "format": np.array(b"csr"),
            "shape": np.full(2, store.vertices),
            "directed": np.array(store.directed),
            "fingerprint": np.array(store.fingerprint),
        }
        for key, value in facts.items():
            _put(archive, key, value.shape, value.dtype, [value])
        _put(archive, "indptr", (store.vertices + 1,), small, _offsets(edges, small))
        for key, dtype, pick in _columns(edges, small):
            _put(archive, key, (store.edges,), dtype, _pieces(edges, pick, update if key == "indices" else None))
        for key, array in _ids(edges).items():
            _put(archive, key, array.shape, array.dtype, [array])


def _columns(edges: Edges, small: np.dtype) -> list[tuple[str, np.dtype, Pick]]:
    """The arrays with an entry for each edge: name, element type, and what a piece of edges has of it."""
    weighted = edges.store.weighted
    data = attrgetter("weights") if weighted else (lambda piece: np.ones(piece.dst.size, bool))
    found = [
        ("indices", small, lambda piece: piece.dst.astype(small)),
        ("data", np.dtype(np.float32 if weighted else bool), data),
    ]
    return found + [("edge_ids", np.dtype(np.int64), attrgetter("edge_ids"))] * edges.has_edge_ids


def _offsets(edges: Edges, dtype: np.dtype) -> Iterator[np.ndarray]:
    yield np.zeros(1, dtype)
    for part in edges.store.partitions:
        yield (edges.store.read_offsets(part.number)[1:] + part.first_edge).astype(dtype)


def _pieces(edges: Edges, pick: Pick, update: Callable[[int], None] | None) -> Iterator[np.ndarray]:
    for done, some in edges.map(pick):
        yield some
        if update:
            update(done)


def _ids(edges: Edges) -> dict[str, np.ndarray]:
    words, ids = edges.words, edges.store.stored_ids()
    if words is not None:
        return {"original_id_offsets": words.offsets, "original_id_text": words.text}
    return {} if ids is None else {"vertex_ids": np.asarray(ids)}


def _put(
    archive: zipfile.ZipFile, name: str, shape: tuple[int, ...], dtype: np.dtype, pieces: Iterable[np.ndarray]
) -> None:
    """An array in pieces; members have no date, so that equal graphs give equal files."""
    with archive.open(zipfile.ZipInfo(f"{name}.npy"), "w", force_zip64=True) as member:
        description = np.lib.format.dtype_to_descr(dtype)
        np.lib.format.write_array_header_2_0(member, {"shape": shape, "fortran_order": False, "descr": description})
        for piece in pieces:
            member.write(np.ascontiguousarray(piece).tobytes())
