"""Claims of algorithms and biases that are given as Python objects: a class, an instance or a function from a cell, a
file or another function draws what its text draws, its source is kept, and no store runs it by itself.
"""

import ast
import enum
import hashlib
import itertools
import json
import linecache
import math
import sys
import types

import numpy as np
import pytest

import csaw
from csaw.engine.algorithm import Traversal, Walk, option
from csaw.engine.algorithms.node2vec import Node2vec
from csaw.engine.stores.verify import verify
from csaw.partition.errors import CsawError, OptionError, StoreError

GIVEN = {"device": "cpu", "seed": 3, "walk_length": 4}
SCALE, TABLE, TWO = 0.5, [1.0, 2.0], np.float64(2.0)
CELL = """\
import math
from csaw.engine.algorithm import Walk, option
from csaw.engine.algorithms.deepwalk import Deepwalk

SCALE = 0.5

def boosted(degree):
    return degree ** SCALE

class Steep(Walk):
    power: float = option(2.0, help="of degrees")

    def edge_bias(self, e) -> "float":
        return boosted(e.dst_degree) ** self.power

class Steeper(Steep):
    power: float = option(3.0, help="of degrees")

class Short(Deepwalk):
    walk_length = option(3, help="steps", low=0)
"""
numbers = itertools.count(1)


@pytest.fixture
def cell(monkeypatch):
    """A function that runs a cell as IPython does: in the module __main__, under a name that linecache knows alone."""
    main = types.ModuleType("__main__")
    monkeypatch.setitem(sys.modules, "__main__", main)

    def run(text):
        name = f"<ipython-input-{next(numbers)}-{hashlib.sha256(text.encode()).hexdigest()[:12]}>"
        linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
        exec(compile(text, name, "exec"), vars(main))  # noqa: S102 - a cell
        return types.SimpleNamespace(**vars(main))

    return run


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    csaw.partition([(0, 1), (1, 2), (2, 3), (3, 0), (0, 2)], "g.zarr", directed=False)
    return tmp_path


def test_a_class_of_a_cell_draws_what_its_file_draws(here, cell):
    (here / "own.py").write_text(CELL)
    found = cell(CELL)
    for name in ("Steep", "Steeper", "Short"):
        kept = csaw.sample("g.zarr", algo=getattr(found, name), device="cpu", seed=3)
        wanted = csaw.sample("g.zarr", algo=f"own.py:{name}", device="cpu", seed=3)
        assert np.array_equal(kept.walks[:], wanted.walks[:])
        request, other = (one.manifest["request"] for one in (kept, wanted))
        assert request.pop("algorithm") == f"class:{name}"
        assert other.pop("algorithm") == f"own.py:{name}"
        assert request.pop("code") == hashlib.sha256(kept.manifest["source"].encode()).hexdigest() != other.pop("code")
        assert request == other
        assert "source" not in wanted.manifest
    assert "boosted" not in kept.manifest["source"]


def test_a_class_of_a_function_reads_the_numbers_that_it_sees(here):
    def made(power):
        class Own(Walk):
            def edge_bias(self, e):
                return math.sqrt(e.dst_degree) ** power * TWO

        return Own

    walks = {power: csaw.sample("g.zarr", algo=made(power), **GIVEN, num_walks=50) for power in (0, 6)}
    assert "power = 6\n" in walks[6].manifest["source"]
    assert "TWO = 2.0\n" in walks[6].manifest["source"]
    assert not np.array_equal(walks[0].walks[:], walks[6].walks[:])
    plain = csaw.sample("g.zarr", edge_bias="math.sqrt(e.dst_degree) ** 6 * 2", **GIVEN, num_walks=50)
    assert np.array_equal(walks[6].walks[:], plain.walks[:])


def test_an_instance_brings_its_options_and_keywords_win(here, cell):
    found = cell(CELL)
    request = csaw.sample("g.zarr", algo=Node2vec(p=0.5, walk_length=9), walk_length=2, device="cpu").manifest[
        "request"
    ]
    assert request["algorithm"] == "node2vec"
    assert request["parameters"] == {"walk_length": 2, "num_walks": 1, "p": 0.5, "q": 1.0}
    own = csaw.sample("g.zarr", algo=found.Steep(power=5), **GIVEN)
    assert own.manifest["request"]["parameters"]["power"] == 5.0
    assert csaw.sample("g.zarr", algo=Node2vec, **GIVEN).manifest["request"]["algorithm"] == "node2vec"
    changed = found.Steep()
    changed.extra = 1
    with pytest.raises(OptionError, match="algo: extra of this Steep is not an option"):
        csaw.sample("g.zarr", algo=changed)


@pytest.mark.parametrize("virtual", [False, True])
def test_a_store_runs_no_class_by_itself(here, cell, virtual):
    steep = cell(CELL).Steep
    wanted = csaw.sample("g.zarr", algo=steep, **GIVEN)
    made = csaw.sample("g.zarr", "s.zarr", algo=steep, virtual=virtual, **GIVEN)
    assert np.array_equal(made.walks[:], wanted.walks[:])
    if virtual:
        with pytest.raises(StoreError, match="its source in the manifest, make a file of it, then name it with --algo"):
            csaw.open_samples("s.zarr")
    else:
        assert [one.status for one in verify("s.zarr").checks if one.name == "law"] == ["not tested"]
    assert verify("s.zarr", algo=steep).ok
    manifest = json.loads((here / "s.zarr" / "zarr.json").read_text())["attributes"]["manifest"]
    (here / "saved.py").write_text(manifest["source"])
    assert verify("s.zarr", algo="saved.py:Steep").ok
    csaw.export("s.zarr", "s.txt", **({"algo": steep} if virtual else {}))
    other = cell(CELL.replace("degree ** SCALE", "degree ** SCALE + 1"))
    with pytest.raises(StoreError, match="class:Steep has [0-9a-f]{64}; use the class as it was then"):
        verify("s.zarr", algo=other.Steep)
    with pytest.raises(OptionError, match="expected FILE.py:Steep"):
        verify("s.zarr", algo=other.Steeper)


def test_a_run_of_a_class_is_resumed_by_the_class(here, cell):
    from csaw.engine.samples.place import partial_of

    steep = cell(CELL).Steep
    whole = csaw.sample("g.zarr", "s.zarr", algo=steep, **GIVEN)
    again = csaw.sample("g.zarr", "s.zarr", algo=steep, resume=True, **GIVEN)
    assert np.array_equal(again.walks[:], whole.walks[:])
    assert not partial_of(here / "s.zarr").exists()
    with pytest.raises(StoreError, match="was sampled with algorithm = class:Steep, but this run has class:Steeper"):
        csaw.sample("g.zarr", "s.zarr", algo=cell(CELL).Steeper, resume=True, **GIVEN)


def test_streams_take_classes(here, cell):
    steep = cell(CELL).Steep
    with csaw.stream("g.zarr", steep, **GIVEN) as batches:
        walks = np.concatenate([batch["walks"] for batch in batches])
    assert np.array_equal(walks, csaw.sample("g.zarr", algo=steep, **GIVEN).walks[:])


def test_the_recipe_of_a_cluster_has_files_and_text_alone(here, cell):
    from csaw.engine.cluster.recipe import Recipe

    steep = cell(CELL).Steep
    recipe = Recipe.of("g.zarr", "s.zarr", steep(power=4), {"edge_bias": lambda e: e.weight * 2, "seed": 3})
    assert (recipe.algo, recipe.given["edge_bias"], recipe.given["power"]) == ("class:Steep", "e.weight * 2", 4.0)
    assert recipe.there().plan.request == recipe.here().plan.request
    assert recipe.here().plan.request.algorithm == "class:Steep"


@pytest.mark.parametrize(
    ("bias", "text"),
    [
        (lambda e: e.weight * 2, "e.weight * 2"),
        (lambda edge: edge.dst_degree**-SCALE, "e.dst_degree ** (-0.5)"),
        (lambda e: math.exp(-e.depth) if e.is_neighbor(e.prev, e.dst) else TWO, None),
        (lambda e: sum([e.weight]), "refused"),
    ],
    ids=["numbers", "another name", "calls", "another function"],
)
def test_a_function_of_an_edge_is_its_expression(bias, text):
    if text == "refused":
        with pytest.raises(OptionError, match=r"line \d+ of .*test_written.py, .*cannot be used here"):
            checked(bias)
    else:
        assert checked(bias) == (text or "math.exp(-e.depth) if e.is_neighbor(e.prev, e.dst) else 2.0")


def checked(bias):
    from csaw.engine.plan.options import options

    return options()["edge_bias"].check("edge_bias", bias)


def test_lambdas_of_one_line_are_told_apart_and_see_their_numbers(here):
    at = -2
    biases = (lambda e: e.weight, lambda e: e.dst_degree, lambda e: e.src_degree + at, lambda e: abs(e.src_degree))
    assert [checked(one) for one in biases] == [
        "e.weight",
        "e.dst_degree",
        "e.src_degree + -2",
        "abs(e.src_degree)",
    ]

    def squared(e):
        """The square of the degree."""
        return e.dst_degree**2

    walks = csaw.sample("g.zarr", edge_bias=squared, **GIVEN)
    assert (
        walks.manifest["request"] == csaw.sample("g.zarr", edge_bias="e.dst_degree ** 2", **GIVEN).manifest["request"]
    )


def two_lines(e):
    twice = 2 * e.weight
    return twice * twice


class Listed(Walk):
    def edge_bias(self, e):
        return TABLE[e.depth]


def nothing_known():
    hidden = 2.0

    class Hidden(Walk):
        strength: float = option(hidden, help="of the bias")

    return Hidden


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (
            {"algo": Listed},
            r"line \d+ of .*test_written.py, return TABLE\[e.depth\]: TABLE is \[1.0, 2.0\], which cannot",
        ),
        ({"algo": nothing_known()}, r"line \d+ of .*: hidden is not known; define it before, and outside of functions"),
        ({"algo": type("Made", (Walk,), {})}, "Made has no source that csaw can read"),
        ({"algo": int}, "algo: expected the name of an algorithm, FILE.py:CLASS, or a class, found <class 'int'>"),
        ({"algo": Walk}, "expected an algorithm, or a class derived from Walk or Traversal"),
        ({"edge_bias": lambda e: TABLE[e.depth]}, r"line \d+ of .*test_written.py, .*: TABLE is list; a bias may read"),
        ({"edge_bias": two_lines}, r"line \d+ of .*, twice = 2 \* e.weight: expected return and an expression alone"),
        ({"edge_bias": lambda e, f: e.weight}, "expected a function of one edge, such as lambda e: e.weight"),
        ({"edge_bias": eval("lambda e: e.weight")}, "<lambda> has no source that csaw can read"),
        ({"edge_bias": math.sqrt}, "expected an expression such as 'e.weight [*] 2', or a function such as lambda e"),
    ],
)
def test_what_cannot_be_kept_is_refused_with_its_line(here, given, said):
    with pytest.raises(CsawError, match=said):
        csaw.sample("g.zarr", **GIVEN, **given)


def test_names_that_stand_for_two_things_are_refused(here):
    def base(power):
        class First(Walk):
            def edge_bias(self, e):
                return e.dst_degree**power

        return First

    def made(power):
        First = base(power + 1)

        class Both(First):
            def dead_end(self, v):
                return int(power) if v.id else -1

        return Both

    with pytest.raises(OptionError, match=r"line \d+ of .*: power is something else in another part of the algorithm"):
        csaw.sample("g.zarr", algo=made(2), **GIVEN)


def test_traversals_and_their_plain_methods_are_kept(here):
    class Few(Traversal):
        fanout: int = option(2, help="neighbors", low=1)

        def sizes(self):
            return tuple(self.fanout for _ in range(2))

    kept = csaw.sample("g.zarr", algo=Few, device="cpu", seed=1, fanout=1)
    assert kept.manifest["request"]["parameters"] == {"fanout": 1}
    ast.parse(kept.manifest["source"])


class HandsOn(Walk):
    def edge_bias(self, e):
        return named(e)


def named(e):
    return e.weight


def test_an_edge_is_read_by_its_numbers_alone(here):
    with pytest.raises(CsawError, match=r"edge_bias: e cannot be passed to a function; .* as in mine\(e.weight\)"):
        csaw.sample("g.zarr", **GIVEN, algo=HandsOn)


class Far(Walk):
    def edge_bias(self, e):
        return (1.0, 2.0)[e.depth]


class Unknown(Walk):
    def edge_bias(self, e):
        return 1.0 + e.nothing


@pytest.mark.parametrize(
    ("kind", "line", "said"),
    [(Far, 0, "far.edge_bias raised IndexError"), (Unknown, 1, "unknown.edge_bias: no e.noth")],
)
def test_an_error_of_a_hook_names_the_line_of_the_users_own_file(kind, line, said):
    at = kind.edge_bias.__code__.co_firstlineno + line
    with pytest.raises(OptionError, match=f"^line {at} of test_written.py: {said}"):
        csaw.sample("karate", algo=kind, **GIVEN)


class Parity(Walk):
    scale = 1
    power: float = option(1.0, help="of degrees")

    def edge_bias(self, e):
        return 1 + e.dst % 2 * self.scale


class Derived(Parity):
    def dead_end(self, v):
        return -1


def another(self, e):
    return 7 - e.dst % 2


@pytest.mark.parametrize("kind", [Parity, Derived])
@pytest.mark.parametrize(
    ("name", "value"), [("scale", 50), ("edge_bias", another), ("power", 3.0), ("new", 1), ("walk_length", 5)]
)
def test_a_class_that_was_changed_after_it_was_written_is_refused(here, monkeypatch, kind, name, value):
    """What is written out is its text, which says something else."""
    csaw.sample("g.zarr", algo=kind, **GIVEN)
    monkeypatch.setattr(Parity, name, value, raising=False)
    with pytest.raises(OptionError, match=f"{kind.__name__}.{name} was set after the class was defined"):
        csaw.sample("g.zarr", algo=kind, **GIVEN)


K = 50


def shifted(x, k=K):
    return 1 + k * x


def made(k):
    def edge_bias(self, e):
        return 1 + k * (e.dst % 2)

    return edge_bias


class Closed(Walk):
    edge_bias = made(1)


class Late(Walk):
    def edge_bias(self, e):
        return shifted(e.dst % 2)


def test_what_its_functions_read_is_that_of_their_definition(here, monkeypatch):
    """Another closure of the same text, and a default that was another number then."""
    csaw.sample("g.zarr", algo=Late, **GIVEN)
    monkeypatch.setattr(sys.modules[__name__], "K", 0)
    with pytest.raises(OptionError, match=r"Late.edge_bias was set after|K is something else"):
        csaw.sample("g.zarr", algo=Late, **GIVEN)
    csaw.sample("g.zarr", algo=Closed, **GIVEN)
    monkeypatch.setattr(Closed, "edge_bias", made(50))
    with pytest.raises(OptionError, match="Closed.edge_bias was set after"):
        csaw.sample("g.zarr", algo=Closed, **GIVEN)


@pytest.mark.parametrize("change", ["K * 2", "K * 3", "K * 2\n\n"])
def test_a_file_that_was_edited_after_its_import_is_refused(here, monkeypatch, change):
    """What was read then and what stands there now are two things; where they are the same, nothing is said."""
    text = "from csaw.engine.algorithm import Walk\nK = 1\nclass Edited(Walk):\n    def edge_bias(self, e):\n"
    (here / "edited_later.py").write_text(f"{text}        return 1 + e.dst % 2 * K * 2\n")
    monkeypatch.syspath_prepend(here)
    monkeypatch.delitem(sys.modules, "edited_later", raising=False)
    kind = __import__("edited_later").Edited
    csaw.sample("g.zarr", algo=kind, **GIVEN)
    (here / "edited_later.py").write_text(f"{text}        return 1 + e.dst % 2 * {change}\n")
    if change.startswith("K * 2"):
        csaw.sample("g.zarr", algo=kind, **GIVEN)
        return
    with pytest.raises(OptionError, match="has changed since Python read Edited.edge_bias from it"):
        csaw.sample("g.zarr", algo=kind, **GIVEN)


class Shade(enum.IntEnum):
    DARK = 7


DARK = Shade.DARK


class Shaded(Walk):
    def edge_bias(self, e):
        return 1 + e.dst % 2 * DARK


def test_a_number_of_an_enumeration_is_written_as_a_number(here):
    csaw.sample("g.zarr", "s.zarr", Shaded, **GIVEN)
    assert csaw.verify("s.zarr", algo=Shaded).ok
