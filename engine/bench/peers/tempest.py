"""Tempest (Salehin and others, ICPP 2026; tempest-rw on PyPI): walks in time by ranks of different times.

Its wheel is built for GPUs and needs NVIDIA's driver even to draw on the CPU; for the CPU alone it is built from its
source. On a GPU it returns walks as arrays in the host's memory, so the time of copying them is part of its rate.
"""

DEVICES = ("cpu", "cuda")
WORKS = ("temporal walk", "temporal walk, linear", "temporal walk by rank")
BIASES = {"uniform": "Uniform", "linear": "Linear", "exponential-rank": "ExponentialIndex"}


class Tool:
    def __init__(self, how, graph):
        import os

        os.environ["OMP_NUM_THREADS"] = str(how["threads"])  # before its library is loaded, which reads it once
        import numpy as np
        from tempest import Tempest

        self.how, rows = how, graph()
        source = np.repeat(np.arange(rows["indptr"].size - 1), np.diff(rows["indptr"]))
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
        import numpy as np

        nodes, times, lengths = drawn[:3]
        begun = lengths > 0  # of a vertex without edges it has no walk
        return np.column_stack([nodes, times[:, 1:]])[begun]
