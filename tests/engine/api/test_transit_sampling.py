"""Samplers in NextDoor's shape draw the bytes of csaw's own of the same law.

What is no such sampler is refused with its line.
"""

import numpy as np
import pytest
from helpers import nextdoor
from helpers.graphs import arrays_of, random_store
from helpers.invariance import assert_same

import csaw
from csaw.engine import execute, open_samples, prepare
from csaw.engine.algorithm import IndividualSampling, Walk, option
from csaw.engine.api import registry
from csaw.engine.plan import planning
from csaw.engine.stores.verify import verify
from csaw.partition.errors import OptionError


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    return random_store(tmp_path_factory.mktemp("nextdoor") / "g.zarr", partitions=3, clusters=24)


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    return nextdoor.written(tmp_path_factory.mktemp("page"))


@pytest.mark.one_in(2)
@pytest.mark.parametrize("name", nextdoor.SAME)
def test_a_class_of_the_docs_draws_what_the_algorithm_of_its_law_draws(tmp_path, store, page, name):
    (options, algo, others), own = nextdoor.SAME[name], f"{page}:{name}"
    drawn = arrays_of(store, tmp_path / "own.zarr", own, **options)
    assert_same(drawn, arrays_of(store, tmp_path / "s.zarr", algo, **options, **others))
    report = verify(tmp_path / "own.zarr", algo=own, columns=options.get("columns"))
    assert report.ok, str(report)


def test_a_second_order_walk_has_the_law_of_node2vec(tmp_path, store, page):
    """csaw's own says its bounds, and so draws by rejection; the law is the same."""
    options = {"p": 0.5, "q": 2.0, "walk_length": 12, "num_walks": 20, "seed": 3}
    own = arrays_of(store, tmp_path / "own.zarr", f"{page}:Node2vec", select="its", **options)
    assert_same(own, arrays_of(store, tmp_path / "s.zarr", "node2vec", select="its", **options))
    assert verify(tmp_path / "own.zarr", algo=f"{page}:Node2vec").ok


def test_the_law_of_next_is_found_by_its_ways(tmp_path, store):
    (tmp_path / "mine.py").write_text(DECIDES)
    own = f"{tmp_path / 'mine.py'}:Decides"
    arrays_of(store, tmp_path / "s.zarr", own, num_walks=30, seed=3)
    report = verify(tmp_path / "s.zarr", algo=own)
    assert report.ok, str(report)
    assert "defines update or dead_end without law" not in str(report)
    law = registry.build(own, {}).law
    at = type("At", (), {"id": 7, "prev": 3, "source": 2, "depth": 1, "vertices": 4, "degree": lambda v: 2})
    at.column = at.path = None
    found = law({5: 0.5, 6: 0.5}, at)
    assert found == pytest.approx({-1: 0.1, 7: 0.3, 0: 0.1, 1: 0.1, 2: 0.1, 3: 0.1, 5: 0.1, 6: 0.1})


DECIDES = """
from csaw.engine.algorithm import IndividualSampling


class Decides(IndividualSampling):
    def steps(self):
        return 6

    def next(self, step, transits, random):
        "One number decides between ending and staying, another one between jumping and going on."
        edge_of = random.choice(transits.edges)
        number = random.random()
        if number < 0.1:
            return
        if 0.4 > number:
            return transits[0]
        if random.random() >= 1 / 3:
            return random.vertex()
        return edge_of.dst
"""


def test_a_law_that_no_ways_decide_is_not_tested(tmp_path, store):
    for said in ("random.random() * 2 < 0.5", "edge.weight < 2", "doubled(random.random()) < 0.5", SELF):
        (tmp_path / "mine.py").write_text(COMPUTES.format(said=said))
        own = f"{tmp_path / 'mine.py'}:Computes"
        assert registry.find(own).law is Walk.law
    assert registry.find(own)().walk_length == 6


SELF = "random.random() < random.random()"
COMPUTES = """
from csaw.engine.algorithm import IndividualSampling


def doubled(x):
    return 2 * x


class Computes(IndividualSampling):
    def steps(self):
        return 6

    def next(self, step, transits, random):
        edge = random.choice(transits.edges)
        if {said}:
            return -1
        return edge.dst
"""


def test_a_class_in_python_is_drawn_too(store):
    class Pairs(IndividualSampling):
        size: int = option(2, help="vertices of a step", low=1)

        def steps(self):
            return 2

        def sample_size(self, step):
            return self.size

        def next(self, step, transits, random):
            return random.choice(transits.edges).dst

    drawn = csaw.sample(store, algo=Pairs(size=3), seed=4, weighted=False, device="cpu")
    same = csaw.sample(store, algo="neighbor", fanout=(3, 3), replace=True, seed=4, weighted=False, device="cpu")
    assert all(np.array_equal(a[:], b[:]) for a, b in zip(drawn.hops, same.hops, strict=True))


def test_an_interrupted_sample_is_gone_on_with(tmp_path, store, page, monkeypatch):
    monkeypatch.setattr(planning, "GROUP_BYTES", 1000)
    job = prepare(store, f"{page}:UniqueKHop", device="cpu", in_flight=40, fanout=(3, 2))
    execute(job, tmp_path / "whole.zarr")

    def interrupted(done):
        if done > 100:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        execute(job, tmp_path / "s.zarr", progress=interrupted)
    assert "resumed" in execute(job, tmp_path / "s.zarr", resume=True)
    assert open_samples(tmp_path / "s.zarr").checksums == open_samples(tmp_path / "whole.zarr").checksums


HEAD = """from csaw.engine.algorithm import CollectiveSampling, IndividualSampling, option


class Mine({base}):
    {body}
"""
STEPS = "def steps(self): return 2\n    "
SIZE = "def sample_size(self, step): return 3\n    "
NEXT = "def next(self, step, transits, random):\n        "
PLAIN = NEXT + "return random.choice(transits.edges).dst\n    "
ONE, ALL = "IndividualSampling", "CollectiveSampling"
REFUSED = {
    "no next": (ONE, STEPS, "Mine.next: not defined"),
    "no steps": (ONE, PLAIN, "Mine.steps: not defined"),
    "no choice": (ONE, STEPS + NEXT + "return transits[0]", "line 6 .*expected one call of random.choice, found 0"),
    "a loop": (
        ONE,
        STEPS + NEXT + "while True:\n            e = random.choice(transits.edges)\n            return e.dst",
        "line 7 .*an edge cannot be drawn in a loop",
    ),
    "two choices": (
        ONE,
        STEPS + NEXT + "a = random.choice(transits.edges)\n        return random.choice(transits.edges).dst",
        "line 8 .*expected one call of random.choice, found 2",
    ),
    "another pool": (ONE, STEPS + NEXT + "return random.choice(transits).dst", "line 7 .*transits.edges"),
    "no bias": (
        ONE,
        STEPS + NEXT + "return random.choice(transits.edges, lambda e: 1.0).dst",
        "line 7 .*self.METHOD.*, a method of the class, found lambda e: 1.0",
    ),
    "an edge by its number": (
        ONE,
        STEPS + NEXT + "e = random.choice(transits.edges)\n        return transits.edges[0]",
        "line 8 .*next may use transits.edges in one random.choice",
    ),
    "a decision of a traversal": (
        ONE,
        STEPS + SIZE + NEXT + "return random.choice(transits.edges).src",
        "line 8 .*only a walk may return anything but the dst",
    ),
    "a transit of its own": (
        ONE,
        STEPS + "def step_transits(self, step, sample, i, random):\n        return sample[0]\n    " + PLAIN,
        "line 6 .*expected one call of random.choice, found 0",
    ),
    "roots of all transits": (
        ALL,
        STEPS + SIZE + "def step_transits(self, step, sample, i, random):\n        return 0\n    " + PLAIN,
        "line 7 .*only a class of IndividualSampling without sample_size",
    ),
    "unique now and then": (
        ONE,
        STEPS + SIZE + "def unique(self, step): return step == 1\n    " + PLAIN,
        "line 7 .*expected the same answer for all steps",
    ),
    "unique steps of a walk": (
        ONE,
        STEPS + "def unique(self, step): return True\n    " + PLAIN,
        "line 6 .*a walk draws one vertex of its transit",
    ),
    "the whole graph, alone": (
        ONE,
        STEPS + SIZE + NEXT + "return random.choice(transits.graph.edges).dst",
        "line 7 .*only a class of CollectiveSampling may draw from transits.graph.edges",
    ),
    "steps beside an option": (
        ONE,
        "walk_length: int = option(3, help='steps')\n    " + STEPS + PLAIN,
        "line 6 .*expected 'return self.walk_length'",
    ),
    "an option of another meaning": (
        ONE,
        "replace: bool = option(True, help='again')\n    " + STEPS + SIZE + PLAIN,
        "Mine.replace: an option cannot have this name",
    ),
    "a dict": (
        ONE,
        STEPS + NEXT + "x = {}\n        return random.choice(transits.edges).dst",
        "line 7 .*next: a dict cannot be used here",
    ),
    "an error in a bias": (
        ONE,
        STEPS + "def mine(self, e):\n        raise ValueError\n    " + PLAIN.replace("edges)", "edges, self.mine)"),
        "line 7 .*mine: raise cannot be used here",
    ),
    "a field of no edge": (
        ONE,
        STEPS + "def mine(self, e):\n        return e.size\n    " + PLAIN.replace("edges)", "edges, self.mine)"),
        "mine.mine: no e.size",
    ),
    "sizes": (ONE, STEPS + SIZE + "def sizes(self): return (1,)\n    " + PLAIN, "Mine.sizes: follows from steps"),
    "another bias": (
        ONE,
        STEPS + "def edge_bias(self, e): return e.weight\n    " + PLAIN,
        "Mine.edge_bias: follows from steps, sample_size and next; remove it",
    ),
    "seeds of a walk": (ONE, "draws_seeds = True\n    " + STEPS + PLAIN, "Mine.draws_seeds: only an Individual"),
    "a word": (
        ONE,
        "replace = 'yes'\n    " + STEPS + SIZE + PLAIN,
        "Mine.replace: expected True or False, found 'yes'",
    ),
    "a constant": (ONE, STEPS + SIZE + PLAIN + "unique = True", "Mine.unique: expected a method .*found True"),
    "a lambda": (
        ONE,
        STEPS + "mine = lambda self, e: 1.0\n    " + PLAIN.replace("edges)", "edges, self.mine)"),
        "Mine.mine: expected a method written with def",
    ),
    "an error in steps": (
        ONE,
        "def steps(self): return self.length\n    " + PLAIN,
        "steps failed: line 5 of mine.py: AttributeError",
    ),
    "half a step": (
        ONE,
        "def steps(self): return 2.5\n    " + SIZE + PLAIN,
        "line 5 of .*: expected an integer .*found 2.5",
    ),
    "first visits, independent": (
        ALL,
        "visited_once = True\n    " + STEPS + SIZE + PLAIN,
        "expected unique.step. or replace = False with visited_once = True",
    ),
    "the whole graph, unique": (
        ALL,
        STEPS
        + SIZE
        + "def unique(self, step): return True\n    "
        + NEXT
        + "return random.choice(transits.graph.edges).dst",
        "vertices of the whole graph are drawn independently",
    ),
    "both kinds": (f"{ONE}, {ALL}", STEPS + SIZE + PLAIN, "expected a class of one of"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_is_no_such_sampler_is_refused_with_its_line(tmp_path, store, case):
    base, body, said = REFUSED[case]
    file = tmp_path / "mine.py"
    file.write_text(HEAD.format(base=base, body=body))
    with pytest.raises(OptionError, match=said):
        prepare(store, f"{file}:Mine", device="cpu")
