"""The description of a store that ``csaw info`` shows; groups of a sample are read only if that is asked for."""

from pathlib import Path

from csaw.engine.samples import files
from csaw.engine.samples.layouts.layout import Sizes
from csaw.engine.samples.place import partial_of
from csaw.engine.samples.results import RESULTS
from csaw.engine.samples.samples import Samples
from csaw.engine.samples.sizes import total
from csaw.partition.base.plain_data import Record

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
LOST = f"not known: {RESULTS}, which says it, is missing; csaw info --full reads all groups for it"
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
        **{name: request[name] for name in REQUEST if name in request},
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
    said = files.read_json(place / "zarr.json")["attributes"]
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
