"""Draws that depend on each other although each fits its law: of the instance before, of the layer or hop before, or
with random numbers that are used again. Right samples, made the same way, pass.
"""

import numpy as np
import pytest
from helpers.graphs import store_of
from helpers.remade import remade

import csaw

VERTICES, CLUSTERS, MANY = 40, 8, 1500


class Forger:
    """Draws as csaw may, or not: ``again`` tells what is used again."""

    def __init__(self, tmp_path, again):
        self.again, self.draw = again, np.random.default_rng(5)
        edges = {(v, int(u)) for v in range(VERTICES) for u in self.draw.choice(VERTICES, 4) if u != v}
        ends = sorted({(min(edge), max(edge)) for edge in edges})
        self.store = store_of(tmp_path / "g.zarr", [(*edge, 1) for edge in ends], directed=False, clusters=CLUSTERS)
        graph, self.path = self.store.load(), tmp_path / "s.zarr"
        self.rows = [graph.indices[graph.indptr[v] : graph.indptr[v + 1]].astype(int).tolist() for v in range(VERTICES)]
        self.ends, self.clusters = ends, self.store.read_clusters()

    def verified(self, algo, change, **options):
        """Names of the checks that fail on a sample whose arrays ``change`` makes."""
        csaw.sample(self.store, self.path, algo=algo, seed=11, ids="dense", overwrite=True, device="cpu", **options)
        remade(self.path, self.path, lambda arrays: as_arrays(change(arrays), arrays))
        return {check.name for check in csaw.verify(self.path).checks if not check.ok}

    def norms(self, by):
        """The chance of a vertex, of squared entries by the degrees of rows, or of both ends."""
        out = np.zeros(VERTICES)
        for row in self.rows:
            for u in row:
                out[u] += 1 / len(row) ** 2 if by == "row" else 1 / len(row) / len(self.rows[u])
        return out / out.sum()

    def sets(self, size, of):
        """Sets of ``size`` numbers below ``of``: in epochs, with half of the set before, or right."""
        left, last = [], self.draw.permutation(of)[:size].tolist()
        for _ in range(MANY):
            if self.again == "epochs":
                left = left if len(left) >= size else self.draw.permutation(of).tolist()
                last, left = left[:size], left[size:]
            else:
                kept = last[size // 2 :] if self.again == "half" else []
                last = kept + [one for one in self.draw.permutation(of).tolist() if one not in kept][: size - len(kept)]
            yield last

    def draws(self, size, chance):
        """Draws with replacement: half of them those before, the last one the first, or right."""
        last = self.draw.choice(chance.size, size, p=chance).tolist()
        for _ in range(MANY):
            drawn = self.draw.choice(chance.size, size, p=chance).tolist()
            if self.again == "half":
                drawn[: size // 2] = last[size // 2 :]
            if self.again == "first":
                drawn[-1] = drawn[0]
            last = drawn
            yield drawn

    def induced(self, sets, sources):
        out = {name: [] for name in ("counts", "src", "dst", "source_counts", "sources", "vertex_counts", "vertices")}
        for one, given in zip(sets, sources, strict=True):
            inside = sorted({*one})
            edges = [(v, u) for v in inside for u in self.rows[v] if u in inside]
            out["counts"].append(len(edges))
            out["src"] += [v for v, _ in edges]
            out["dst"] += [u for _, u in edges]
            out["source_counts"].append(len(given))
            out["sources"] += given
            out["vertex_counts"].append(len(inside))
            out["vertices"] += inside
        return out | {"depth": [0] * len(out["src"])}

    def edges(self, sets):
        chosen = [self.ends[k] for one in sets for k in one]
        counts = [len(one) for one in sets]
        return {
            "counts": counts,
            "src": [v for v, _ in chosen],
            "dst": [u for _, u in chosen],
            "depth": [0] * len(chosen),
            "source_counts": [0] * len(counts),
            "sources": [],
        }

    def layers(self, arrays, size, frontier):
        """Two layers of an instance, by the entries of both ends."""
        chance, last = self.norms("symmetric"), None
        out = {name: [] for name in arrays}
        for i in range(MANY):
            sources = arrays["sources"][i * frontier : (i + 1) * frontier].astype(int).tolist()
            first, second = (self.draw.choice(VERTICES, size, p=chance) for _ in range(2))
            given = {"layer": first, "instance": last if last is not None else second}.get(self.again, second)
            last, front, begin = first, sorted({*sources}), len(out["src"])
            for depth, drawn in enumerate((first, given)):
                for v in front:
                    for u in self.rows[v]:
                        if times := int((drawn == u).sum()):
                            entry = (len(self.rows[v]) * len(self.rows[u])) ** -0.5
                            out["src"].append(v)
                            out["dst"].append(u)
                            out["depth"].append(depth)
                            out["weight"].append(entry * times / (size * chance[u]))
                out["vertices"] += drawn.tolist()
                out["layer"] += [depth + 1] * size
                out["probability"] += chance[drawn].tolist()
                front = sorted({*drawn.tolist()})
            out["counts"].append(len(out["src"]) - begin)
            out["source_counts"].append(frontier)
            out["sources"] += sources
            out["vertex_counts"].append(2 * size)
        return out

    def labor(self, arrays, sizes, frontier):
        """Edges that numbers of their ends keep: at each hop new ones, those of the hop before or of the instance
        before, or right.
        """
        out, numbers = {name: [] for name in arrays}, self.draw.random((2, VERTICES))
        for i in range(MANY):
            sources = arrays["sources"][i * frontier : (i + 1) * frontier].astype(int).tolist()
            front, begin = sorted({*sources}), len(out["src"])
            numbers = numbers if self.again == "instance" and i % 2 else self.draw.random((2, VERTICES))
            for depth, size in enumerate(sizes):
                number = numbers[0 if self.again == "hop" else depth]
                kept = [(v, u) for v in front for u in self.rows[v] if number[u] < size / len(self.rows[v])]
                out["src"] += [v for v, _ in kept]
                out["dst"] += [u for _, u in kept]
                out["depth"] += [depth] * len(kept)
                front = sorted({u for _, u in kept})
            out["counts"].append(len(out["src"]) - begin)
            out["source_counts"].append(frontier)
            out["sources"] += sources
        return out

    def step(self, v, number):
        return self.rows[v][int(number * len(self.rows[v]))]

    def walks(self, arrays, lag):
        walks = arrays["walks"].astype(np.int64)
        for walk in walks:
            numbers = self.draw.random(walk.size)
            for t in range(1, walk.size):
                if lag and t > lag:
                    numbers[t] = numbers[t - lag]
                walk[t] = self.step(walk[t - 1], numbers[t])
        return arrays | {"walks": walks}

    def hops(self, arrays):
        for i, v in enumerate(arrays["hop_0"][:, 0].astype(int).tolist()):
            numbers = self.draw.random(3)
            numbers[2] = numbers[0] if self.again == "hop" else numbers[2]
            for hop, number in enumerate(numbers, 1):
                v = self.step(v, number)
                arrays[f"hop_{hop}"][i, 0] = v
        return arrays


def as_arrays(made, like):
    return {name: np.array(made[name], like[name].dtype) for name in like}


@pytest.mark.parametrize("again", ["", "epochs", "half"])
def test_sets_that_depend_on_the_one_before_are_found(tmp_path, again):
    forger = Forger(tmp_path, again)
    sets = list(forger.sets(4, VERTICES))
    ordered = [sorted(one) for one in sets]
    made = {"frontier_size": 4, "instances": MANY}
    found = forger.verified("random-node", lambda _: forger.induced(sets, ordered), **made)
    assert found == ({"sets, independence"} if again else set())
    edges = list(forger.sets(8, len(forger.ends)))
    found = forger.verified("random-edge", lambda _: forger.edges(edges), neighbor_size=8, instances=MANY)
    assert found == ({"selection, independence"} if again else set())


@pytest.mark.parametrize("again", ["", "epochs", "half"])
def test_clusters_that_depend_on_the_instance_before_are_found(tmp_path, again):
    forger = Forger(tmp_path, again)
    sets = [np.flatnonzero(np.isin(forger.clusters, one)).tolist() for one in forger.sets(2, CLUSTERS)]
    made = {"clusters_per_batch": 2, "instances": MANY}
    found = forger.verified("cluster-gcn", lambda _: forger.induced(sets, sets), **made)
    assert found == ({"sets, independence"} if again else set())


@pytest.mark.parametrize("again", ["", "half", "first"])
def test_draws_with_replacement_that_depend_on_others_are_found(tmp_path, again):
    forger = Forger(tmp_path, again)
    draws = list(forger.draws(6, forger.norms("row")))
    made = {"subgraph_nodes": 6, "instances": MANY}
    found = forger.verified("saint-node", lambda _: forger.induced(draws, draws), **made)
    assert found == ({"sources, independence"} if again else set())


@pytest.mark.parametrize("again", ["", "layer", "instance"])
def test_layers_that_are_drawn_again_are_found(tmp_path, again):
    forger = Forger(tmp_path, again)
    made = {"layer_sizes": (3, 3), "frontier_size": 3, "instances": MANY}
    found = forger.verified("fastgcn", lambda arrays: forger.layers(arrays, 3, 3), **made)
    assert found == ({"layers, independence"} if again else set())


@pytest.mark.parametrize("again", ["", "hop", "instance"])
def test_shared_numbers_that_are_used_again_are_found(tmp_path, again):
    forger = Forger(tmp_path, again)
    made = {"fanout": (2, 2), "frontier_size": 4, "instances": MANY}
    found = forger.verified("labor", lambda arrays: forger.labor(arrays, (2, 2), 4), **made)
    assert found == ({"neighbors, independence"} if again else set())


@pytest.mark.parametrize("lag", [0, 2, 10, 16])
def test_numbers_that_walks_use_again_are_found(tmp_path, lag):
    forger = Forger(tmp_path, lag)
    found = forger.verified("deepwalk", lambda arrays: forger.walks(arrays, lag), walk_length=40, num_walks=60)
    assert ("transitions, independence" in found) == bool(lag)
    assert lag or not found


@pytest.mark.parametrize("again", ["", "hop"])
def test_a_hop_with_the_numbers_of_one_before_the_last_is_found(tmp_path, again):
    forger = Forger(tmp_path, again)
    found = forger.verified("neighbor", forger.hops, fanout=(1, 1, 1), replace=True, instances=MANY)
    assert ("neighbors, independence" in found) == bool(again)
    assert again or not found
