"""The description of a sample store that ``csaw info`` shows; its groups are read only if that is asked for."""

from pathlib import Path

from csaw.engine.samples.layouts.layout import Sizes
from csaw.engine.samples.samples import Samples, open_samples
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


def describe(
    path: str | Path, full: bool = False, algo: str | type | None = None, graph: str | Path | None = None
) -> Record:
    """Plain data about the store at ``path``; ``full`` counts the edges of all groups anew.

    Without it they are what was counted when they were written; where a store does not say that, they are None, and
    ``unknown`` says why. ``algo``: of a virtual sample, FILE.py:CLASS where csaw does not ship its algorithm;
    ``graph``: the path of its graph store, where that has moved.
    """
    samples = open_samples(path, graph, algo)
    request = samples.manifest.get("request", {})
    sizes = _counted(samples) if full else samples.sizes
    return {
        "path": str(path),
        "layout": samples.layout,
        **({"kept": "a request; it is drawn when it is read"} if samples.is_virtual else {}),
        **{name: request[name] for name in REQUEST if name in request},
        "graph": samples.manifest.get("graph", {}),
        "instances": samples.instances,
        "groups": -(-samples.instances // samples.group_size),
        "ids": samples.ids,
        **_shown(samples, sizes),
        "bytes": samples.nbytes,
        "results": samples.results,
    }


def _shown(samples: Samples, sizes: Sizes | None) -> Record:
    """Sampled edges, and how many an instance has; for walks also how many ended early."""
    early = {"ended_early": (sizes or {}).get("ended_early")} if samples.layout.has_limit else {}
    if sizes is None:
        return {"edges": None, "lengths": None, **early, "unknown": UNDRAWN if samples.is_virtual else UNKNOWN}
    mean = sizes["edges"] / samples.instances if samples.instances else 0.0
    return {"edges": sizes["edges"], "lengths": {"min": sizes["least"], "mean": mean, "max": sizes["most"]}, **early}


def _counted(samples: Samples) -> Sizes | None:
    return total((samples.layout.sizes(arrays, samples.fill) for _, arrays in samples.iter_groups()), samples.layout)
