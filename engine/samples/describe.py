"""What ``csaw info`` shows of a sample store: what it says of itself, and nothing of its groups unless that is asked for."""

from pathlib import Path
from typing import Any

from csaw.engine.samples import Samples, open_samples
from csaw.engine.samples.sizes import Sizes, sizes_of, total

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


def describe(path: str | Path, full: bool = False, algo: str | None = None) -> dict[str, Any]:
    """Plain data about the store at ``path``; ``full`` counts the edges of all groups anew.

    Without it they are what was counted when they were written; where a store does not say that, they are None, and ``unknown`` says why.
    ``algo``: of a virtual sample, FILE.py:CLASS where csaw does not ship its algorithm.
    """
    samples = open_samples(path, algo=algo)
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


def _shown(samples: Samples, sizes: Sizes | None) -> dict[str, Any]:
    """Sampled edges, and how many an instance has; for walks also how many ended early."""
    early = {"ended_early": (sizes or {}).get("ended_early")} if samples.layout == "walks" else {}
    if sizes is None:
        return {"edges": None, "lengths": None, **early, "unknown": UNDRAWN if samples.is_virtual else UNKNOWN}
    mean = sizes["edges"] / samples.instances if samples.instances else 0.0
    return {"edges": sizes["edges"], "lengths": {"min": sizes["least"], "mean": mean, "max": sizes["most"]}, **early}


def _counted(samples: Samples) -> Sizes | None:
    return total((sizes_of(arrays, samples.fill) for _, arrays in samples.iter_groups()), samples.layout)
