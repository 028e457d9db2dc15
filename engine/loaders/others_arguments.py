"""Arguments of PyTorch's and PyTorch Geometric's loaders that csaw's have not.

Scripts that are written for those pass them on. Values that ask for nothing are taken, what is about worker processes
is ignored with a warning, and what would change the mini-batches is refused.
"""

import warnings
from collections.abc import Mapping
from typing import NamedTuple

from csaw.partition.base.arguments import Reader, flag, function, graph, integers, mapping, maybe, simple, text, whole
from csaw.partition.base.plain_data import Values
from csaw.partition.base.quoting import quoted
from csaw.partition.errors import OptionError

ANYTHING = ("filter_per_worker", "is_sorted", "pin_memory_device", "share_memory")  # no mini-batch depends on them
WORKERS: Mapping[str, object] = {
    "num_workers": 0,
    "persistent_workers": False,
    "prefetch_factor": None,
    "multiprocessing_context": None,
    "worker_init_fn": None,
    "timeout": 0,
    "in_order": True,
}
"""Arguments about worker processes, with the values that ask for none."""
MOST_SEEDS = 2**31 - 1  # of a mini-batch
UNNEEDED = (
    "csaw draws mini-batches in threads of this process, ahead of the model and in order, and needs no worker processes"
)


READERS: dict[str, Reader] = {
    **dict.fromkeys(("shuffle", "drop_last", "replace", "disjoint", "on_device"), flag),
    **{name: maybe(flag) for name in ("self_loops", "row_normalized", "weighted")},
    **{name: whole(1, MOST_SEEDS) for name in ("batch_size", "walks_per_batch", "window")},
    "negatives": whole(0, MOST_SEEDS),
    "vertices": maybe(whole(1)),
    **dict.fromkeys(("subgraph_type", "temporal_strategy", "normalize", "sampler", "algo", "device"), simple),
    "seed": whole(0, 2**64 - 1),
    "rank": maybe(whole()),
    "world": maybe(whole(1)),
    "num_neighbors": integers("one for each hop"),
    "layer_sizes": integers("one for each layer"),
    **{name: maybe(text) for name in ("weight_attr", "time_attr")},
    **{name: maybe(function("batch")) for name in ("transform", "transform_sampler_output")},
    "edge_features": maybe(mapping("arrays")),
    "data": graph,
}
"""Readers of the arguments of loaders."""


class Refusal(NamedTuple):
    """The value of an argument that may be given, and what to do in place of giving another one."""

    neutral: object
    advice: str


DECIDED: Mapping[str, str] = {
    "seeds_per_batch": "batch_size says how many seeds a mini-batch has",
    "epochs": "each for loop is another epoch, and loader.epoch its number",
    "ids": "the ids of a loader are dense",
    "instances": "the seeds and batch_size say how many mini-batches there are",
}
"""Options of a run of mini-batches that follow from a loader's own arguments, each with the way to say it."""
OF_NEIGHBORS = {"fanout": "num_neighbors says how many neighbors a vertex selects"}
TAKEN = ("algo", "graph", "measure", "nodes", "on_device", "share", "store")
"""Names inside of loaders, which are options of none."""
UNTIMED = "temporal sampling is that of NeighborLoader; leave it out"
SEEDED = "seed= decides all draws, and input_nodes, batch_size and shuffle which seeds a mini-batch has; leave it out"
REFUSED: Mapping[str, Refusal] = {
    "input_time": Refusal(None, UNTIMED),
    "time_attr": Refusal(None, UNTIMED),
    "temporal_strategy": Refusal("uniform", UNTIMED),
    "neighbor_sampler": Refusal(None, "csaw is the sampler; for another one use PyTorch Geometric's NodeLoader"),
    "directed": Refusal(True, 'use subgraph_type="induced"'),
    "sample_direction": Refusal("forward", "csaw samples the sources of the edges to a vertex; turn the edges round"),
    "custom_cls": Refusal(None, "mini-batches are Data objects; change them in transform"),
    "input_id": Refusal(None, "input_id counts the seeds; look up your numbers by batch.input_id"),
    "collate_fn": Refusal(None, "change mini-batches in transform"),
    "dataset": Refusal(None, SEEDED),
    "generator": Refusal(None, SEEDED),
    "sampler": Refusal(None, SEEDED),
    "batch_sampler": Refusal(None, SEEDED),
}


def without_others(options: Values, loader: str) -> Values:
    """The ``options`` of a ``loader`` without the arguments that only PyTorch's and PyTorch Geometric's have.

    Warns once about those that ask for something which csaw does not need. OptionError for those that would change
    the mini-batches, and for those that the loader decides.
    """
    refuse_decided(options, DECIDED)
    if unknown := [name for name in TAKEN if name in options]:
        raise OptionError(f"{unknown[0]} is not an option of {loader}; leave it out")
    for name, (neutral, advice) in REFUSED.items():
        if name in options and not _same(options[name], neutral):
            raise OptionError(f"{name}: expected {neutral!r}, found {quoted(options[name])}; {advice}")
    asked = {
        name: options[name] for name, none in WORKERS.items() if name in options and not _same(options[name], none)
    }
    said = [f"{loader} ignores {_listed(asked)}: {UNNEEDED}"] if asked else []
    if not _same(options.get("pin_memory", False), False):
        said.append("pin_memory=True is ignored: mini-batches are not pinned; call pin_memory() in transform")
    if said:
        warnings.warn("; ".join(said), stacklevel=5)  # of the caller: in_python puts two functions around the loader
    return {name: value for name, value in options.items() if name not in {*ANYTHING, *WORKERS, *REFUSED, "pin_memory"}}


def refuse_decided(options: Values, decided: Mapping[str, str]) -> None:
    """OptionError for the first of the ``options`` that a loader has ``decided``, by name with the reason."""
    for name, reason in decided.items():
        if name in options:
            raise OptionError(f"{name}: expected none, because {reason}; leave it out")


def _same(value: object, neutral: object) -> bool:
    """Whether a value is the neutral one; arrays and other objects are not, and are not compared."""
    return value is neutral or (isinstance(value, bool | int | float | str) and value == neutral)


def _listed(asked: Values) -> str:
    return ", ".join(f"{name}={quoted(value)}" for name, value in asked.items())
