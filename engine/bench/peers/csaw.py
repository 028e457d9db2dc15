"""csaw on the CPU."""

WORKS = ("uniform walk", "node2vec p=2 q=.5", "weighted walk", "neighbors 25 x 10", "node2vec p=.25 q=4")


class Tool:
    def __init__(self, how, graph):
        from csaw.engine.run import open_backend, prepare

        if "fanout" in how:
            asked = {"algo": "neighbor", "fanout": how["fanout"], "sources": how["listed"]}
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
        self.backend = open_backend(self.job)

    def draw(self):
        batches, plan = [], self.job.plan
        for first in range(0, plan.request.instances, plan.batch):
            last = min(first + plan.batch, plan.request.instances)
            batch = self.backend.begin(first, self.job.sources.take(first, last, flat=plan.layout == "walks"))
            batch.advance()
            batches.append((batch.edges(), batch.arrays()))
        return batches

    def edges(self, batches):
        return sum(edges for edges, _ in batches)

    def walks(self, batches):
        import numpy as np

        if self.job.plan.layout == "walks":
            return np.concatenate([arrays["walks"] for _, arrays in batches])
        return np.concatenate([np.column_stack([arrays["hop_0"], arrays["hop_1"]]) for _, arrays in batches])
