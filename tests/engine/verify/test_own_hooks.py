"""Verify follows the hooks of a user's own as they are drawn by."""

import pytest
from helpers import graphs

import csaw
from csaw.engine import sample
from csaw.engine.stores.verify import verify
from csaw.partition.errors import OptionError


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    return graphs.random_store(tmp_path_factory.mktemp("graph") / "g", vertices=30, edges=110)


def failed(path):
    return {check.name for check in verify(path).checks if not check.ok}


@pytest.mark.parametrize(
    "bias",
    [
        "1 + (e.dst * 4611686018427387905 + e.x * 3) % 7",
        "1 + (4611686018427387900 + e.dst) * 1000 % 17",
        "e.x / 3 - 3002399751580330",
        "(e.x > 9007199254740993.0) + 0.001",
        "max(e.x, 1.5) - 9007199254740990",
    ],
)
def test_large_integers_beside_floats_are_rounded_as_kernels_do(tmp_path, bias):
    """Where a float stands beside them, and in quotients, integers are float64, which has not all beyond 2^53."""
    rows = "".join(f"0,{leaf},{2**53 + leaf}\n" for leaf in range(1, 6))
    (tmp_path / "star.csv").write_text("src,dst,x\n" + rows)
    store = csaw.partition(tmp_path / "star.csv", tmp_path / "g.zarr", edge_columns=["x"], weight_column="none")
    sample(store, tmp_path / "s", "deepwalk", walk_length=1, num_walks=3000, sources=[0], edge_bias=bias, device="cpu")
    assert failed(tmp_path / "s") == set()


STUCK = """
from csaw.engine.algorithms.multidimensional import Multidimensional

class Stuck(Multidimensional):
    def vertex_bias(self, v):
        return v.id % 3
"""


def test_walkers_that_never_move_end_an_instance(tmp_path):
    """Where ``vertex_bias`` is 0, as at a vertex without edges."""
    (tmp_path / "mine.py").write_text(STUCK)
    store = graphs.store_of(tmp_path / "g", [(0, 1, 1), (1, 2, 1), (2, 3, 1), (3, 0, 1)], directed=True)
    algo = f"{tmp_path}/mine.py:Stuck"
    sample(store, tmp_path / "s", algo, instances=50, frontier_size=2, walk_length=9, device="cpu")
    report = verify(tmp_path / "s", algo=algo)
    assert report.ok, [check for check in report.checks if not check.ok]


UPDATES = """
import math
from math import sqrt as root
from csaw.engine.algorithms.snowball import Snowball

def halved(x):
    return 1 / (x % 3)

class Remainder(Snowball):
    def update(self, e):
        return -1 if e.dst % e.depth == 1 else e.dst

class Quotient(Snowball):
    def update(self, e):
        return e.dst if halved(e.dst) > 0.5 else -1

class Root(Snowball):
    def update(self, e):
        return e.dst if math.sqrt(3 - e.dst) > 1 or root(1 - e.dst) > 2 else -1

class Shift(Snowball):
    def update(self, e):
        return e.dst if 1 >> (e.dst - 3) >= 0 else -1
"""


@pytest.mark.parametrize("name", ["Remainder", "Quotient", "Root", "Shift"])
def test_updates_that_divide_by_nothing_are_followed_as_they_are_drawn(tmp_path, store, name):
    (tmp_path / "mine.py").write_text(UPDATES)
    algo = f"{tmp_path}/mine.py:{name}"
    sample(store, tmp_path / "s", algo, neighbor_size=3, depth=3, instances=40, device="cpu")
    if name == "Shift":  # which means another thing to each compiler
        with pytest.raises(OptionError, match="shift.update failed: .*ValueError: negative shift count"):
            verify(tmp_path / "s", algo=algo)
        return
    report = verify(tmp_path / "s", algo=algo)
    assert report.ok, [check for check in report.checks if not check.ok]


AGAIN = """
from csaw.engine.algorithms.forest_fire import ForestFire
from csaw.engine.algorithms.snowball import Snowball

class FireBack(ForestFire):
    frontier_size = 7
    revisits = True

class BallBack(Snowball):
    frontier_size = 9
    revisits = True

class Together(BallBack):
    collective = True
"""


@pytest.mark.parametrize("name", ["FireBack", "BallBack", "Together"])
def test_a_source_that_is_there_twice_selects_twice(tmp_path, name):
    """Of instances with more sources than the graph has vertices."""
    (tmp_path / "mine.py").write_text(AGAIN)
    store = graphs.store_of(tmp_path / "g", graphs.SQUARE, directed=False)
    algo = f"{tmp_path}/mine.py:{name}"
    sample(store, tmp_path / "s", algo, instances=40, device="cpu", seed=34)
    report = verify(tmp_path / "s", algo=algo)
    assert report.ok, [check for check in report.checks if not check.ok]


NOTHING = """
from csaw.engine.algorithm import Traversal

class Unlit(Traversal):
    visited_once = True
    replace = True
    def sizes(self):
        return (-1,)
    def geometric(self):
        return 0.0
    def edge_bias(self, e):
        return 1.0 / (e.depth - e.depth)

class Begun(Traversal):
    collective = True
    visited_once = True
    total = 1
    def sizes(self):
        return (2, 2)
"""


@pytest.mark.parametrize(("name", "edges"), [("Unlit", 0), ("Begun", 80)])
def test_sources_draw_whatever_the_total_and_no_bias_is_asked_for_where_nothing_is_drawn(tmp_path, name, edges):
    (tmp_path / "mine.py").write_text(NOTHING)
    store = graphs.store_of(tmp_path / "g", graphs.SQUARE, directed=False)
    algo = f"{tmp_path}/mine.py:{name}"
    sample(store, tmp_path / "s", algo, sources=[0, 2], instances=40, device="cpu")
    assert csaw.open_samples(tmp_path / "s").src[:].size == edges
    report = verify(tmp_path / "s", algo=algo)
    assert report.ok, [check for check in report.checks if not check.ok]


@pytest.mark.parametrize(
    "bias",
    [
        "e.weight if int(e.weight * 1e300) < 0 else 1",
        "e.weight + int(e.weight * math.nan)",
        "e.weight + math.floor(e.weight * math.inf)",
        "1 + int(e.weight * 1.7) + round(e.weight) + math.ceil(e.weight * -1e30)",
        "e.weight if abs(-9223372036854775807 - e.dst * 0 - 1) < 0 else 1",
        "e.weight if -(e.dst * 0 - 2 ** 63) < 0 else 1",
    ],
)
def test_integers_of_what_64_bits_do_not_hold_are_0(tmp_path, bias):
    (tmp_path / "star.txt").write_text("".join(f"0 {leaf} {leaf}\n" for leaf in range(1, 6)))
    store = csaw.partition(tmp_path / "star.txt", tmp_path / "g.zarr")
    sample(store, tmp_path / "s", "deepwalk", walk_length=1, num_walks=3000, sources=[0], edge_bias=bias, device="cpu")
    assert failed(tmp_path / "s") == set()


LED = """\
from csaw.engine.algorithm import TemporalWalk


class Restarts(TemporalWalk):
    def edge_bias(self, e):
        return 1.0

    def update(self, e):
        return e.source if e.random() < 0.3 else e.dst


class Jumps(TemporalWalk):
    def edge_bias(self, e):
        return 1.0 if e.time > e.previous_time else 0.0

    def dead_end(self, v):
        return v.random_vertex()
"""


@pytest.mark.parametrize("name", ["Restarts", "Jumps"])
def test_walks_in_time_may_leave_the_edges_where_a_hook_leads_them(tmp_path, name):
    (tmp_path / "led.py").write_text(LED)
    (tmp_path / "t.csv").write_text("0,1,1\n0,2,2\n1,2,3\n1,0,4\n2,3,5\n3,1,6\n3,0,2\n2,0,7\n")
    store = csaw.partition(tmp_path / "t.csv", tmp_path / "t.zarr", time_column=3)
    algo = f"{tmp_path}/led.py:{name}"
    csaw.sample(store, tmp_path / "s.zarr", algo, walk_length=5, num_walks=50, seed=1)
    report = csaw.verify(tmp_path / "s.zarr", algo=algo)
    assert report.ok
    (edges,) = [check for check in report.checks if check.name == "edges"]
    assert not edges.tested
    assert "steps that follow no edge of their time, which update or dead_end may take" in edges.details


UNIQUE = """\
from csaw.engine.algorithm import IndividualSampling


class U(IndividualSampling):
    frontier_size = 3
    sources_from = "random"

    def steps(self):
        return 1

    def sample_size(self, step):
        return 1

    def next(self, step, transits, random):
        return random.choice(transits.edges).dst

    def unique(self, step):
        return True
"""


def test_vertices_that_are_twice_in_a_frontier_count_twice_where_picks_differ(tmp_path):
    (tmp_path / "unique.py").write_text(UNIQUE)
    (tmp_path / "u.txt").write_text("0 1\n1 2\n2 2\n2 0\n")
    store, algo = csaw.partition(tmp_path / "u.txt", tmp_path / "u.zarr"), f"{tmp_path}/unique.py:U"
    csaw.sample(store, tmp_path / "s.zarr", algo, instances=20_000, seed=1)
    report = csaw.verify(tmp_path / "s.zarr", algo=algo)
    assert report.ok
    assert "neighbors, pooled" in {check.name for check in report.checks if check.tested}
    csaw.sample(store, tmp_path / "twice.zarr", algo, sources=[1, 1, 2] * 40, seed=1)
    twice = csaw.verify(tmp_path / "twice.zarr", algo=algo)
    assert twice.ok
    assert "neighbors" in {check.name for check in twice.checks if not check.tested}
