"""csaw. On a GPU samples stay in its memory."""


def asked(how, graph):
    """The algorithm of a work, with its options."""
    if how.get("merged"):
        return {
            "algo": "minibatch",
            "fanout": how["fanout"],
            "sources": how["listed"],
            "seeds_per_batch": how["together"],
        }
    if "fanout" in how:
        return {"algo": "neighbor", "fanout": how["fanout"], "sources": how["listed"]}
    if "roots" in how:
        return {
            "algo": "saint-walk",
            "frontier_size": how["roots"],
            "walk_length": how["depth"],
            "instances": how["subgraphs"],
        }
    if "walkers" in how:
        algo = "saint-multidimensional" if "subgraphs" in how else "multidimensional"
        sizes = {"frontier_size": how["walkers"], "walk_length": how["steps"]}
        drawn = how["instances" if on_gpu(how) else "instances_on_cpu"] if "instances" in how else how["subgraphs"]
        return {"algo": algo, "instances": drawn} | sizes
    if "layer" in how:
        sizes = {"neighbor_size": how["layer"], "total": how["total"], "depth": None}
        return {"algo": "layer", "sources": how["listed"][: how["instances"]]} | sizes
    if "by_degree" in how:
        return {"algo": "biased", "sources": how["listed"][: how["walks"]], "walk_length": how["length"]}
    if "ends" in how:
        rows = graph()["indptr"]
        hub = {"sources": [int((rows[1:] - rows[:-1]).argmax())], "num_walks": (rows.size - 1) * how["rounds"]}
        return hub | {"algo": "ppr", "termination_prob": how["ends"]}
    walk = {"walk_length": how["length"], "num_walks": how["rounds"]}
    if "time_bias" in how:
        return walk | {"algo": "temporal", "per": "time", "time_bias": how["time_bias"]}
    return walk | ({"algo": "node2vec", "p": how["p"], "q": how["q"]} if "p" in how else {"algo": "deepwalk"})


def on_gpu(how):
    return how.get("device", "cpu") != "cpu"


class Tool:
    devices = ("cpu", "cuda")
    works: tuple[str, ...] = ()
    on_gpu: tuple[str, ...] = ()
    programs: tuple[str, ...] = ()
    unchecked = ""

    def __init__(self, how, graph):
        from csaw.engine.runs.job import open_backend, prepare
        from csaw.engine.schedule.batch_loop import Batches

        weighted = how.get("weighted", False) and not how.get("by_degree")
        options = asked(how, graph) | {"weighted": weighted, "threads": how["threads"]}
        self.job = prepare(how["graph"], device=how.get("device", "cpu"), **options)
        self.batches = Batches(open_backend(self.job), self.job.sources)

    def draw(self):
        drawn = self.batches.draw(0, self.job.plan.request.instances)
        on_cpu = self.job.plan.device == "cpu"
        return [(batch, batch.arrays() if on_cpu else None) for batch in drawn]

    def edges(self, drawn):
        return sum(batch.edges for batch, _ in drawn)

    def walks(self, drawn):
        import numpy as np

        return np.concatenate([self.pairs(arrays or batch.arrays()) for batch, arrays in drawn])

    def pairs(self, arrays):
        """Walks, or (vertex, the neighbor that it selected)."""
        import numpy as np

        if "times" in arrays:
            walks, steps = arrays["walks"].astype(np.int64), arrays["lengths"]
            walks[np.arange(walks.shape[1]) > steps[:, None]] = -1
            return np.column_stack([walks, arrays["times"]])
        if "walks" in arrays:
            return arrays["walks"]
        if "hop_0" in arrays:
            return np.column_stack([arrays["hop_0"], arrays["hop_1"]])
        counts = arrays["node_counts"]
        first = np.repeat(np.cumsum(counts) - counts, arrays["edge_counts"])
        return np.column_stack([arrays["n_id"][first + arrays[end]] for end in ("col", "row")])


TOOLS = {"csaw": Tool}
