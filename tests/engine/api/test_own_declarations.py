"""Classes of a user's own: declarations that cannot be are refused with class, attribute and value, before anything is
planned; what can be is drawn and verified.
"""

from types import SimpleNamespace

import numpy as np
import pytest
from helpers.graphs import SQUARE, TROUBLED, store_of
from helpers.limits import within

from csaw.engine import prepare, sample
from csaw.engine.api import registry
from csaw.engine.api.law import plain_hook
from csaw.engine.stores.verify import verify
from csaw.partition.errors import CsawError, OptionError

HEAD = (
    "import math\nfrom csaw.engine.algorithm import MiniBatches, Traversal, Walk, option\nfrom "
    "csaw.engine.algorithms.node2vec import Node2vec\n\n"
)
REFUSED = {
    "weights of edges that are all kept": (
        "Traversal",
        "induced = True; sources_from = 'distinct'\n    def edge_bias(self, e):\n        return e.weight",
        (-1,),
        "mine.edge_bias: expected a constant, because mine keeps all edges",
    ),
    "edges once": (
        "Traversal",
        "each_edge_once = True",
        (2,),
        "mine.sources_from: expected 'every' with each_edge_once = True, found 'all'",
    ),
    "edges once, of a frontier": (
        "Traversal",
        "each_edge_once = True; collective = True",
        (2,),
        "mine.sources_from: expected 'every'",
    ),
    "fires with sizes": ("Traversal", "geometric = lambda self: 0.5", (2, 2), "mine.sizes: expected -1 at each depth"),
    "fires in tables": ("Traversal", "geometric = lambda self: 0.5; layout = 'hops'", (-1,), "cannot be combined"),
    "a fire in numbers": (
        "Traversal",
        "geometric = 0.5",
        (-1,),
        "mine.geometric: expected a method or None, found 0.5",
    ),
    "every vertex, hop by hop": (
        "Traversal",
        "sources_from = 'every'; collective = True; visited_once = False",
        (2, 2),
        "mine.sizes: expected one number with sources_from = 'every', found (2, 2)",
    ),
    "every vertex, one by one": (
        "Traversal",
        "sources_from = 'every'",
        (2,),
        "mine.visited_once: expected False with sources_from = 'every', found True",
    ),
    "no such source of draws": (
        "Traversal",
        "draws_from = 'bogus'",
        (2,),
        "mine.draws_from: expected one of 'edges', 'neighbors', 'vertices', found 'bogus'",
    ),
    "draws of half a layer": (
        "Traversal",
        "draws_from = 'neighbors'",
        (2,),
        "mine.visited_once: expected False with draws_from, found True",
    ),
    "vertices of the graph, each once": (
        "Traversal",
        "draws_from = 'vertices'; visited_once = False; collective = True; replace = False",
        (2,),
        "mine.replace: expected True with draws_from = 'vertices', found False",
    ),
    "tables of a frontier": (
        "Traversal",
        "layout = 'hops'; collective = True",
        (2, 2),
        "mine: collective = True and layout = 'hops' cannot be combined",
    ),
    "tables of first visits": (
        "Traversal",
        "layout = 'hops'",
        (2, 2),
        "mine.visited_once: expected False with layout = 'hops', found True",
    ),
    "clocks without an end": (
        "Traversal",
        "clocks = True; visited_once = False",
        (1,),
        "mine.walk_length: expected an integer with clocks = True, the number of steps of an instance, found None",
    ),
    "clocks with two edges": (
        "Traversal",
        "clocks = True; visited_once = False; walk_length = 3",
        (2,),
        "mine.sizes: expected (1,) with clocks = True, found (2,)",
    ),
    "clocks with a source": (
        "Traversal",
        (
            "clocks = True; visited_once = False; walk_length = 3\n    def edge_bias(self, e):\n        return "
            "1.0 + e.source"
        ),
        (1,),
        "mine.edge_bias: e.source is not available with clocks",
    ),
    "no end": (
        "Traversal",
        "depth = None; visited_once = False; revisits = True",
        (2,),
        "mine.visited_once: expected True with depth = None, found False",
    ),
    "draws of a pool": (
        "Traversal",
        "collective = True; replace = True",
        (2,),
        "mine.replace: expected False with collective = True and replace = True",
    ),
    "some of the edges among sources": (
        "Traversal",
        "induced = True; sources_from = 'distinct'",
        (2,),
        "mine.sizes: expected (-1,) with induced = True, found (2,)",
    ),
    "neighbors of clusters": (
        "Traversal",
        "sources_from = 'clusters'; ends_induced = True",
        (2,),
        "mine.sizes: expected () with sources_from = 'clusters', found (2,)",
    ),
    "all, again and again": ("Traversal", "replace = True", (-1,), "mine.sizes: expected numbers of at least 0"),
    "truth in words": (
        "Traversal",
        "visited_once = 'yes'",
        (2,),
        "mine.visited_once: expected True or False, found 'yes'",
    ),
    "truth as a size": (
        "Traversal",
        "",
        (True,),
        "mine.sizes: expected a tuple of integers, -1 or more, found (True,)",
    ),
    "a total in words": (
        "Traversal",
        "collective = True; total = 'a'",
        (2,),
        "mine.total: expected an integer from 1 to",
    ),
    "a half frontier": ("Traversal", "frontier_size = 2.5", (2,), "mine.frontier_size: expected an integer from 1 to"),
    "no such visits": (
        "Traversal",
        "visits = 'often'",
        (2,),
        "mine.visits: expected one of '', 'uniform', 'degree', 'strength', found 'often'",
    ),
    "sized by nothing": (
        "Traversal",
        "sized_by = 'nothing'",
        (2,),
        "mine.sized_by: expected the name of an option that is an integer",
    ),
    "a property that fails": (
        "Traversal",
        "frontier_size = property(lambda self: 1 // 0)",
        (2,),
        "mine.frontier_size failed: line ",
    ),
    "a rate by weight": (
        "Traversal",
        "clocks = True; visited_once = False; walk_length = 3\n    def vertex_bias(self, v):\n        return v.weight",
        (1,),
        "mine.vertex_bias: no v.weight; a vertex is not an edge",
    ),
    "a dead end's neighbor": (
        "Walk",
        "def dead_end(self, v):\n        return v.dst_degree",
        None,
        "mine.dead_end: no v.dst_degree; a vertex is not an edge",
    ),
    "walks from every vertex at once": (
        "Walk",
        "sources_from = 'every'",
        None,
        "mine.sources_from: expected one of 'all', 'random', 'connected', 'edges', found 'every'",
    ),
    "half a step": ("Walk", "walk_length = 2.5", None, "mine.walk_length: expected an integer from 0 to"),
    "another option's value": (
        "Walk",
        "def __init__(self, **values):\n        super().__init__(**values)\n        self.walk_length = 'a'",
        None,
        "--walk-length: expected an integer",
    ),
    "bounds in words": ("Walk", "bias_range = (0.5, 1.0, 1.0)", None, "mine.bias_range: expected a method or None"),
    "a law that is none": ("Walk", "law = None", None, "mine.law: expected a method, found None"),
    "mini-batches without an end": ("MiniBatches", "depth = None", (2,), "mine.depth: expected a number, found None"),
    "drawn seeds in epochs": (
        "MiniBatches",
        "draws_seeds = True; norms = None; epochs = 2",
        (2,),
        "mine.epochs: expected 1 with draws_seeds = True, found 2",
    ),
}
VERIFIED = {
    "bounds of squares": (
        "Walk",
        (
            "walk_length = 5\n    def bias_range(self):\n        return 0.0, 5.0, 10.0\n    def "
            "edge_bias(self, e):\n        return e.weight * e.weight * (2.0 if e.dst == e.prev else 1.0)"
        ),
        None,
    ),
    "a bias beside bounds of its base": (
        "Node2vec",
        "walk_length = 6\n    def edge_bias(self, e):\n        return e.dst % (e.depth + 1)",
        None,
    ),
    "a hop of nothing": ("Traversal", "layout = 'hops'; visited_once = False; replace = True", (0, 2)),
    "clusters": ("Traversal", "sources_from = 'clusters'; ends_induced = True; frontier_size = 2", ()),
    "clocks": (
        "Traversal",
        (
            "clocks = True; visited_once = False; walk_length = 6; frontier_size = 2\n    def "
            "vertex_bias(self, v):\n        return v.degree * v.degree"
        ),
        (1,),
    ),
    "clocks by their moves": (
        "Traversal",
        (
            "clocks = True; visited_once = False; walk_length = 6; frontier_size = 2\n    def "
            "vertex_bias(self, v):\n        return 1.0 + v.depth"
        ),
        (1,),
    ),
    "clocks by degree": (
        "Traversal",
        "clocks = True; visited_once = False; walk_length = 6; frontier_size = 2",
        (1,),
    ),
    "a pool of what is met again": (
        "Traversal",
        "pool_size = 2; frontier_size = 2; frontier_replace = True; revisits = True; replace = True",
        (2, 0, 3),
    ),
    "edges to the visited": ("Traversal", "revisits = True", (2, 2)),
    "all edges of a frontier": ("Traversal", "collective = True", (-1, -1)),
    "fires with replacement": (
        "Traversal",
        "geometric = lambda self: 0.5; replace = True; visited_once = False",
        (-1,),
    ),
    "all edges": (
        "Traversal",
        "sources_from = 'every'; collective = True; visited_once = False; each_edge_once = True",
        (-1,),
    ),
    "nothing at first": ("Traversal", "def edge_bias(self, e):\n        return e.weight + 1 // e.depth", (2, 2)),
    "remainders": (
        "Walk",
        (
            "walk_length = 4\n    def edge_bias(self, e):\n        return 1.0 + (e.dst + 2) // e.depth + e.dst "
            "% (e.depth - 2)"
        ),
        None,
    ),
    "negative roots": (
        "Walk",
        (
            "walk_length = 4\n    def edge_bias(self, e):\n        return 1.0 if math.isnan(math.sqrt(e.dst - "
            "2.0)) else 2.0"
        ),
        None,
    ),
}


@pytest.fixture(scope="module")
def square(tmp_path_factory):
    return store_of(tmp_path_factory.mktemp("own") / "g.zarr", SQUARE, directed=False)


def written(folder, base, body, sizes):
    """The class as an algorithm's name."""
    lines = body.replace("; ", "\n    ") if "def " not in body.split("\n")[0] else body
    text = f"class Mine({base}):\n    {lines or 'pass'}\n"
    (folder / "mine.py").write_text(
        HEAD + text + (f"    def sizes(self):\n        return {sizes}\n" if sizes is not None else "")
    )
    return f"{folder / 'mine.py'}:Mine"


@pytest.mark.parametrize("case", REFUSED)
def test_declarations_that_cannot_be_are_refused(tmp_path, case, square):
    base, body, sizes, said = REFUSED[case]
    with within(30), pytest.raises(OptionError) as refused:
        prepare(square, written(tmp_path, base, body, sizes), device="cpu")
    assert said in str(refused.value)


@pytest.mark.one_in(3)
@pytest.mark.parametrize("case", VERIFIED)
def test_what_can_be_is_drawn_and_verified(tmp_path, case):
    base, body, sizes = VERIFIED[case]
    directed = case != "all edges"
    store = store_of(tmp_path / "g.zarr", TROUBLED if directed else SQUARE, directed=directed)
    with within(120):
        mine = written(tmp_path, base, body, sizes)
        sample(store, tmp_path / "s.zarr", mine, instances=600, seed=3, device="cpu")
        report = verify(tmp_path / "s.zarr", algo=mine)
    assert [check.name for check in report.checks if not check.ok] == []


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("1 // e.depth", 0),
        ("1 % e.depth", 0),
        ("1.0 // e.depth", np.inf),
        ("-1.5 / e.depth", -np.inf),
        ("e.depth / e.depth", np.nan),
        ("2.5 % e.depth", np.nan),
        ("7 // (e.depth - 2)", -4),
        ("7 % (e.depth - 2)", -1),
        ("math.sqrt(e.depth - 1)", np.nan),
        ("math.log(e.depth)", -np.inf),
        ("(e.depth - 8) ** 0.5", np.nan),
        ("0.0 ** (e.depth - 1)", np.inf),
        ("helped(e.depth)", 0),
        ("10.0 ** 400", np.inf),
    ],
)
def test_the_slow_law_computes_as_compiled_hooks_do(tmp_path, expression, expected):
    """The oracle is a table from NumPy's manual; test_own_hooks compiles what is refused, and the samples above what is
    not.
    """
    (tmp_path / "mine.py").write_text(
        HEAD
        + (
            "def helped(x):\n    y = 3\n    y //= x\n    return y\n\nclass Mine(Walk):\n    def "
            f"edge_bias(self, e):\n        return {expression}\n"
        )
    )
    bias = plain_hook(registry.build(f"{tmp_path / 'mine.py'}:Mine", {}), "edge_bias")
    assert bias(SimpleNamespace(depth=0)) == pytest.approx(expected, nan_ok=True)


def test_a_law_that_fails_is_named(tmp_path):
    store = store_of(tmp_path / "g.zarr", SQUARE, directed=False)
    body = (
        "walk_length = 3\n    def update(self, e):\n        return e.dst\n    def law(self, selected, v):\n    "
        "    return 1 // 0"
    )
    mine = written(tmp_path, "Walk", body, None)
    sample(store, tmp_path / "s.zarr", mine, device="cpu")
    with pytest.raises(CsawError, match="mine.law failed: line [0-9]+ of .*: ZeroDivisionError"):
        verify(tmp_path / "s.zarr", algo=mine)
