"""csaw on the CPU."""

WORKS = (
    "uniform walk",
    "node2vec p=2 q=.5",
    "weighted walk",
    "neighbors 25 x 10",
    "node2vec p=.25 q=4",
    "GraphSAINT walks 3000 x 2",
)


class Tool:
    def __init__(self, how, graph):
        from csaw.engine.runs.backends import open_backend
        from csaw.engine.runs.job import prepare
        from csaw.engine.schedule.batch_loop import Batches

        if "fanout" in how:
            asked = {"algo": "neighbor", "fanout": how["fanout"], "sources": how["listed"]}
        elif "roots" in how:
            asked = {
                "algo": "saint-walk",
                "frontier_size": how["roots"],
                "walk_length": how["depth"],
                "instances": how["subgraphs"],
            }
        else:
            asked = {
                "algo": "node2vec" if "p" in how else "deepwalk",
                "walk_length": how["length"],
                "num_walks": how["rounds"],
            }
            asked.update((name, how[name]) for name in ("p", "q") if name in how)
        self.job = prepare(
            how["graph"], device="cpu", weighted=how.get("weighted", False), threads=how["threads"], **asked
        )
        self.batches = Batches(open_backend(self.job), self.job.sources)

    def draw(self):
        drawn = self.batches.draw(0, self.job.plan.request.instances)
        return [(batch.edges, batch.arrays()) for batch in drawn]

    def edges(self, drawn):
        return sum(edges for edges, _ in drawn)

    def walks(self, drawn):
        import numpy as np

        if self.job.plan.sample_layout.has_limit:
            return np.concatenate([arrays["walks"] for _, arrays in drawn])
        return np.concatenate([np.column_stack([arrays["hop_0"], arrays["hop_1"]]) for _, arrays in drawn])
