"""The description of a store that ``csaw info`` shows; groups of a sample are read only on request."""

import math
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np

from csaw.engine.samples import files
from csaw.engine.samples.layouts.layout import Sizes
from csaw.engine.samples.opened import OpenedSamples
from csaw.engine.samples.place import partial_of
from csaw.engine.samples.results import RESULTS, total
from csaw.engine.samples.samples import Samples
from csaw.partition.base.plain_data import Record

# A look into a stored sample: how many vertices it meets, how large its instances are, and how often its vertices
# occur.
#
# As many instances are read as hold about NUMBERS ids, in a few runs that are spread evenly over the sample, so that a
# look takes a moment of any sample. A file is compared with its checksum as a whole: of large files, fewer are read.

NUMBERS = 1 << 20  # ids that are looked at, about
RUNS = 4
HASHED = 1 << 26  # bytes of the files in which runs are, about
LARGEST = 1 << 23  # ids of an instance, on average, from which on not even one is read

Bin = dict[str, int]


def look(samples: OpenedSamples) -> Record | None:
    """Plain data: how many ``instances`` were looked at and how many different ``vertices`` they have, and two
    histograms.

    ``sizes``: numbers of instances by steps or edges. ``vertices_by``: numbers of vertices by ``visits`` in walks and
    hops, by ``degree`` in subgraphs and mini-batches, where an edge counts at both ends. None where there is nothing to
    look at: of a virtual sample, which would have to be drawn, and of one whose instances are too large.
    """
    if samples.is_virtual or not samples.instances:
        return None
    layout = samples.layout
    if (each := layout.ids_of_one(samples.arrays, samples.instances)) > LARGEST:
        return None
    wanted = min(samples.instances, max(1, int(NUMBERS / max(each, 1))))
    runs = _runs(samples.instances, wanted, HASHED // max(_file_bytes(samples), 1))
    with ThreadPoolExecutor(len(runs)) as readers:
        found = list(readers.map(lambda run: layout.look(samples.group(*run), samples.fill), runs))
    sizes, ids, met = (np.concatenate(parts) for parts in zip(*found, strict=True))
    vertices, times = np.unique(ids, return_counts=True)
    others = np.unique(met, return_counts=True)[0]  # without counts, NumPy would load what masks arrays
    alone = np.count_nonzero(~np.isin(others, vertices, assume_unique=True))
    times = np.append(times, np.zeros(alone, np.int64))
    return {
        "instances": int(sizes.size),
        "vertices": int(times.size),
        "sizes": _clipped(sizes),
        "vertices_by": {"visits" if layout.counts_visits else "degree": _clipped(times)},
    }


def histogram(values: np.ndarray) -> list[Bin]:
    """Numbers of values: 0, then bins whose width doubles; empty bins are left out."""
    edges = np.append(0, 2 ** np.arange(int(values.max(initial=0)).bit_length() + 1))
    counts = np.histogram(values, edges)[0].tolist()
    bins = zip(edges[:-1].tolist(), (edges[1:] - 1).tolist(), counts, strict=True)
    return [{"from": low, "to": high, "count": n} for low, high, n in bins if n]


def _clipped(values: np.ndarray) -> list[Bin]:
    """A histogram that begins at the least value and ends at the largest."""
    bins = histogram(values)
    if bins:
        bins[0]["from"], bins[-1]["to"] = int(values.min()), int(values.max())
    return bins


def _file_bytes(samples: OpenedSamples) -> int:
    """Bytes of the files that have a group of instances, on average."""
    return sum(
        math.prod(array.shape) * array.dtype.itemsize // array.chunks
        for array in samples.arrays.values()
        if array.chunks
    )


def _runs(instances: int, wanted: int, most: int) -> list[tuple[int, int]]:
    """Runs of instances of about the same length, ``wanted`` together, ``most`` at most, spread evenly."""
    runs = max(1, min(RUNS, wanted, most))
    size = wanted // runs
    middles = [(2 * run + 1) * instances // (2 * runs) for run in range(runs)]
    starts = [max(0, middle - size // 2) for middle in middles]
    return [(0, instances)] if wanted == instances else [(start, start + size) for start in starts]


# The description of a sample store.

REQUEST = (
    "algorithm",
    "parameters",
    "code",
    "edge_bias",
    "columns",
    "weighted",
    "induced",
    "target",
    "seed",
    "fingerprint",
    "select",
    "sources",
)
UNDRAWN = "not known: a virtual sample is drawn when it is read; csaw info --full draws all of it"
UNKNOWN = "not known: an early version of csaw did not keep it; csaw info --full reads all groups for it"
LOST = f"not known: {RESULTS}, which contains it, is missing; csaw info --full reads all groups for it"
MISSING = f"{RESULTS}, with the counts and timings of its run, which are no part of the sample"


def describe(samples: Samples, path: str | Path, full: bool = False) -> Record:
    """Plain data about the samples of the store at ``path``; ``full`` counts the edges of all groups anew.

    Without it they are what was counted when they were written; where a store does not say that, they are None, and
    ``unknown`` says why.
    """
    request = samples.manifest.get("request", {})
    sizes = _counted(samples) if full else samples.sizes
    return {
        "path": str(path),
        "layout": samples.layout,
        **({"kept": "a request; it is drawn when it is read"} if samples.is_virtual else {}),
        **{name: request.get(name) for name in REQUEST if name in request},
        "graph": samples.manifest.get("graph", {}),
        **{name: samples.manifest[name] for name in ("source",) if name in samples.manifest},
        "instances": samples.instances,
        "groups": -(-samples.instances // samples.group_size),
        "ids": samples.ids,
        **_shown(samples, sizes),
        "bytes": samples.nbytes,
        "results": samples.results,
        **({} if samples.results else {"missing": MISSING}),
    }


def identified(path: Path) -> Record:
    """The place of a sample, finished or not, and its request, which programs ask for first."""
    partial = partial_of(path)
    for place in (path, partial, path):  # another process may give it its name at this moment
        if (place / "zarr.json").exists():
            break
    said = files.read_record(place / "zarr.json")["attributes"]
    request, graph = said["manifest"]["request"], said["manifest"]["graph"]
    return {
        "out": str(path),
        "finished": place == path,
        "graph": graph.get("path"),
        **{name: request[name] for name in ("fingerprint", "algorithm", "parameters", "seed")},
        "layout": said["layout"],
    }


def _shown(samples: Samples, sizes: Sizes | None) -> Record:
    """Sampled edges, and how many an instance has; for walks also how many ended early."""
    early = {"ended_early": (sizes or {}).get("ended_early")} if samples.layout.has_limit else {}
    if sizes is None:
        why = UNDRAWN if samples.is_virtual else UNKNOWN if samples.results else LOST
        return {"edges": None, "lengths": None, **early, "unknown": why}
    mean = sizes["edges"] / samples.instances if samples.instances else 0.0
    return {"edges": sizes["edges"], "lengths": {"min": sizes["least"], "mean": mean, "max": sizes["most"]}, **early}


def _counted(samples: Samples) -> Sizes | None:
    return total((samples.layout.sizes(arrays, samples.fill) for _, arrays in samples.iter_groups()), samples.layout)
