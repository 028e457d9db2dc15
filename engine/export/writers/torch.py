"""PyTorch: what pyg.py writes as tensors in a dict, from which ``Data(**torch.load(OUT, weights_only=True))`` makes
PyG's batch; of samples with fanouts by relation a dict of dicts, by node type and edge type, from which
``HeteroData(torch.load(OUT, weights_only=True))`` makes it.

Tensors, numbers and text in dicts load without running code of the file, and without PyG. Counts are ints and lists of
them, as PyG's loaders give them; string ids, ``original_id``, are a list of ``str``.
"""

from collections.abc import Callable, Sequence
from typing import IO, TYPE_CHECKING, cast

import numpy as np

from csaw.engine.export.common import OF_DRAWN
from csaw.engine.samples import Samples
from csaw.engine.samples.pyg_batches import EDGE_TYPE, NODE_TYPE
from csaw.partition.base.plain_data import Record
from csaw.partition.errors import MissingDependencyError, OptionError
from csaw.partition.graph.store import GraphStore
from csaw.partition.graph.types import Types

if TYPE_CHECKING:
    from torch import Tensor

SUFFIXES = (".pt",)
IS_BINARY = True
NUMBERS_EDGES = True
LACKS = (OF_DRAWN,)
LISTS = ("num_sampled_nodes", "num_sampled_edges")
OF_SEEDS, OF_EDGES = ("input_id", "y", "probability", "seed_time"), ("e_id", "edge_time")


def write_samples(
    samples: Samples,
    file: IO[bytes],
    name: str,
    update: Callable[[int], None],
    threads: int,
    graph: GraphStore | None = None,
) -> None:
    try:
        import torch
    except ImportError as error:
        raise MissingDependencyError(
            "a .pt file needs PyTorch: pip install torch; or export to .npz, which holds the same arrays"
        ) from error

    def held(key: str, value: "np.ndarray | int | np.integer | Sequence[object]") -> "Tensor | int | list[object]":
        if isinstance(value, np.ndarray):
            return value.tolist() if key in LISTS else torch.from_numpy(np.require(value, requirements=["C", "W"]))
        return int(value) if isinstance(value, int | np.integer) else list(value)

    sink = _Sink(file)
    batch = {key: held(key, value) for key, value in samples.pyg(graph=graph, threads=threads).items()}
    types = samples.types if NODE_TYPE in batch else None
    if types is not None and (split := [one for one in types.names if "__" in one]):
        raise OptionError(
            f"{name}: HeteroData reads the name of the type {split[0]} as that of a relation, because of its __; give "
            "the type another name in csaw partition, or export to .npz, which holds the same arrays"
        )
    data = batch if types is None else _by_type(batch, types)
    try:
        torch.save(data, cast("IO[bytes]", sink))
    except RuntimeError as error:
        raise sink.error or error from error
    update(samples.instances)


def _by_type(batch: Record, types: Types) -> dict[str | tuple[str, str, str], Record]:
    """The fields of a batch for each node type and each edge type, by the names and in the numbers of HeteroData: node
    5 of a type is its sixth vertex in the graph.
    """
    import torch

    from csaw.engine.export.by_type import ByType

    kind, size = batch[NODE_TYPE], batch["batch_size"]
    kinds = len(types.names), len(types.relations)
    by = ByType.of(kind, batch[EDGE_TYPE], batch[LISTS[0]], batch[LISTS[1]], kinds)
    out: dict[str | tuple[str, str, str], Record] = {}
    first = torch.tensor(types.bounds)
    nodes = {"n_id": by.of_nodes(batch["n_id"] - first[kind]), "batch": by.of_nodes(batch["batch"])}
    for number, name in enumerate(types.names):
        out[name] = {field: parts[number] for field, parts in nodes.items()}
        out[name] |= {"num_nodes": out[name]["n_id"].numel(), LISTS[0]: by.num_sampled_nodes[number]}
        if "original_id" in batch:
            out[name]["original_id"] = batch["original_id"][slice(*types.span(name))]
        seeds = kind[:size] == number
        if seeds.any():
            out[name] |= {field: batch[field][seeds] for field in OF_SEEDS if field in batch}
            out[name]["batch_size"] = int(seeds.sum())
    ends = by.of_edges(by.number[batch["edge_index"][0]]), by.of_edges(by.number[batch["edge_index"][1]])
    fields = {field: by.of_edges(batch[field]) for field in OF_EDGES if field in batch}
    for number, edge_type in enumerate(types.edge_types):
        out[edge_type] = {"edge_index": torch.stack([end[number] for end in ends])}
        out[edge_type] |= {field: parts[number] for field, parts in fields.items()}
        out[edge_type][LISTS[1]] = by.num_sampled_edges[number]
    return out


class _Sink:
    """The file, as PyTorch writes to it, which makes an error of its own of what the disk says."""

    def __init__(self, file: IO[bytes]) -> None:
        self.file, self.flush = file, file.flush
        self.error: OSError | None = None

    def write(self, data: bytes) -> int:
        try:
            return self.file.write(data)
        except OSError as error:
            self.error = error
            raise
