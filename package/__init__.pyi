# Written by scripts/make_stub.py from the declarations of options; run that, and do not edit this.
from collections.abc import Callable, Mapping, Sequence
from datetime import date, timedelta
from typing import Any, Literal, SupportsFloat, SupportsIndex, TypedDict, Unpack, overload

from numpy import datetime64, timedelta64

from csaw import algorithm as algorithm
from csaw import cli as cli
from csaw import engine as engine
from csaw import loader as loader
from csaw import measure as measure
from csaw.commands import Place, Progress
from csaw.commands import graph as graph
from csaw.datasets import DatasetsModule
from csaw.engine.algorithm import Algorithm
from csaw.engine.analytics.evaluation.evaluate import Evaluation as Evaluation
from csaw.engine.api.algorithm import EdgeView
from csaw.engine.runs.sample_stream import Stream as Stream
from csaw.engine.samples import Samples as Samples
from csaw.engine.stores import open_samples as open_samples
from csaw.engine.stores.export import export as export
from csaw.evaluation import evaluate as evaluate
from csaw.evaluation import list_support as list_support
from csaw.evaluation import list_triangles as list_triangles
from csaw.partition import GraphStore as GraphStore
from csaw.partition import PartitionModule
from csaw.partition import open_graph as open_graph
from csaw.partition.errors import CsawError as CsawError
from csaw.stores import algorithms as algorithms
from csaw.stores import append as append
from csaw.stores import changed as changed
from csaw.stores import compact as compact
from csaw.stores import info as info
from csaw.stores import refresh as refresh
from csaw.stores import seal as seal
from csaw.stores import verify as verify

__version__: str
datasets: DatasetsModule
partition: PartitionModule

class _Run(TypedDict, total=False):
    sources: Any
    instances: SupportsIndex | str | None
    seed: SupportsIndex | str
    weighted: bool | None
    target: Any
    edge_bias: str | Callable[[EdgeView], float] | None
    metapath: str | None
    columns: Any
    induced: bool
    device: Any
    memory: SupportsIndex | str | None
    gpu_memory: SupportsIndex | str | None
    threads: SupportsIndex | str | None
    in_flight: SupportsIndex | str | None
    residency: Literal["resident", "pooled", "streamed", "disk"] | None
    layout: Literal["csr", "entries", "table", "alias", "ctps", "events"] | None
    transit_parallel: Literal["auto", "on", "off"]
    checksums: bool
    ids: Literal["original", "dense"]
    select: Literal["uniform", "alias", "rejection", "its", "keys", "time"] | None
    collision: Literal["bipartite", "repeated", "updated"]
    detect: Literal["strided", "contiguous", "linear"] | None
    batching: bool
    workload_aware: bool
    balancing: bool
    in_place: bool
    batch_size: SupportsIndex | str | None

class _Biased(_Run, total=False):
    walk_length: SupportsIndex | str | None
    num_walks: SupportsIndex | str
    bias: Literal["weight", "degree", "none"]

class _ClusterGcn(_Run, total=False):
    clusters_per_batch: SupportsIndex | str

class _Deepwalk(_Run, total=False):
    walk_length: SupportsIndex | str | None
    num_walks: SupportsIndex | str

class _Fastgcn(_Run, total=False):
    normalize: Literal["symmetric", "row", "none"]
    layer_sizes: Sequence[int] | str
    frontier_size: SupportsIndex | str

class _ForestFire(_Run, total=False):
    burn_prob: SupportsFloat | str
    depth: SupportsIndex | str | None

class _Hgt(_Run, total=False):
    seeds_per_batch: SupportsIndex | str
    epochs: SupportsIndex | str
    shuffle: bool
    drop_last: bool
    time_strategy: Literal["uniform", "last"] | None
    start_time: SupportsFloat | str | date | datetime64 | None
    time_order: Literal["monotone", "strict"]
    time_window: SupportsFloat | str | timedelta | timedelta64 | None
    num_samples: Sequence[int] | Mapping[str, Sequence[int]] | str

class _Jump(_Run, total=False):
    walk_length: SupportsIndex | str | None
    num_walks: SupportsIndex | str
    jump_prob: SupportsFloat | str

class _Labor(_Run, total=False):
    time_strategy: Literal["uniform", "last"] | None
    start_time: SupportsFloat | str | date | datetime64 | None
    time_order: Literal["monotone", "strict"]
    time_window: SupportsFloat | str | timedelta | timedelta64 | None
    fanout: Sequence[int] | Mapping[str, Sequence[int]] | Mapping[tuple[str, str, str], Sequence[int]] | str
    frontier_size: SupportsIndex | str
    time_against: Literal["root", "previous"]

class _Ladies(_Run, total=False):
    normalize: Literal["symmetric", "row", "none"]
    layer_sizes: Sequence[int] | str
    frontier_size: SupportsIndex | str
    replace: bool

class _Layer(_Run, total=False):
    bias: Literal["weight", "degree", "none"]
    time_strategy: Literal["uniform", "last"] | None
    start_time: SupportsFloat | str | date | datetime64 | None
    time_order: Literal["monotone", "strict"]
    time_window: SupportsFloat | str | timedelta | timedelta64 | None
    depth: SupportsIndex | str | None
    neighbor_size: SupportsIndex | str
    frontier_size: SupportsIndex | str
    unique: bool
    time_against: Literal["root", "previous"]
    total: SupportsIndex | str | None

class _Links(_Run, total=False):
    relation: str | None
    num_negatives: SupportsIndex | str
    negative_bias: Literal["none", "degree"]
    allow_self: bool
    skip_full: bool
    negative_time: Literal["until", "ever"] | None
    start_time: SupportsFloat | str | date | datetime64 | None

class _Minibatch(_Run, total=False):
    seeds_per_batch: SupportsIndex | str
    epochs: SupportsIndex | str
    shuffle: bool
    drop_last: bool
    disjoint: bool
    bias: Literal["weight", "degree", "none"]
    time_strategy: Literal["uniform", "last"] | None
    start_time: SupportsFloat | str | date | datetime64 | None
    time_order: Literal["monotone", "strict"]
    time_window: SupportsFloat | str | timedelta | timedelta64 | None
    fanout: Sequence[int] | Mapping[str, Sequence[int]] | Mapping[tuple[str, str, str], Sequence[int]] | str
    replace: bool

class _Multidimensional(_Run, total=False):
    walk_length: SupportsIndex | str
    frontier_size: SupportsIndex | str

class _Mvs(_Run, total=False):
    seeds_per_batch: SupportsIndex | str
    disjoint: bool
    bias: Literal["weight", "degree", "none"]
    time_strategy: Literal["uniform", "last"] | None
    start_time: SupportsFloat | str | date | datetime64 | None
    time_order: Literal["monotone", "strict"]
    time_window: SupportsFloat | str | timedelta | timedelta64 | None
    fanout: Sequence[int] | str
    replace: bool
    norms: str | None

class _Neighbor(_Run, total=False):
    bias: Literal["weight", "degree", "none"]
    time_strategy: Literal["uniform", "last"] | None
    start_time: SupportsFloat | str | date | datetime64 | None
    time_order: Literal["monotone", "strict"]
    time_window: SupportsFloat | str | timedelta | timedelta64 | None
    fanout: Sequence[int] | Mapping[str, Sequence[int]] | Mapping[tuple[str, str, str], Sequence[int]] | str
    replace: bool
    unique: bool
    time_against: Literal["root", "previous"]

class _Node2vec(_Run, total=False):
    walk_length: SupportsIndex | str | None
    num_walks: SupportsIndex | str
    p: SupportsFloat | str
    q: SupportsFloat | str

class _Ppr(_Run, total=False):
    walk_length: SupportsIndex | str | None
    num_walks: SupportsIndex | str
    termination_prob: SupportsFloat | str

class _RandomEdge(_Run, total=False):
    neighbor_size: SupportsIndex | str

class _RandomNode(_Run, total=False):
    frontier_size: SupportsIndex | str

class _Restart(_Run, total=False):
    walk_length: SupportsIndex | str | None
    num_walks: SupportsIndex | str
    restart_prob: SupportsFloat | str

class _SaintNode(_Run, total=False):
    normalize: Literal["symmetric", "row", "none"]
    subgraph_nodes: SupportsIndex | str

class _Snowball(_Run, total=False):
    depth: SupportsIndex | str | None
    neighbor_size: SupportsIndex | str
    unique: bool

class _Temporal(_Run, total=False):
    walk_length: SupportsIndex | str
    num_walks: SupportsIndex | str
    start_time: SupportsFloat | str | date | datetime64 | None
    start: Literal["vertex", "edge"]
    start_bias: Literal["uniform", "linear", "exponential", "exponential-rank"]
    start_prefer: Literal["late", "early"]
    start_per: Literal["edge", "time"]
    start_scale: SupportsFloat | str | timedelta | timedelta64
    direction: Literal["forward", "backward"]
    time_order: Literal["strict", "monotone"]
    time_bias: Literal["uniform", "linear", "exponential", "exponential-rank"]
    prefer: Literal["near", "far"]
    per: Literal["edge", "time"]
    time_scale: SupportsFloat | str | timedelta | timedelta64
    time_window: SupportsFloat | str | timedelta | timedelta64 | None
    last_time: SupportsFloat | str | date | datetime64 | None

class _OfAll(_Run, total=False):
    walk_length: SupportsIndex | str | None
    num_walks: SupportsIndex | str
    bias: Literal["weight", "degree", "none"]
    clusters_per_batch: SupportsIndex | str
    normalize: Literal["symmetric", "row", "none"]
    layer_sizes: Sequence[int] | str
    frontier_size: SupportsIndex | str
    burn_prob: SupportsFloat | str
    depth: SupportsIndex | str | None
    seeds_per_batch: SupportsIndex | str
    epochs: SupportsIndex | str
    shuffle: bool
    drop_last: bool
    time_strategy: Literal["uniform", "last"] | None
    start_time: SupportsFloat | str | date | datetime64 | None
    time_order: Literal["monotone", "strict"] | Literal["strict", "monotone"]
    time_window: SupportsFloat | str | timedelta | timedelta64 | None
    num_samples: Sequence[int] | Mapping[str, Sequence[int]] | str
    jump_prob: SupportsFloat | str
    fanout: Sequence[int] | Mapping[str, Sequence[int]] | Mapping[tuple[str, str, str], Sequence[int]] | str
    time_against: Literal["root", "previous"]
    replace: bool
    neighbor_size: SupportsIndex | str
    unique: bool
    total: SupportsIndex | str | None
    relation: str | None
    num_negatives: SupportsIndex | str
    negative_bias: Literal["none", "degree"]
    allow_self: bool
    skip_full: bool
    negative_time: Literal["until", "ever"] | None
    disjoint: bool
    norms: str | None
    p: SupportsFloat | str
    q: SupportsFloat | str
    termination_prob: SupportsFloat | str
    restart_prob: SupportsFloat | str
    subgraph_nodes: SupportsIndex | str
    start: Literal["vertex", "edge"]
    start_bias: Literal["uniform", "linear", "exponential", "exponential-rank"]
    start_prefer: Literal["late", "early"]
    start_per: Literal["edge", "time"]
    start_scale: SupportsFloat | str | timedelta | timedelta64
    direction: Literal["forward", "backward"]
    time_bias: Literal["uniform", "linear", "exponential", "exponential-rank"]
    prefer: Literal["near", "far"]
    per: Literal["edge", "time"]
    time_scale: SupportsFloat | str | timedelta | timedelta64
    last_time: SupportsFloat | str | date | datetime64 | None

@overload
def sample(
    graph: object,
    out: Place | None = None,
    *,
    algo: Literal["biased"],
    directed: bool | None = None,
    virtual: bool = False,
    resume: bool = False,
    overwrite: bool = False,
    progress: Progress = None,
    **options: Unpack[_Biased],
) -> Samples: ...

@overload
def sample(
    graph: object,
    out: Place | None = None,
    *,
    algo: Literal["cluster-gcn"],
    directed: bool | None = None,
    virtual: bool = False,
    resume: bool = False,
    overwrite: bool = False,
    progress: Progress = None,
    **options: Unpack[_ClusterGcn],
) -> Samples: ...

@overload
def sample(
    graph: object,
    out: Place | None = None,
    *,
    algo: Literal["deepwalk", "metropolis-hastings"] = "deepwalk",
    directed: bool | None = None,
    virtual: bool = False,
    resume: bool = False,
    overwrite: bool = False,
    progress: Progress = None,
    **options: Unpack[_Deepwalk],
) -> Samples: ...

@overload
def sample(
    graph: object,
    out: Place | None = None,
    *,
    algo: Literal["fastgcn"],
    directed: bool | None = None,
    virtual: bool = False,
    resume: bool = False,
    overwrite: bool = False,
    progress: Progress = None,
    **options: Unpack[_Fastgcn],
) -> Samples: ...

@overload
def sample(
    graph: object,
    out: Place | None = None,
    *,
    algo: Literal["forest-fire"],
    directed: bool | None = None,
    virtual: bool = False,
    resume: bool = False,
    overwrite: bool = False,
    progress: Progress = None,
    **options: Unpack[_ForestFire],
) -> Samples: ...

@overload
def sample(
    graph: object,
    out: Place | None = None,
    *,
    algo: Literal["hgt"],
    directed: bool | None = None,
    virtual: bool = False,
    resume: bool = False,
    overwrite: bool = False,
    progress: Progress = None,
    **options: Unpack[_Hgt],
) -> Samples: ...

@overload
def sample(
    graph: object,
    out: Place | None = None,
    *,
    algo: Literal["jump"],
    directed: bool | None = None,
    virtual: bool = False,
    resume: bool = False,
    overwrite: bool = False,
    progress: Progress = None,
    **options: Unpack[_Jump],
) -> Samples: ...

@overload
def sample(
    graph: object,
    out: Place | None = None,
    *,
    algo: Literal["labor"],
    directed: bool | None = None,
    virtual: bool = False,
    resume: bool = False,
    overwrite: bool = False,
    progress: Progress = None,
    **options: Unpack[_Labor],
) -> Samples: ...

@overload
def sample(
    graph: object,
    out: Place | None = None,
    *,
    algo: Literal["ladies"],
    directed: bool | None = None,
    virtual: bool = False,
    resume: bool = False,
    overwrite: bool = False,
    progress: Progress = None,
    **options: Unpack[_Ladies],
) -> Samples: ...

@overload
def sample(
    graph: object,
    out: Place | None = None,
    *,
    algo: Literal["layer"],
    directed: bool | None = None,
    virtual: bool = False,
    resume: bool = False,
    overwrite: bool = False,
    progress: Progress = None,
    **options: Unpack[_Layer],
) -> Samples: ...

@overload
def sample(
    graph: object,
    out: Place | None = None,
    *,
    algo: Literal["links"],
    directed: bool | None = None,
    virtual: bool = False,
    resume: bool = False,
    overwrite: bool = False,
    progress: Progress = None,
    **options: Unpack[_Links],
) -> Samples: ...

@overload
def sample(
    graph: object,
    out: Place | None = None,
    *,
    algo: Literal["minibatch"],
    directed: bool | None = None,
    virtual: bool = False,
    resume: bool = False,
    overwrite: bool = False,
    progress: Progress = None,
    **options: Unpack[_Minibatch],
) -> Samples: ...

@overload
def sample(
    graph: object,
    out: Place | None = None,
    *,
    algo: Literal["multidimensional", "saint-multidimensional", "saint-walk"],
    directed: bool | None = None,
    virtual: bool = False,
    resume: bool = False,
    overwrite: bool = False,
    progress: Progress = None,
    **options: Unpack[_Multidimensional],
) -> Samples: ...

@overload
def sample(
    graph: object,
    out: Place | None = None,
    *,
    algo: Literal["mvs"],
    directed: bool | None = None,
    virtual: bool = False,
    resume: bool = False,
    overwrite: bool = False,
    progress: Progress = None,
    **options: Unpack[_Mvs],
) -> Samples: ...

@overload
def sample(
    graph: object,
    out: Place | None = None,
    *,
    algo: Literal["neighbor"],
    directed: bool | None = None,
    virtual: bool = False,
    resume: bool = False,
    overwrite: bool = False,
    progress: Progress = None,
    **options: Unpack[_Neighbor],
) -> Samples: ...

@overload
def sample(
    graph: object,
    out: Place | None = None,
    *,
    algo: Literal["node2vec"],
    directed: bool | None = None,
    virtual: bool = False,
    resume: bool = False,
    overwrite: bool = False,
    progress: Progress = None,
    **options: Unpack[_Node2vec],
) -> Samples: ...

@overload
def sample(
    graph: object,
    out: Place | None = None,
    *,
    algo: Literal["ppr"],
    directed: bool | None = None,
    virtual: bool = False,
    resume: bool = False,
    overwrite: bool = False,
    progress: Progress = None,
    **options: Unpack[_Ppr],
) -> Samples: ...

@overload
def sample(
    graph: object,
    out: Place | None = None,
    *,
    algo: Literal["random-edge"],
    directed: bool | None = None,
    virtual: bool = False,
    resume: bool = False,
    overwrite: bool = False,
    progress: Progress = None,
    **options: Unpack[_RandomEdge],
) -> Samples: ...

@overload
def sample(
    graph: object,
    out: Place | None = None,
    *,
    algo: Literal["random-node", "saint-edge"],
    directed: bool | None = None,
    virtual: bool = False,
    resume: bool = False,
    overwrite: bool = False,
    progress: Progress = None,
    **options: Unpack[_RandomNode],
) -> Samples: ...

@overload
def sample(
    graph: object,
    out: Place | None = None,
    *,
    algo: Literal["restart"],
    directed: bool | None = None,
    virtual: bool = False,
    resume: bool = False,
    overwrite: bool = False,
    progress: Progress = None,
    **options: Unpack[_Restart],
) -> Samples: ...

@overload
def sample(
    graph: object,
    out: Place | None = None,
    *,
    algo: Literal["saint-node"],
    directed: bool | None = None,
    virtual: bool = False,
    resume: bool = False,
    overwrite: bool = False,
    progress: Progress = None,
    **options: Unpack[_SaintNode],
) -> Samples: ...

@overload
def sample(
    graph: object,
    out: Place | None = None,
    *,
    algo: Literal["snowball"],
    directed: bool | None = None,
    virtual: bool = False,
    resume: bool = False,
    overwrite: bool = False,
    progress: Progress = None,
    **options: Unpack[_Snowball],
) -> Samples: ...

@overload
def sample(
    graph: object,
    out: Place | None = None,
    *,
    algo: Literal["temporal"],
    directed: bool | None = None,
    virtual: bool = False,
    resume: bool = False,
    overwrite: bool = False,
    progress: Progress = None,
    **options: Unpack[_Temporal],
) -> Samples: ...

@overload
def sample(
    graph: object,
    out: Place | None = None,
    *,
    algo: type[Algorithm] | Algorithm,
    directed: bool | None = None,
    virtual: bool = False,
    resume: bool = False,
    overwrite: bool = False,
    progress: Progress = None,
    **options: Any,
) -> Samples: ...

@overload
def sample(
    graph: object,
    out: Place | None = None,
    *,
    algo: str,
    directed: bool | None = None,
    virtual: bool = False,
    resume: bool = False,
    overwrite: bool = False,
    progress: Progress = None,
    **options: Unpack[_OfAll],
) -> Samples: ...

@overload
def sample(
    graph: object,
    out: Place | None,
    algo: str,
    *,
    directed: bool | None = None,
    virtual: bool = False,
    resume: bool = False,
    overwrite: bool = False,
    progress: Progress = None,
    **options: Unpack[_OfAll],
) -> Samples: ...

@overload
def stream(
    graph: object,
    algo: Literal["biased"],
    *,
    directed: bool | None = None,
    on_device: bool = False,
    rank: int = 0,
    world: int = 1,
    **options: Unpack[_Biased],
) -> Stream: ...

@overload
def stream(
    graph: object,
    algo: Literal["cluster-gcn"],
    *,
    directed: bool | None = None,
    on_device: bool = False,
    rank: int = 0,
    world: int = 1,
    **options: Unpack[_ClusterGcn],
) -> Stream: ...

@overload
def stream(
    graph: object,
    algo: Literal["deepwalk", "metropolis-hastings"] = "deepwalk",
    *,
    directed: bool | None = None,
    on_device: bool = False,
    rank: int = 0,
    world: int = 1,
    **options: Unpack[_Deepwalk],
) -> Stream: ...

@overload
def stream(
    graph: object,
    algo: Literal["fastgcn"],
    *,
    directed: bool | None = None,
    on_device: bool = False,
    rank: int = 0,
    world: int = 1,
    **options: Unpack[_Fastgcn],
) -> Stream: ...

@overload
def stream(
    graph: object,
    algo: Literal["forest-fire"],
    *,
    directed: bool | None = None,
    on_device: bool = False,
    rank: int = 0,
    world: int = 1,
    **options: Unpack[_ForestFire],
) -> Stream: ...

@overload
def stream(
    graph: object,
    algo: Literal["hgt"],
    *,
    directed: bool | None = None,
    on_device: bool = False,
    rank: int = 0,
    world: int = 1,
    **options: Unpack[_Hgt],
) -> Stream: ...

@overload
def stream(
    graph: object,
    algo: Literal["jump"],
    *,
    directed: bool | None = None,
    on_device: bool = False,
    rank: int = 0,
    world: int = 1,
    **options: Unpack[_Jump],
) -> Stream: ...

@overload
def stream(
    graph: object,
    algo: Literal["labor"],
    *,
    directed: bool | None = None,
    on_device: bool = False,
    rank: int = 0,
    world: int = 1,
    **options: Unpack[_Labor],
) -> Stream: ...

@overload
def stream(
    graph: object,
    algo: Literal["ladies"],
    *,
    directed: bool | None = None,
    on_device: bool = False,
    rank: int = 0,
    world: int = 1,
    **options: Unpack[_Ladies],
) -> Stream: ...

@overload
def stream(
    graph: object,
    algo: Literal["layer"],
    *,
    directed: bool | None = None,
    on_device: bool = False,
    rank: int = 0,
    world: int = 1,
    **options: Unpack[_Layer],
) -> Stream: ...

@overload
def stream(
    graph: object,
    algo: Literal["links"],
    *,
    directed: bool | None = None,
    on_device: bool = False,
    rank: int = 0,
    world: int = 1,
    **options: Unpack[_Links],
) -> Stream: ...

@overload
def stream(
    graph: object,
    algo: Literal["minibatch"],
    *,
    directed: bool | None = None,
    on_device: bool = False,
    rank: int = 0,
    world: int = 1,
    **options: Unpack[_Minibatch],
) -> Stream: ...

@overload
def stream(
    graph: object,
    algo: Literal["multidimensional", "saint-multidimensional", "saint-walk"],
    *,
    directed: bool | None = None,
    on_device: bool = False,
    rank: int = 0,
    world: int = 1,
    **options: Unpack[_Multidimensional],
) -> Stream: ...

@overload
def stream(
    graph: object,
    algo: Literal["mvs"],
    *,
    directed: bool | None = None,
    on_device: bool = False,
    rank: int = 0,
    world: int = 1,
    **options: Unpack[_Mvs],
) -> Stream: ...

@overload
def stream(
    graph: object,
    algo: Literal["neighbor"],
    *,
    directed: bool | None = None,
    on_device: bool = False,
    rank: int = 0,
    world: int = 1,
    **options: Unpack[_Neighbor],
) -> Stream: ...

@overload
def stream(
    graph: object,
    algo: Literal["node2vec"],
    *,
    directed: bool | None = None,
    on_device: bool = False,
    rank: int = 0,
    world: int = 1,
    **options: Unpack[_Node2vec],
) -> Stream: ...

@overload
def stream(
    graph: object,
    algo: Literal["ppr"],
    *,
    directed: bool | None = None,
    on_device: bool = False,
    rank: int = 0,
    world: int = 1,
    **options: Unpack[_Ppr],
) -> Stream: ...

@overload
def stream(
    graph: object,
    algo: Literal["random-edge"],
    *,
    directed: bool | None = None,
    on_device: bool = False,
    rank: int = 0,
    world: int = 1,
    **options: Unpack[_RandomEdge],
) -> Stream: ...

@overload
def stream(
    graph: object,
    algo: Literal["random-node", "saint-edge"],
    *,
    directed: bool | None = None,
    on_device: bool = False,
    rank: int = 0,
    world: int = 1,
    **options: Unpack[_RandomNode],
) -> Stream: ...

@overload
def stream(
    graph: object,
    algo: Literal["restart"],
    *,
    directed: bool | None = None,
    on_device: bool = False,
    rank: int = 0,
    world: int = 1,
    **options: Unpack[_Restart],
) -> Stream: ...

@overload
def stream(
    graph: object,
    algo: Literal["saint-node"],
    *,
    directed: bool | None = None,
    on_device: bool = False,
    rank: int = 0,
    world: int = 1,
    **options: Unpack[_SaintNode],
) -> Stream: ...

@overload
def stream(
    graph: object,
    algo: Literal["snowball"],
    *,
    directed: bool | None = None,
    on_device: bool = False,
    rank: int = 0,
    world: int = 1,
    **options: Unpack[_Snowball],
) -> Stream: ...

@overload
def stream(
    graph: object,
    algo: Literal["temporal"],
    *,
    directed: bool | None = None,
    on_device: bool = False,
    rank: int = 0,
    world: int = 1,
    **options: Unpack[_Temporal],
) -> Stream: ...

@overload
def stream(
    graph: object,
    algo: type[Algorithm] | Algorithm,
    *,
    directed: bool | None = None,
    on_device: bool = False,
    rank: int = 0,
    world: int = 1,
    **options: Any,
) -> Stream: ...

@overload
def stream(
    graph: object,
    algo: str,
    *,
    directed: bool | None = None,
    on_device: bool = False,
    rank: int = 0,
    world: int = 1,
    **options: Unpack[_OfAll],
) -> Stream: ...

class _Sample(_Run, total=False):
    directed: bool | None
    virtual: bool
    resume: bool
    overwrite: bool
    progress: Progress

def biased(
    graph: object,
    out: Place | None = None,
    *,
    walk_length: SupportsIndex | str | None = 80,
    num_walks: SupportsIndex | str = 1,
    bias: Literal["weight", "degree", "none"] = "degree",
    **options: Unpack[_Sample],
) -> Samples: ...

def cluster_gcn(
    graph: object,
    out: Place | None = None,
    *,
    clusters_per_batch: SupportsIndex | str = 20,
    **options: Unpack[_Sample],
) -> Samples: ...

def deepwalk(
    graph: object,
    out: Place | None = None,
    *,
    walk_length: SupportsIndex | str | None = 80,
    num_walks: SupportsIndex | str = 1,
    **options: Unpack[_Sample],
) -> Samples: ...

def fastgcn(
    graph: object,
    out: Place | None = None,
    *,
    normalize: Literal["symmetric", "row", "none"] = "symmetric",
    layer_sizes: Sequence[int] | str = (512, 512),
    frontier_size: SupportsIndex | str = 512,
    **options: Unpack[_Sample],
) -> Samples: ...

def forest_fire(
    graph: object,
    out: Place | None = None,
    *,
    burn_prob: SupportsFloat | str = 0.7,
    depth: SupportsIndex | str | None = 2,
    **options: Unpack[_Sample],
) -> Samples: ...

def hgt(
    graph: object,
    out: Place | None = None,
    *,
    seeds_per_batch: SupportsIndex | str = 1024,
    epochs: SupportsIndex | str = 1,
    shuffle: bool = False,
    drop_last: bool = False,
    time_strategy: Literal["uniform", "last"] | None = None,
    start_time: SupportsFloat | str | date | datetime64 | None = None,
    time_order: Literal["monotone", "strict"] = "monotone",
    time_window: SupportsFloat | str | timedelta | timedelta64 | None = None,
    num_samples: Sequence[int] | Mapping[str, Sequence[int]] | str = (512, 512),
    **options: Unpack[_Sample],
) -> Samples: ...

def jump(
    graph: object,
    out: Place | None = None,
    *,
    walk_length: SupportsIndex | str | None = 80,
    num_walks: SupportsIndex | str = 1,
    jump_prob: SupportsFloat | str = 0.15,
    **options: Unpack[_Sample],
) -> Samples: ...

def labor(
    graph: object,
    out: Place | None = None,
    *,
    time_strategy: Literal["uniform", "last"] | None = None,
    start_time: SupportsFloat | str | date | datetime64 | None = None,
    time_order: Literal["monotone", "strict"] = "monotone",
    time_window: SupportsFloat | str | timedelta | timedelta64 | None = None,
    fanout: Sequence[int] | Mapping[str, Sequence[int]] | Mapping[tuple[str, str, str], Sequence[int]] | str = (10, 10),
    frontier_size: SupportsIndex | str = 1024,
    time_against: Literal["root", "previous"] = "root",
    **options: Unpack[_Sample],
) -> Samples: ...

def ladies(
    graph: object,
    out: Place | None = None,
    *,
    normalize: Literal["symmetric", "row", "none"] = "symmetric",
    layer_sizes: Sequence[int] | str = (512, 512),
    frontier_size: SupportsIndex | str = 512,
    replace: bool = True,
    **options: Unpack[_Sample],
) -> Samples: ...

def layer(
    graph: object,
    out: Place | None = None,
    *,
    bias: Literal["weight", "degree", "none"] = "weight",
    time_strategy: Literal["uniform", "last"] | None = None,
    start_time: SupportsFloat | str | date | datetime64 | None = None,
    time_order: Literal["monotone", "strict"] = "monotone",
    time_window: SupportsFloat | str | timedelta | timedelta64 | None = None,
    depth: SupportsIndex | str | None = 2,
    neighbor_size: SupportsIndex | str = 10,
    frontier_size: SupportsIndex | str = 1,
    unique: bool = False,
    time_against: Literal["root", "previous"] = "root",
    total: SupportsIndex | str | None = None,
    **options: Unpack[_Sample],
) -> Samples: ...

def links(
    graph: object,
    out: Place | None = None,
    *,
    relation: str | None = None,
    num_negatives: SupportsIndex | str = 1,
    negative_bias: Literal["none", "degree"] = "none",
    allow_self: bool = False,
    skip_full: bool = False,
    negative_time: Literal["until", "ever"] | None = None,
    start_time: SupportsFloat | str | date | datetime64 | None = None,
    **options: Unpack[_Sample],
) -> Samples: ...

def metropolis_hastings(
    graph: object,
    out: Place | None = None,
    *,
    walk_length: SupportsIndex | str | None = 80,
    num_walks: SupportsIndex | str = 1,
    **options: Unpack[_Sample],
) -> Samples: ...

def minibatch(
    graph: object,
    out: Place | None = None,
    *,
    seeds_per_batch: SupportsIndex | str = 1024,
    epochs: SupportsIndex | str = 1,
    shuffle: bool = False,
    drop_last: bool = False,
    disjoint: bool = False,
    bias: Literal["weight", "degree", "none"] = "weight",
    time_strategy: Literal["uniform", "last"] | None = None,
    start_time: SupportsFloat | str | date | datetime64 | None = None,
    time_order: Literal["monotone", "strict"] = "monotone",
    time_window: SupportsFloat | str | timedelta | timedelta64 | None = None,
    fanout: Sequence[int] | Mapping[str, Sequence[int]] | Mapping[tuple[str, str, str], Sequence[int]] | str = (25, 10),
    replace: bool = False,
    **options: Unpack[_Sample],
) -> Samples: ...

def multidimensional(
    graph: object,
    out: Place | None = None,
    *,
    walk_length: SupportsIndex | str = 80,
    frontier_size: SupportsIndex | str = 10,
    **options: Unpack[_Sample],
) -> Samples: ...

def mvs(
    graph: object,
    out: Place | None = None,
    *,
    seeds_per_batch: SupportsIndex | str = 1024,
    disjoint: bool = False,
    bias: Literal["weight", "degree", "none"] = "weight",
    time_strategy: Literal["uniform", "last"] | None = None,
    start_time: SupportsFloat | str | date | datetime64 | None = None,
    time_order: Literal["monotone", "strict"] = "monotone",
    time_window: SupportsFloat | str | timedelta | timedelta64 | None = None,
    fanout: Sequence[int] | str = (-1,),
    replace: bool = False,
    norms: str | None = None,
    **options: Unpack[_Sample],
) -> Samples: ...

def neighbor(
    graph: object,
    out: Place | None = None,
    *,
    bias: Literal["weight", "degree", "none"] = "weight",
    time_strategy: Literal["uniform", "last"] | None = None,
    start_time: SupportsFloat | str | date | datetime64 | None = None,
    time_order: Literal["monotone", "strict"] = "monotone",
    time_window: SupportsFloat | str | timedelta | timedelta64 | None = None,
    fanout: Sequence[int] | Mapping[str, Sequence[int]] | Mapping[tuple[str, str, str], Sequence[int]] | str = (25, 10),
    replace: bool = False,
    unique: bool = False,
    time_against: Literal["root", "previous"] = "root",
    **options: Unpack[_Sample],
) -> Samples: ...

def node2vec(
    graph: object,
    out: Place | None = None,
    *,
    walk_length: SupportsIndex | str | None = 80,
    num_walks: SupportsIndex | str = 1,
    p: SupportsFloat | str = 1.0,
    q: SupportsFloat | str = 1.0,
    **options: Unpack[_Sample],
) -> Samples: ...

def ppr(
    graph: object,
    out: Place | None = None,
    *,
    walk_length: SupportsIndex | str | None = None,
    num_walks: SupportsIndex | str = 1,
    termination_prob: SupportsFloat | str = 0.15,
    **options: Unpack[_Sample],
) -> Samples: ...

def random_edge(
    graph: object,
    out: Place | None = None,
    *,
    neighbor_size: SupportsIndex | str = 100,
    **options: Unpack[_Sample],
) -> Samples: ...

def random_node(
    graph: object,
    out: Place | None = None,
    *,
    frontier_size: SupportsIndex | str = 100,
    **options: Unpack[_Sample],
) -> Samples: ...

def restart(
    graph: object,
    out: Place | None = None,
    *,
    walk_length: SupportsIndex | str | None = 80,
    num_walks: SupportsIndex | str = 1,
    restart_prob: SupportsFloat | str = 0.15,
    **options: Unpack[_Sample],
) -> Samples: ...

def saint_edge(
    graph: object,
    out: Place | None = None,
    *,
    frontier_size: SupportsIndex | str = 4000,
    **options: Unpack[_Sample],
) -> Samples: ...

def saint_multidimensional(
    graph: object,
    out: Place | None = None,
    *,
    walk_length: SupportsIndex | str = 5000,
    frontier_size: SupportsIndex | str = 1000,
    **options: Unpack[_Sample],
) -> Samples: ...

def saint_node(
    graph: object,
    out: Place | None = None,
    *,
    normalize: Literal["symmetric", "row", "none"] = "row",
    subgraph_nodes: SupportsIndex | str = 6000,
    **options: Unpack[_Sample],
) -> Samples: ...

def saint_walk(
    graph: object,
    out: Place | None = None,
    *,
    walk_length: SupportsIndex | str = 2,
    frontier_size: SupportsIndex | str = 3000,
    **options: Unpack[_Sample],
) -> Samples: ...

def snowball(
    graph: object,
    out: Place | None = None,
    *,
    depth: SupportsIndex | str | None = 2,
    neighbor_size: SupportsIndex | str = -1,
    unique: bool = False,
    **options: Unpack[_Sample],
) -> Samples: ...

def temporal(
    graph: object,
    out: Place | None = None,
    *,
    walk_length: SupportsIndex | str = 80,
    num_walks: SupportsIndex | str = 1,
    start_time: SupportsFloat | str | date | datetime64 | None = None,
    start: Literal["vertex", "edge"] = "vertex",
    start_bias: Literal["uniform", "linear", "exponential", "exponential-rank"] = "uniform",
    start_prefer: Literal["late", "early"] = "late",
    start_per: Literal["edge", "time"] = "edge",
    start_scale: SupportsFloat | str | timedelta | timedelta64 = 1.0,
    direction: Literal["forward", "backward"] = "forward",
    time_order: Literal["strict", "monotone"] = "strict",
    time_bias: Literal["uniform", "linear", "exponential", "exponential-rank"] = "uniform",
    prefer: Literal["near", "far"] = "near",
    per: Literal["edge", "time"] = "edge",
    time_scale: SupportsFloat | str | timedelta | timedelta64 = 1.0,
    time_window: SupportsFloat | str | timedelta | timedelta64 | None = None,
    last_time: SupportsFloat | str | date | datetime64 | None = None,
    **options: Unpack[_Sample],
) -> Samples: ...
