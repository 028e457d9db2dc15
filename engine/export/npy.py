"""NumPy: walks as they are stored, [instances, walk_length + 1]; edges as records (instance, src, dst, depth)."""

from collections.abc import Callable
from typing import IO

import numpy as np

from csaw.engine.samples import Samples, edges_of
from csaw.engine.samples.check import check_names
from csaw.engine.samples.edges import iter_edges

SUFFIXES = (".npy",)


def write(samples: Samples, file: IO[bytes], name: str, update: Callable[[int], None]) -> None:
    labels = samples.labels()
    if samples.layout == "walks":
        dtype = samples.walks.dtype if labels is None else labels.dtype
        _header(file, samples.walks.shape, dtype)
        for start, arrays in samples.iter_groups():
            file.write(named(samples, arrays["walks"], labels).tobytes())
            update(start + len(arrays["walks"]))
        return
    vertex = samples[{"hops": "hop_0", "subgraphs": "src"}[samples.layout]].dtype if labels is None else labels.dtype
    record = np.dtype([("instance", "<i8"), ("src", vertex), ("dst", vertex), ("depth", "<i4")])
    total = sum(int(edges_of(samples, arrays).sum()) for _, arrays in samples.iter_groups())
    _header(file, (total,), record)
    for done, edges in iter_edges(samples):
        table = np.empty(edges["src"].size, record)
        for column, values in edges.items():
            table[column] = named(samples, values, labels) if column in ("src", "dst") else values
        file.write(table.tobytes())
        update(done)


def named(samples: Samples, ids: np.ndarray, labels: np.ndarray | None) -> np.ndarray:
    """Stored ids, or the strings behind them; the empty string for fill."""
    if labels is None:
        return np.ascontiguousarray(ids)
    absent = ids == ids.dtype.type(samples.fill)
    check_names(samples.path, ids[~absent], labels.size)
    words = labels[np.where(absent, 0, ids)] if labels.size else np.zeros(ids.shape, "<U1")
    words[absent] = ""
    return words


def _header(file: IO[bytes], shape: tuple[int, ...], dtype: np.dtype) -> None:
    description = np.lib.format.dtype_to_descr(dtype)
    np.lib.format.write_array_header_2_0(file, {"shape": shape, "fortran_order": False, "descr": description})
