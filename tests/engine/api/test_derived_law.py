"""The law that csaw finds for walks of one's own, beside laws written by hand and walks that break them."""

import textwrap

import pytest
from helpers.graphs import random_store

from csaw.engine import sample
from csaw.engine.api.algorithm import Walk
from csaw.engine.api.law import GraphView, edge_law, next_law
from csaw.engine.api.registry import find
from csaw.engine.stores.verify import verify

HEAD = "import math\nfrom csaw.engine.algorithm import Walk, option\nfrom csaw.engine.algorithms.jump import Jump\n"
FOUND = {
    "here and there": """
        def update(self, e):
            u = e.random()
            if u < 0.25:
                return e.source
            if e.dst_degree > 3:
                return e.src if u < 0.5 else e.random_vertex()
            return e.dst

        def dead_end(self, v):
            return v.random_vertex() if v.random() < 0.5 else -1
    """,
    "only dead ends": """
        def dead_end(self, v):
            return -1 if v.id == v.source else v.source
    """,
    "by the way": """
        def update(self, e):
            if e.prev >= 0 and e.random() < 0.3:
                return e.prev
            return e.source if e.random() < 0.1 else e.dst
    """,
}
UNKNOWN = {
    "the weight": "def update(self, e):\n    return e.dst if e.weight > 1 else -1",
    "a number that is computed with": "def update(self, e):\n    return e.dst if math.sqrt(e.random()) < 0.5 else -1",
    "a random vertex that is looked at": "def update(self, e):\n    u = e.random_vertex()\n    return u + 0",
}


def written(folder, body, base="Walk"):
    file = folder / "own.py"
    file.write_text(f"{HEAD}\n\nclass Own({base}):\n{textwrap.indent(textwrap.dedent(body).strip(), '    ')}\n")
    return f"{file}:Own"


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    folder = tmp_path_factory.mktemp("derived")
    return random_store(folder / "g.zarr", vertices=14, edges=20, partitions=2)


def checks_of(store, algo, out):
    drawn = sample(store, out, algo, seed=5, device="cpu", num_walks=400, walk_length=7)
    return {check.name: check for check in verify(drawn.path, algo=algo).checks}


@pytest.mark.parametrize("name", FOUND)
def test_walks_follow_the_law_that_is_found_for_their_hooks(tmp_path, store, name):
    checks = checks_of(store, written(tmp_path, FOUND[name]), tmp_path / "w.zarr")
    assert checks["edges"].ok
    assert checks["transitions"].ok
    assert checks["transitions"].p_value is not None


def test_the_law_that_is_found_is_the_one_that_one_would_write(tmp_path, store):
    walk = find(written(tmp_path, FOUND["here and there"]))(walk_length=7)
    view = GraphView(store.load())
    for v, source in ((v, (7 * v + 3) % view.vertices) for v in range(view.vertices)):
        selected = edge_law(view, walk, v, source=source)
        law = dict.fromkeys(range(-1, view.vertices), 0.0)
        for dst, share in selected.items():
            law[source] += share * 0.25
            large = view.degree(dst) > 3
            law[v if large else dst] += share * (0.25 if large else 0.75)
            for u in range(view.vertices) if large else ():
                law[u] += share * 0.5 / view.vertices
        if not selected:
            law = {-1: 0.5} | dict.fromkeys(range(view.vertices), 0.5 / view.vertices)
        found = next_law(view, walk, v, source=source)
        assert found == pytest.approx({u: chance for u, chance in law.items() if chance > 0})


@pytest.mark.parametrize("name", UNKNOWN)
def test_a_hook_whose_ways_cannot_be_followed_has_no_law(tmp_path, name):
    assert find(written(tmp_path, UNKNOWN[name])).law is Walk.law


def test_the_law_of_a_base_is_not_that_of_other_hooks(tmp_path, store):
    stays = "def update(self, e):\n    return e.src if e.random() < self.jump_prob else e.dst"
    algo = written(tmp_path, stays, base="Jump")
    checks = checks_of(store, algo, tmp_path / "w.zarr")
    assert checks["transitions"].ok
    unknown = written(tmp_path, "def update(self, e):\n    return e.dst if e.weight > 0 else -1", base="Jump")
    assert find(unknown).law is Walk.law
    inherits = find(written(tmp_path, "def edge_bias(self, e):\n    return e.dst_degree", base="Jump"))
    assert inherits.law is inherits.__base__.law


def test_a_law_of_ones_own_stands(tmp_path):
    own = FOUND["only dead ends"] + "\n        def law(self, selected, v):\n            return selected\n"
    assert find(written(tmp_path, own)).law.__qualname__ == "Own.law"
