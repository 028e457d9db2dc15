"""Mini-batches of a graph of several types, as PyTorch Geometric's HGTLoader gives them (Hu et al., WWW 2020)."""

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from csaw.engine.loaders.graphs import GraphData
from csaw.engine.loaders.hetero import SampledTypes
from csaw.engine.loaders.mini_batches import EpochBatches, MiniBatch
from csaw.engine.loaders.neighbor_loader import NodeLoader, NodeSeedLoader
from csaw.engine.loaders.pyg_arguments import READERS, Timed, without_others
from csaw.engine.loaders.tensors import needed, share_of
from csaw.partition.base.arguments import mapping, maybe
from csaw.partition.base.python_names import in_python
from csaw.partition.base.quoting import quoted
from csaw.partition.errors import OptionError

needed("torch_geometric.sampler")

from torch_geometric import sampler as pyg

if TYPE_CHECKING:
    from torch_geometric.data import Data


class HgtBatches(EpochBatches):
    """The mini-batches of epoch after epoch, drawn by budgets."""

    algo = "hgt"


class HGTLoader(NodeSeedLoader):
    """PyTorch Geometric's HGTLoader, drawn by csaw.

        for batch in HGTLoader(data, num_samples=[512] * 4, batch_size=128, input_nodes=("paper", train_mask)):
            out = model(batch.x_dict, batch.edge_index_dict)["paper"][: batch["paper"].batch_size]

    Each ``for`` loop over it is another epoch; ``loader.epoch`` is its number, which you can set. Mini-batches depend
    only on the request and the epoch. They are HeteroData objects with the attributes of ``data``, ``n_id``, ``e_id``,
    ``input_id`` and ``batch_size``, and have all edges among their nodes. Threads draw them ahead while the model
    trains.

    Each node that enters a mini-batch divides a budget of 1 among its neighbors of each edge type, however many there
    are; PyTorch Geometric's loader draws 50 of them if there are more.

    Args:
        data: a HeteroData object, in which the sources of edges to a node are its neighbors; a graph store of several
            types, from whose rows neighbors are taken; or a Data object or another graph of one type that
            :func:`csaw.graph` accepts.
        num_samples: nodes to draw of each type, one number for each layer; or a dict with such a list for each node
            type.
        input_nodes: the node type of the seeds, or one with nodes, such as ``("paper", mask)``: a list, an array or a
            tensor of numbers, or a mask. For a graph of one type, only the nodes; None, all.
        batch_size: seeds of a mini-batch.
        shuffle: draw the order of the seeds in each epoch.
        drop_last: leave out a smaller last mini-batch.
        time_attr: the attribute with integer times of edges or of nodes; for a graph store "time". Budgets then come
            only from edges whose time, or that of the neighbor, is not later than that of the seeds, and mini-batches
            have only these edges. All seeds of a mini-batch must have one time: give ``start_time``, or a
            ``batch_size`` of 1. ``seed_time`` of a mini-batch has the times of its seeds.
        input_time: the time of each seed (default: None, the node times of the seeds).
        transform: called with each mini-batch.
        transform_sampler_output: called with each HeteroSamplerOutput before features are gathered.
        features: for a graph store, arrays by name for each type, such as ``{"paper": {"x": x}}``, as for
            :class:`csaw.engine.loaders.NeighborLoader`.
        seed: number that all draws follow from.
        rank: number of this process among those that train together, from 0 on.
        world: number of processes that train together. Each gets a part of every epoch's mini-batches; the sizes of
            parts differ by at most one.
        **options: ``sources`` instead of ``input_nodes``, seeds by their original ids, for a graph of one type; in
            time, ``start_time``, one time for all seeds, ``time_order="strict"`` for only earlier edges, and
            ``time_window``, the longest time before; options of a run, such as ``device``, ``threads``, ``memory`` and
            ``in_flight``, the number of mini-batches drawn together (8). Arguments that only PyTorch Geometric's loader
            has are accepted if they request nothing, and ignored with a warning if they request worker processes, which
            csaw does not need.

    Raises:
        OptionError: csaw does not support something that would change mini-batches.
        CsawError: as for :func:`csaw.stream`.
    """

    @in_python(READERS | {"features": maybe(mapping("arrays"))}, seeds_per_batch="batch_size")
    def __init__(
        self,
        data: GraphData,
        num_samples: "Sequence[int] | Mapping[str, Sequence[int]]",
        input_nodes: object = None,
        *,
        batch_size: int = 1,
        shuffle: bool = False,
        drop_last: bool = False,
        time_attr: str | None = None,
        input_time: object = None,
        transform: "Callable[[Data], object] | None" = None,
        transform_sampler_output: Callable[..., object] | None = None,
        features: Mapping[str, object] | None = None,
        seed: int = 0,
        rank: int = 0,
        world: int = 1,
        **options: object,
    ) -> None:
        options = without_others(options, "HGTLoader")
        self.timed = Timed(time_attr, input_time, "uniform")
        self.timed.check("directional", None, options, data)
        self._open(data, None, time_attr, "directional", False, features, None)
        self.transform = transform
        seeds, nodes = self._seeds_of(input_nodes, options.get("sources"))
        self.filter = NodeLoader(self.data, self.permuted, seeds, transform_sampler_output=transform_sampler_output)
        self._require_types(num_samples)
        mini_batches = {"seeds_per_batch": batch_size, "shuffle": shuffle, "drop_last": drop_last, "seed": seed}
        asked = {"num_samples": num_samples, "weighted": False} | mini_batches
        self._begin(data, seeds, nodes, share_of(rank, world), asked, options, HgtBatches)

    def _require_types(self, numbers: object) -> None:
        """OptionError for a dict without a number for each node type, or with other types."""
        if not isinstance(numbers, Mapping):
            return
        if not isinstance(self.graph, SampledTypes):
            raise OptionError(
                f"num_samples: expected a list of integers, one for each layer, found {quoted(numbers)}; a dict is for "
                "graphs of several types"
            )
        names = self.graph.types.names
        unknown, missing = [n for n in numbers if n not in names], [n for n in names if n not in numbers]
        if unknown or missing:
            found = f"no node type {quoted(unknown[0])}" if unknown else f"nothing for {quoted(missing[0])}"
            raise OptionError(f"num_samples: expected numbers for each node type, {', '.join(names)}; found {found}")

    def _output_of(self, arrays: MiniBatch) -> "pyg.SamplerOutput | pyg.HeteroSamplerOutput":
        out = super()._output_of(arrays)
        out.num_sampled_nodes = out.num_sampled_edges = None  # a layer's edges are needed for all nodes before it
        return out
