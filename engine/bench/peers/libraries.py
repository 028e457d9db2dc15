"""Other samplers that are Python packages."""

import numpy as np

UNIFORM, WEIGHTED, BY_DEGREE = "uniform walk", "weighted walk", "walk by degree 4000 x 2000"
NODE2VEC, HARD_NODE2VEC = "node2vec p=2 q=.5", "node2vec p=.25 q=4"
NEIGHBORS, MINI_BATCHES = "neighbors 25 x 10", "mini-batches 25 x 10"
BIASES = {"uniform": "Uniform", "linear": "Linear", "exponential-rank": "ExponentialIndex"}  # as Tempest calls them


class Library:
    """A sampler that is a package, imported when it is made; what ``__init__.py`` says of a Tool, by default."""

    works: tuple[str, ...] = ()
    devices: tuple[str, ...] = ("cpu",)
    on_gpu: tuple[str, ...] = ()
    programs: tuple[str, ...] = ()
    unchecked = ""


def torch_rows(how, graph):
    """PyTorch, held to the threads of the run, and the rows of the graph as its tensors on the device of the run."""
    import torch

    torch.set_num_threads(how["threads"])
    csr, device = graph(), how.get("device", "cpu")
    return torch, *(torch.from_numpy(csr[name].astype(np.int64)).to(device) for name in ("indptr", "indices"))


def ends_of(csr):
    """The vertex that each edge of the rows leaves."""
    return np.repeat(np.arange(csr["indptr"].size - 1), np.diff(csr["indptr"]))


class Lists(Library):
    """Walks of a sampler that returns a list, in which lengths may differ."""

    def edges(self, walks):
        return sum(len(walk) - 1 for walk in walks)

    def walks(self, walks):
        return np.array(walks, dtype=np.int64)


class CuGraph(Library):
    """cuGraph of RAPIDS on a GPU, by its own Python interface to the library (pylibcugraph).

    All sources are drawn for in one call. Samples stay in the GPU's memory.
    """

    devices = ("cuda",)
    works = (UNIFORM, WEIGHTED, NEIGHBORS, BY_DEGREE)

    def __init__(self, how, graph):
        import cupy
        import pylibcugraph

        self.device = cupy.cuda.Device(int(how["device"].partition(":")[2] or 0))
        self.device.use()
        csr, self.how, self.library = graph(), how, pylibcugraph
        self.handle = pylibcugraph.ResourceHandle()
        self.graph = pylibcugraph.SGGraph(
            self.handle,
            pylibcugraph.GraphProperties(is_symmetric=not how.get("by_degree"), is_multigraph=False),
            cupy.asarray(ends_of(csr).astype(np.int32)),
            cupy.asarray(csr["indices"].astype(np.int32)),
            weight_array=cupy.asarray(csr["weights"].astype(np.float32)),
            store_transposed=False,
            renumber=False,
            do_expensive_check=False,
        )
        every = np.tile(np.arange(csr["indptr"].size - 1), how["rounds"])
        starts = how["listed"][: how.get("walks")] if "fanout" in how or "walks" in how else every
        self.starts = cupy.asarray(np.asarray(starts, np.int32))
        self.fanout = np.asarray(how.get("fanout", ()), np.int32)

    def draw(self):
        drawn = self.pairs() if "fanout" in self.how else self.paths()
        self.device.synchronize()
        return [drawn]

    def pairs(self):
        """(vertices, the neighbor that each selected)."""
        found = self.library.homogeneous_uniform_neighbor_sample(
            self.handle, self.graph, self.starts, None, self.fanout, with_replacement=False, do_expensive_check=False
        )
        return found["majors"], found["minors"]

    def paths(self):
        """Walks, one after the other."""
        law = self.library.biased_random_walks if self.how.get("weighted") else self.library.uniform_random_walks
        return law(self.handle, self.graph, self.starts, self.how["length"])[0].reshape(self.starts.size, -1)

    def edges(self, drawn):
        (one,) = drawn
        return one[0].size if "fanout" in self.how else one.shape[0] * (one.shape[1] - 1)

    def walks(self, drawn):
        import cupy

        (one,) = drawn
        return np.column_stack([cupy.asnumpy(ends) for ends in one]) if "fanout" in self.how else cupy.asnumpy(one)


class Dgl(Library):
    """DGL (Wang et al., 2019); neighbors of 1,024 sources at a time, as in a training loop.

    Its loaders since 2.0 are GraphBolt's, which is a peer of its own. On a GPU its graph and its samples are there; it
    has node2vec on the CPU alone.
    """

    devices = ("cpu", "cuda")
    on_gpu = (UNIFORM, WEIGHTED, NEIGHBORS, BY_DEGREE)
    works = (*on_gpu, NODE2VEC, HARD_NODE2VEC)

    def __init__(self, how, graph):
        import dgl
        import torch

        torch.set_num_threads(how["threads"])
        csr = graph()
        self.dgl, self.torch, self.how = dgl, torch, how
        self.graph = dgl.graph(("csr", (csr["indptr"].astype(np.int64), csr["indices"].astype(np.int64), [])))
        if how.get("weighted"):
            self.graph.edata["weight"] = torch.from_numpy(csr["weights"])
        self.graph, listed = self.graph.to(how["device"]), torch.tensor(how["listed"], device=how["device"])
        self.seeds = listed.split(how["together"])
        every = torch.arange(self.graph.num_nodes(), device=how["device"]).repeat(how["rounds"])
        self.starts = listed[: how["walks"]] if "walks" in how else every

    def draw(self):
        drawn = self.sample()
        if self.how["device"] != "cpu":
            self.torch.cuda.synchronize()
        return drawn

    def sample(self):
        how, sampling = self.how, self.dgl.sampling
        if "fanout" in how:
            return [pairs for seeds in self.seeds for pairs in self.hops(seeds)]
        if "p" in how:
            return [sampling.node2vec_random_walk(self.graph, self.starts, how["p"], how["q"], how["length"])]
        prob = "weight" if how.get("weighted") else None
        return [sampling.random_walk(self.graph, self.starts, length=how["length"], prob=prob)[0]]

    def hops(self, seeds):
        for size in self.how["fanout"]:
            src, seeds = self.dgl.sampling.sample_neighbors(self.graph, seeds, size, edge_dir="out").edges()
            yield self.torch.stack([src, seeds], 1)
            seeds = seeds.unique()

    def walks(self, drawn):
        return self.torch.cat([each.cpu() for each in drawn]).numpy()


class Ensmallen(Library):
    """ensmallen, the sampler of GRAPE (Cappelletti et al., Nature Computational Science 2023)."""

    works = (UNIFORM, NODE2VEC, WEIGHTED, HARD_NODE2VEC)

    def __init__(self, how, graph):
        from ensmallen import Graph

        weights = {"weights_column_number": 2} if how.get("weighted") else {}
        self.graph = Graph.from_csv(
            edge_path=how["folder"] + "/edges.tsv",
            edge_list_separator="\t",
            edge_list_header=False,
            sources_column_number=0,
            destinations_column_number=1,
            edge_list_numeric_node_ids=True,
            directed=False,
            name="g",
            verbose=False,
            **weights,
        )
        self.how = {
            "walk_length": how["length"] + 1,
            "iterations": how["rounds"],
            "max_neighbours": 2**32 - 1,  # it cuts hubs off at 100 otherwise
            "return_weight": 1 / how.get("p", 1.0),
            "explore_weight": 1 / how.get("q", 1.0),
        }

    def draw(self):
        return [self.graph.complete_walks(**self.how)]


class GraphBolt(Library):
    """GraphBolt, the loaders of DGL since 2.0: its NeighborSampler, one mini-batch after the other.

    It has threads for each step of a mini-batch. Each hop draws for all vertices so far, those that have drawn before,
    too.
    """

    works = (MINI_BATCHES,)

    def __init__(self, how, graph):
        from dgl import graphbolt

        torch, *rows = torch_rows(how, graph)
        seeds = graphbolt.ItemSet(torch.tensor(how["listed"]), names="seed_nodes")
        batches = graphbolt.ItemSampler(seeds, batch_size=how["together"])
        of_hops = list(reversed(how["fanout"]))  # the last is drawn first
        self.loader = batches.sample_neighbor(graphbolt.fused_csc_sampling_graph(*rows), of_hops)

    def draw(self):
        return [hop for batch in self.loader for hop in batch.sampled_subgraphs]

    def edges(self, hops):
        return sum(hop.sampled_csc.indices.numel() for hop in hops)

    def walks(self, hops):
        return np.concatenate([self.pairs(hop) for hop in hops])

    def pairs(self, hop):
        """(vertex, the neighbor that it selected)."""
        import torch

        drawn = hop.sampled_csc
        vertices = hop.original_column_node_ids.repeat_interleave(drawn.indptr.diff())
        return torch.stack([vertices, hop.original_row_node_ids[drawn.indices]], 1).numpy()


class GraphSaint(Library):
    """GraphSAINT's own sampler in Cython (Zeng et al., ICLR 2020).

    Random walks begin at random roots, or of 100 walkers one moves at a time; a sample has all edges among their
    vertices.
    """

    works = ("GraphSAINT walks 3000 x 2", "MultiRW, 100 roots")

    def __init__(self, how, graph):
        from graphsaint.cython_sampler import MRW, RW

        csr = graph()
        vertices = np.arange(csr["indptr"].size - 1, dtype=np.int32)
        of_each = -(-how["subgraphs"] // how["threads"])
        rows, columns = (csr[name].astype(np.int32) for name in ("indptr", "indices"))
        drawn = rows, columns, vertices, how["threads"], of_each
        if "walkers" in how:  # its size counts walkers and steps; no degree is cut off
            degrees = np.diff(rows)
            size = how["walkers"] + how["steps"]
            self.sampler = MRW(*drawn, degrees, int(degrees.max()), how["walkers"], size)
        else:
            self.sampler = RW(*drawn, how["roots"], how["depth"])

    def draw(self):
        return self.sampler.par_sample()[1]

    def edges(self, drawn):
        return sum(map(len, drawn))


class GSampler(Library):
    """gSampler (Gong et al., SOSP 2023) on a GPU: uniform walks by its Python package, gs.

    Its generators start from one seed, so that every call draws the same walks. Its node2vec draws from another law,
    and its neighbors of a hop are drawn for all vertices so far, as a part of training.
    """

    devices = ("cuda",)
    works = (UNIFORM,)

    def __init__(self, how, graph):
        import gs

        torch, *rows = torch_rows(how, graph)
        self.matrix, self.length = gs.matrix_api.Matrix(), how["length"]
        self.matrix.load_graph("CSC", rows)  # it walks along columns, which these rows are to it
        self.starts = torch.arange(rows[0].numel() - 1, device=how["device"]).repeat(how["rounds"])
        self.synchronize = torch.cuda.synchronize if how["device"] != "cpu" else lambda: None

    def draw(self):
        """Walks step by step, all of a step one after the other, whatever the shape says that they come in."""
        paths = self.matrix.random_walk(self.starts, self.length)
        self.synchronize()
        return [paths.reshape(self.length + 1, -1).T]

    def walks(self, drawn):
        (walks,) = drawn
        return walks.cpu().numpy()


class IGraph(Lists):
    """igraph (Csardi and Nepusz, 2006): one walk a call."""

    works = (UNIFORM, WEIGHTED, BY_DEGREE)

    def __init__(self, how, graph):
        import igraph

        csr, by_degree = graph(), "by_degree" in how  # weights that differ in the directions of an edge
        src = ends_of(csr)
        once = np.ones(src.size, bool) if by_degree else src <= csr["indices"]
        edges = np.column_stack([src[once], csr["indices"][once]])
        self.graph = igraph.Graph(n=csr["indptr"].size - 1, edges=edges, directed=by_degree)
        self.weights = csr["weights"][once].tolist() if how.get("weighted") else None
        self.how = how

    def draw(self):
        length, weights = self.how["length"], self.weights
        every = list(range(self.graph.vcount())) * self.how["rounds"]
        starts = self.how["listed"][: self.how["walks"]] if "walks" in self.how else every
        return [self.graph.random_walk(v, length, weights=weights) for v in starts]


class PecanPy(Lists):
    """PecanPy (Liu and Krishnan, Bioinformatics 2021), with transition probabilities computed on the way."""

    works = (UNIFORM, NODE2VEC, WEIGHTED, HARD_NODE2VEC)

    def __init__(self, how, graph):
        from pecanpy import pecanpy

        csr = graph()
        self.how, weights = how, csr["weights"] if how.get("weighted") else np.ones(csr["indices"].size, np.float32)
        self.graph = pecanpy.SparseOTF(p=how.get("p", 1.0), q=how.get("q", 1.0), workers=how["threads"], verbose=False)
        self.graph.set_node_ids([str(v) for v in range(csr["indptr"].size - 1)])
        self.graph.indptr, self.graph.indices = csr["indptr"].astype(np.uint32), csr["indices"]
        self.graph.data = weights

    def draw(self):
        return self.graph.simulate_walks(self.how["rounds"], self.how["length"])


class PygLib(Library):
    """pyg-lib, what PyG's NeighborLoader draws with if it is there.

    A thread draws a mini-batch, and each thread has its own. On a GPU it has walks alone, with the graph and the
    samples there.
    """

    devices = ("cpu", "cuda")
    on_gpu = (UNIFORM,)
    works = (UNIFORM, MINI_BATCHES)

    def __init__(self, how, graph):
        from concurrent.futures import ThreadPoolExecutor

        import pyg_lib

        torch, *self.rows = torch_rows(how, graph)
        self.seeds, self.how = torch.tensor(how["listed"]).split(how["together"]), how
        self.starts = torch.arange(self.rows[0].numel() - 1, device=how["device"]).repeat(how["rounds"])
        self.synchronize = torch.cuda.synchronize
        self.sampler, self.threads = pyg_lib.sampler, ThreadPoolExecutor(how["threads"])

    def draw(self):
        if "fanout" in self.how:
            return list(self.threads.map(self.batch, self.seeds))
        drawn = [self.sampler.random_walk(*self.rows, self.starts, self.how["length"])]
        if self.how["device"] != "cpu":
            self.synchronize()
        return drawn

    def walks(self, drawn):
        return np.concatenate([each.cpu().numpy() for each in drawn])

    def batch(self, seeds):
        """(vertex, the neighbor that it selected) of a mini-batch."""
        import torch

        of, to, ids, *_ = self.sampler.neighbor_sample(*self.rows, seeds, self.how["fanout"])
        return torch.stack([ids[of], ids[to]], 1)


class Tempest(Library):
    """Tempest (Salehin and others, ICPP 2026; tempest-rw on PyPI): walks in time by ranks of different times.

    Its wheel is built for GPUs and needs NVIDIA's driver even to draw on the CPU; for the CPU alone it is built from
    its source. On a GPU it returns walks as arrays in the host's memory, so the time of copying them is part of its
    rate.
    """

    devices = ("cpu", "cuda")
    works = ("temporal walk", "temporal walk, linear", "temporal walk by rank")

    def __init__(self, how, graph):
        import os

        os.environ["OMP_NUM_THREADS"] = str(how["threads"])  # before its library is loaded, which reads it once
        from tempest import Tempest

        self.how, rows = how, graph()
        source = ends_of(rows)
        once = source <= rows["indices"]
        ends = (source[once].astype(np.int32), rows["indices"][once].astype(np.int32))
        kind, _, number = how.get("device", "cpu").partition(":")
        where = {"use_gpu": kind == "cuda", "cuda_device_id": int(number or 0)}
        self.sampler = Tempest(is_directed=False, global_seed=1, **where)
        self.sampler.add_multiple_edges(*ends, rows["times"][once])

    def draw(self):
        bias = BIASES[self.how["time_bias"]]
        return self.sampler.get_random_walks_and_times_for_all_nodes(
            max_walk_len=self.how["length"] + 1,
            walk_bias=bias,
            num_walks_per_node=self.how["rounds"],
            initial_edge_bias=bias,
            walk_direction="Forward_In_Time",
        )

    def edges(self, drawn):
        lengths = drawn[2].astype("int64")
        return int((lengths - (lengths > 0)).sum())

    def walks(self, drawn):
        nodes, times, lengths = drawn[:3]
        begun = lengths > 0  # of a vertex without edges it has no walk
        return np.column_stack([nodes, times[:, 1:]])[begun]


class TorchCluster(Library):
    """torch-cluster, what PyG's Node2Vec walks with. It has no weights."""

    works = (UNIFORM, NODE2VEC, HARD_NODE2VEC)

    def __init__(self, how, graph):
        import torch_cluster  # noqa: F401

        torch, *self.rows = torch_rows(how, graph)
        self.how = how["length"], how.get("p", 1.0), how.get("q", 1.0)
        self.starts = torch.arange(self.rows[0].numel() - 1).repeat(how["rounds"])
        self.walk = torch.ops.torch_cluster.random_walk

    def draw(self):
        return [self.walk(*self.rows, self.starts, *self.how)[0]]


class TorchSparse(Library):
    """torch-sparse, what PyG's NeighborLoader draws with where pyg-lib is missing.

    1,024 sources at a time, as in training. A thread draws a mini-batch, and each thread has its own.
    """

    works = (NEIGHBORS, MINI_BATCHES)

    def __init__(self, how, graph):
        from concurrent.futures import ThreadPoolExecutor

        import torch_sparse  # noqa: F401

        torch, *self.rows = torch_rows(how, graph)
        self.seeds, self.how = torch.tensor(how["listed"]).split(how["together"]), how
        self.sample, self.threads = torch.ops.torch_sparse.neighbor_sample, ThreadPoolExecutor(how["threads"])

    def draw(self):
        return list(self.threads.map(self.batch, self.seeds))

    def batch(self, seeds):
        """(vertex, the neighbor that it selected) of a mini-batch."""
        import torch

        ids, at, to, _ = self.sample(*self.rows, seeds, self.how["fanout"], False, True)
        return torch.stack([ids[to], ids[at]], 1)


TOOLS = {
    "cugraph": CuGraph,
    "dgl": Dgl,
    "ensmallen": Ensmallen,
    "graphbolt": GraphBolt,
    "graphsaint": GraphSaint,
    "gsampler": GSampler,
    "igraph": IGraph,
    "pecanpy": PecanPy,
    "pyg-lib": PygLib,
    "tempest": Tempest,
    "torch-cluster": TorchCluster,
    "torch-sparse": TorchSparse,
}
