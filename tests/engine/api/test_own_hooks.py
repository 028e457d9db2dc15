"""Algorithms of a user's own: what is wrong with one is said of it, before anything is sampled and whatever it does."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from helpers.graphs import SQUARE, arrays_of, store_of
from helpers.limits import within
from scipy.stats import chisquare

import csaw
from csaw.engine import open_samples, sample
from csaw.engine.algorithm import Walk, option
from csaw.engine.api import registry
from csaw.engine.draws.portable import power
from csaw.engine.stores.verify import verify
from csaw.partition.errors import CsawError, OptionError

ROOT = Path(__file__).parents[3]
HEAD = "import math, sys\nfrom csaw.engine.algorithm import Traversal, Walk, option\n\n"
BIAS, UPDATE = "    def edge_bias(self, e):\n        ", "    def update(self, e):\n        "
SIZES = "    def sizes(self):\n        return "

WALKS = {
    "text": (BIAS + "return 'a'", "mine.edge_bias: expected every path to return a number, found text"),
    "nothing": (BIAS + "return None", "mine.edge_bias: expected every path to return a number, found None"),
    "no return": (BIAS + "pass", "found None"),
    "a dict": (BIAS + "return {}", "mine.edge_bias: a dict cannot be used here"),
    "no edge": ("    def edge_bias(self):\n        return 1.0", "expected a method 'def edge_bias(self, e)'"),
    "no vertex": ("    def dead_end(self):\n        return -1", "expected a method 'def dead_end(self, v)'"),
    "two kinds": (
        BIAS + "if e.dst > 3:\n            return 1.0\n        return 'x'",
        "mine.edge_bias cannot be compiled",
    ),
    "now and then": (BIAS + "if e.dst > 3:\n            return 1.0", "found None on one of them"),
    "an exit": (BIAS + "sys.exit(0)\n        return 1.0", "mine.edge_bias: sys.exit cannot be used here"),
    "an error": (BIAS + "raise ValueError('x')", "raise cannot be used here"),
    "a shadow": (BIAS + "graph = 3\n        return e.weight", "a variable cannot be called graph here"),
    "a number": ("    edge_bias = 3", "expected a method written with def, in a file, found 3, which has no source"),
    "text as a vertex": (UPDATE + "return 'a'", "mine.update: expected every path to return a vertex, found text"),
    "None as a vertex": (UPDATE + "return None", "mine.update: expected every path to return a vertex, found None"),
    "a vertex bias": ("    def vertex_bias(self, v):\n        return 1.0", "mine.vertex_bias: a Walk never calls it"),
    "a name that nothing reads": (
        "    def edge_bais(self, e):\n        return 1.0",
        "mine.edge_bais: nothing reads it; did you mean edge_bias?",
    ),
    "a fraction of a vertex": (
        "    def update(self, e):\n        return e.dst * 0.5",
        "mine.update: expected a vertex, which is an integer, found a number with a fraction; convert it with int()",
    ),
    "a comparison with text": (
        "    def edge_bias(self, e):\n        return 2.0 if e.source == 'Mr Hi' else 1.0",
        "mine.edge_bias: expected numbers, found 'Mr Hi' in a comparison",
    ),
    "a variable of one branch": (
        BIAS + "if e.dst % 2:\n            x = 3.0\n        return 1 + x",
        "line 8 of mine.py: mine.edge_bias: x may have no value here",
    ),
    "a variable of a loop without a turn": (
        BIAS + "for i in range(e.depth):\n            x = i\n        return 1 + x",
        "x may have no value here; give it one on every way that leads here",
    ),
    "a variable behind continue": (
        BIAS + "for i in (1, 2):\n            if i:\n                continue\n            x = i\n        return x",
        "x may have no value here",
    ),
    "a sum without a beginning": (
        BIAS + "for i in range(2):\n            x += i\n        return x",
        "x may have no value here",
    ),
    "a truth turned over by its bits": (
        BIAS + "return 3 + ~(e.dst > 2)",
        "mine.edge_bias: ~(e.dst > 2): ~ is for integers; write not e.dst > 2",
    ),
    "a list of draws": (
        "    def update(self, e):\n        return e.dst if [e.random() for i in range(3)][0] < 0.5 else -1",
        "mine.update: random numbers cannot be drawn inside a list; draw in a loop",
    ),
    "a bare __init__": ("    def __init__(self):\n        pass", "walk_length, num_walks not set; __init__ must"),
    "another __init__": ("    def __init__(self, a):\n        pass", "__init__ must take options by name"),
    "an option of none": ("    x = option(None, help='')", "option(None): expected a default"),
    "an option outside": (
        "    x = option(-1.0, help='', low=0)",
        "Mine.x: its default: expected a finite number, at least 0, found -1.0",
    ),
}
TRAVERSALS = {
    "text": (SIZES + "'abc'", "mine.sizes: expected a tuple of integers, -1 or more, found 'abc'"),
    "a dict": (SIZES + "{1: 2}", "mine.sizes: expected a tuple"),
    "no sizes": ("    pass", "Mine: expected a method 'def sizes(self)', the number of neighbors that a vertex draws"),
    "an error": (SIZES + "1 // 0", "mine.sizes failed: line 6 of mine.py: ZeroDivisionError"),
    "a chance of one": (
        SIZES + "(-1,)\n    def geometric(self):\n        return 1.0",
        "mine.geometric: expected a probability",
    ),
    "a chance in words": (
        SIZES + "(-1,)\n    def geometric(self):\n        return 'a'",
        "mine.geometric: expected a probability",
    ),
    "a frontier in words": ("    frontier_size = 'a'\n" + SIZES + "(2,)", "mine.frontier_size: expected an integer"),
    "an update": (UPDATE + "return e.weight\n" + SIZES + "(2,)", "mine.update: e.weight is not known here"),
    "a rule that nothing reads": (
        "    visted_once = False\n" + SIZES + "(2,)",
        "mine.visted_once: nothing reads it; did you mean visited_once?",
    ),
    "a vertex bias": (
        "    def vertex_bias(self, v):\n        return 1.0\n" + SIZES + "(2,)",
        "line 5 of mine.py: mine.vertex_bias: only a Traversal with pool_size",
    ),
    "another layout": (
        "    layout = 'x'\n" + SIZES + "(2,)",
        "mine.layout: expected one of 'subgraphs', 'hops', found 'x'",
    ),
}
CASES = [("Walk", *case) for case in WALKS.items()] + [("Traversal", *case) for case in TRAVERSALS.items()]


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    return store_of(tmp_path_factory.mktemp("own") / "g.zarr", SQUARE, directed=False)


def file_of(tmp_path, text):
    (tmp_path / "mine.py").write_text(HEAD + text)
    return f"{tmp_path / 'mine.py'}:Mine"


@pytest.mark.parametrize(("base", "name", "case"), CASES, ids=[f"{base}: {name}" for base, name, _ in CASES])
def test_what_is_wrong_is_said_in_a_sentence(tmp_path, store, base, name, case):
    body, said = case
    with within(60), pytest.raises(CsawError) as error:
        arrays_of(store, tmp_path / "s.zarr", file_of(tmp_path, f"class Mine({base}):\n{body}\n"))
    assert said in str(error.value)


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("x = e.src\n        return x + e.nothing", "line {} of mine.py: mine.edge_bias: no e.nothing"),
        (
            "x = 1.0\n        return x if e.random() < 0.5 else 2.0",
            "line {} of mine.py: mine.edge_bias: a bias must be",
        ),
        ("x = {1}\n        return 1.0", "line {0} of mine.py: mine.edge_bias: a set cannot be used here"),
        ("x = 'a'\n        return x", "line {0} of mine.py: mine.edge_bias"),
    ],
)
def test_what_is_wrong_names_its_line(tmp_path, store, line, said):
    text = f"class Mine(Walk):\n    def edge_bias(self, e):\n        {line}\n"
    first = HEAD.count("\n") + 2  # of the hook
    at = first + (0 if "x = 'a'" in line else 1 if "{0}" in said else 2)
    with pytest.raises(CsawError) as error:
        arrays_of(store, tmp_path / "s.zarr", file_of(tmp_path, text))
    assert said.format(at) in str(error.value)


@pytest.mark.parametrize(
    ("above", "called"),
    [
        ("import random", "random.random()"),
        ("import random", "random.randint(1, 2)"),
        ("import random", "math.floor(x=random.random())"),
        ("import random\ndice = random.Random(1)", "dice.random()"),
        ("from random import random", "random()"),
        ("import numpy as np", "np.random.random()"),
        ("import numpy.random as r", "r.rand()"),
        ("from numpy.random import rand as mine", "mine()"),
        ("import numba\nimport numpy as np\n@numba.njit\ndef mine(): return np.random.rand()", "mine()"),
        ("import random\ndraw = random.random\ndef mine(): return draw()", "mine()"),
    ],
)
@pytest.mark.parametrize("hook", ["edge_bias", "update"])
def test_a_hook_draws_from_no_state_of_its_own(tmp_path, store, above, called, hook):
    text = f"{above}\nclass Mine(Walk):\n    def {hook}(self, e):\n        return int({called})\n"
    with pytest.raises(OptionError) as error:
        arrays_of(store, tmp_path / "s.zarr", file_of(tmp_path, text))
    lines = (HEAD + text).splitlines()
    drawn = next(n for n, line in enumerate(lines, 1) if "rand()" in line or "draw()" in line or called in line)
    assert f"line {drawn} of mine.py: mine.{hook}: " in str(error.value)
    assert "do not follow from the seed of a run" in str(error.value)
    assert "by e.random()" in str(error.value)
    assert not (tmp_path / "s.zarr").exists()


def test_a_variable_may_be_called_as_a_function_of_random_numbers(tmp_path, store):
    text = "from random import random\nclass Mine(Walk):\n    walk_length = option(3, help='')\n"
    text += "    def update(self, e):\n        random: float = e.random()\n        return e.dst if random < 2 else -1\n"
    arrays_of(store, tmp_path / "s.zarr", file_of(tmp_path, text))
    assert verify(tmp_path / "s.zarr", algo=file_of(tmp_path, text)).ok


@pytest.mark.parametrize("text", ["sys.exit(0)", "raise SystemExit", "class Mine(:", "1 / 0"])
def test_a_file_that_ends_or_fails_is_no_algorithm(tmp_path, text):
    with pytest.raises(CsawError, match="mine.py cannot be imported: (line 4 of mine.py: )?[A-Z]"):
        registry.build(file_of(tmp_path, text), {})


@pytest.mark.parametrize(
    "hook", [UPDATE + "return e.dst + 1000000", "    def dead_end(self, v):\n        return v.vertices"]
)
def test_a_vertex_that_is_none_is_named_with_its_place(tmp_path, hook):
    store = store_of(tmp_path / "g.zarr", [(0, 1, 1), (1, 2, 1)], directed=True)
    with pytest.raises(CsawError, match=r"at \d: expected a vertex below e.vertices = 3, or -1 for none, found"):
        arrays_of(store, tmp_path / "s.zarr", file_of(tmp_path, f"class Mine(Walk):\n{hook}\n"))


@pytest.mark.parametrize("base", ["Walk", "Traversal"])
def test_any_number_below_0_is_no_vertex(tmp_path, store, base):
    text = f"class Mine({base}):\n    end = option(-1, help='')\n    def update(self, e):\n"
    text += "        return self.end if e.dst > 2 else e.dst\n"
    text += "    def sizes(self):\n        return (2, 2)\n" if base == "Traversal" else ""
    algo = file_of(tmp_path, text)
    one, other = (arrays_of(store, tmp_path / f"{-end}.zarr", algo, end=end) for end in (-1, -7))
    assert all(np.array_equal(one[name], other[name]) for name in one)


@pytest.mark.parametrize(
    ("field", "said"), [("weigt", r"path\(i\); the edge"), ("time", "none; csaw partition --time-c")]
)
def test_what_a_bias_may_read_is_named_and_nothing_else(tmp_path, store, field, said):
    with pytest.raises(OptionError, match=f"no e.{field}; there are .*{said}") as error:
        arrays_of(store, tmp_path / "s.zarr", edge_bias=f"e.{field}")
    assert "random" not in str(error.value)


RAISING = {
    "a tuple": (BIAS + "return (1.0, 0.5)[e.depth]", "line 5 of mine.py: mine.edge_bias raised IndexError"),
    "a list": (BIAS + "return [1][5]", "line 5 of mine.py: mine.edge_bias raised IndexError"),
    "a table of rows": (BIAS + "return (1.0, 0.5)[e.dst]", "line 5 of mine.py: mine.edge_bias raised IndexError"),
    "a vertex": (UPDATE + "return [e.dst, e.src][e.depth]", "line 5 of mine.py: mine.update raised IndexError"),
    "a range": (
        BIAS + "n = 1.0\n        for i in range(0, 5, e.depth):\n            n += i\n        return n",
        "line 5 of mine.py: mine.edge_bias raised ValueError: range() arg 3 must not be zero; check an index",
    ),
    "one of two": (
        BIAS + "return e.weight\n" + UPDATE + "return [e.dst, e.src][e.depth]",
        "mine.py: mine.edge_bias or mine.update raised IndexError",
    ),
}


@pytest.mark.parametrize("case", RAISING.values(), ids=RAISING)
def test_what_a_hook_raises_while_it_draws_is_said_of_it(tmp_path, store, case):
    body, said = case
    with pytest.raises(OptionError) as error:
        arrays_of(store, tmp_path / "s.zarr", file_of(tmp_path, f"class Mine(Walk):\n{body}\n"), walk_length=9)
    assert str(error.value).startswith(said)


def test_edges_of_what_is_no_vertex_are_not_there(tmp_path, store):
    walks = arrays_of(
        store, tmp_path / "s.zarr", edge_bias="2.0 if e.is_neighbor(e.dst + 1000000000, e.src - 9) else 1.0"
    )["walks"]
    assert (walks < 5).all()


def test_a_division_by_zero_is_a_bias_that_is_none(tmp_path, store):
    with pytest.raises(CsawError, match="the bias of edge .* is negative, NaN or infinite"):
        arrays_of(store, tmp_path / "s.zarr", edge_bias="1 / (e.dst - e.dst)")
    assert not list(tmp_path.glob("s.zarr*"))  # nothing waits for the same request, which would fail again


def test_powers_of_any_size_are_those_of_numbers(tmp_path, store):
    assert power(1.0, 1e200) == 1.0
    walks = arrays_of(store, tmp_path / "s.zarr", edge_bias="e.weight ** 1e200", weighted=False, walk_length=3)
    assert (walks["lengths"] == 3).all()  # whose bias is 1, known when it is compiled


def test_ctrl_c_stops_a_hook_that_has_no_end(tmp_path):
    endless = UPDATE + "n = 1.0\n        while n > 0.0:\n            n = n + 1.0\n        return e.dst"
    command = [
        sys.executable,
        "-m",
        "csaw.cli",
        "sample",
        "karate",
        "out.zarr",
        "--algo",
        file_of(tmp_path, f"class Mine(Walk):\n{endless}\n"),
    ]
    env = os.environ | {"PYTHONPATH": str(ROOT / "tests" / "_src")}
    running = subprocess.Popen(command, cwd=tmp_path, env=env, stderr=subprocess.PIPE, text=True)
    try:
        deadline = time.monotonic() + 60
        while not (tmp_path / "out.zarr.partial" / "groups").exists() and time.monotonic() < deadline:
            time.sleep(0.1)
        time.sleep(6)  # in the hook, or compiling it
        running.send_signal(signal.SIGINT)
        said = running.communicate(timeout=20)[1]
    finally:
        running.kill()
    assert running.returncode == 130
    assert "interrupted" in said
    assert "Traceback" not in said


def test_a_bad_vertex_bias_is_a_vertexs(tmp_path, store):
    (tmp_path / "mine.py").write_text(
        "from csaw.engine.algorithms.multidimensional import Multidimensional\n\n"
        "class Mine(Multidimensional):\n    def vertex_bias(self, v):\n        return v.degree - 100.0\n"
    )
    with pytest.raises(CsawError, match=r"the vertex bias of \d+ is negative, NaN or infinite"):
        sample(
            store,
            tmp_path / "o.zarr",
            f"{tmp_path / 'mine.py'}:Mine",
            frontier_size=2,
            walk_length=3,
            instances=1,
            device="cpu",
        )


LOOPS = """
from csaw.engine.algorithm import Traversal, Walk


class Tries(Walk):
    def update(self, e):
        tries = 0
        while e.random() < 0.5 and tries < 3:
            tries += 1
        return tries

    def dead_end(self, v):
        for i in range(4):
            heads = 0
            for j in range(2):
                if v.random() < 0.5:
                    heads += 1
            if heads == 2:
                return v.random_vertex()
        return -1


class Counts(Traversal):
    visited_once = False

    def sizes(self):
        return (1, 1)

    def update(self, e):
        heads = 0
        for i in range(3):
            heads += e.random() < 0.5
        return heads
"""


def test_each_turn_of_a_loop_draws_its_own_numbers(tmp_path):
    (tmp_path / "loops.py").write_text(LOOPS)
    circle = [(v, (v + 1) % 4, 1.0) for v in range(4)]
    store = store_of(tmp_path / "g.zarr", circle, directed=True, vertices=5)
    algo = f"{tmp_path / 'loops.py'}:Tries"
    walks = arrays_of(store, tmp_path / "w.zarr", algo, num_walks=4000, walk_length=3, seed=1)["walks"]
    report = verify(tmp_path / "w.zarr", algo=algo)
    assert report.ok
    assert {check.name: check.p_value for check in report.checks}["transitions"] is not None
    after = np.bincount(walks[walks[:, 0] != 4, 1], minlength=4)
    assert chisquare(after, after.sum() * np.array([0.5, 0.25, 0.125, 0.125])).pvalue > 1e-4
    algo = f"{tmp_path / 'loops.py'}:Counts"
    drawn = arrays_of(store, tmp_path / "t.zarr", algo, instances=8000, seed=1)
    assert verify(tmp_path / "t.zarr", algo=algo).ok
    second = np.bincount(drawn["src"][drawn["depth"] == 1], minlength=4)
    assert chisquare(second, second.sum() * np.array([1, 3, 3, 1]) / 8).pvalue > 1e-4


SEVERAL = """
import enum
from csaw.engine.algorithm import Walk, option
from mine import bias, factory

K, J = 1, 1

class Color(enum.IntEnum):
    RED = 7

class Named(float):
    def __repr__(self):
        return "12"

RED, HALF = Color.RED, Named(0.5)

def late(x, k=J):
    return k * x

J = 100
twice, fifty = factory(2), factory(50)

class OneName(Walk):
    def edge_bias(self, e):
        return bias(e.dst % 2) + K

class Closures(Walk):
    def edge_bias(self, e):
        return twice(1) + fifty(e.dst % 2)

class Defaults(Walk):
    def edge_bias(self, e):
        return late(e.dst % 2) + J

depth, weight, source, own_J = 5, 3.0, 7, 9

def max(a, b):
    return a + b

def even(x):
    return x % 2 == 0

class Arguments(Walk):
    def edge_bias(self, e):
        return weight + source * (e.dst % depth == 1)

class Builtins(Walk):
    def edge_bias(self, e):
        return max(1, 9 * (e.dst % 2))

class Locals(Walk):
    def edge_bias(self, e):
        own_J = 3
        return own_J + J * (e.dst % 2)

class Inverted(Walk):
    flag: bool = option(True, help="a truth")
    def edge_bias(self, e):
        is_odd = e.dst % 2 == 1
        return 3 + ~is_odd + (4 + ~even(e.dst)) * 0 + 2 + ~self.flag

def placed(x, /, K):
    return x + K

class Placed(Walk):
    def edge_bias(self, e):
        values = [6, 4]
        values[0] //= 3
        values[1] **= 2
        values[0] %= 0
        return placed(e.dst % 2, 1) + values[0] + values[1] * 0

class Enumerated(Walk):
    strength = Color.RED
    def edge_bias(self, e):
        return e.dst % 2 * RED * self.strength + HALF
"""


@pytest.mark.parametrize(
    ("name", "odd", "even"),
    [("OneName", 51, 1), ("Closures", 52, 2), ("Defaults", 101, 100), ("Enumerated", 49.5, 0.5)]
    + [("Arguments", 10, 3), ("Builtins", 10, 1), ("Locals", 103, 3), ("Inverted", 1, 2), ("Placed", 2, 1)],
)
def test_a_name_means_in_each_function_what_it_means_there(tmp_path, monkeypatch, name, odd, even):
    """Of several modules, of closures, and of arguments that are not given."""
    (tmp_path / "mine.py").write_text(
        "K = 50\n\ndef bias(x):\n    return K * x\n\ndef factory(k):\n    def made(x):\n        return x * k\n"
        "    return made\n"
    )
    (tmp_path / "several.py").write_text(SEVERAL)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "mine", raising=False)
    store = store_of(tmp_path / "g.zarr", [(0, 1, 1), (0, 2, 1)], directed=False)
    algo = f"{tmp_path}/several.py:{name}"
    sample(store, tmp_path / "s.zarr", algo, walk_length=1, num_walks=60_000, device="cpu", sources=[0])
    met = np.bincount(open_samples(tmp_path / "s.zarr").walks[:, 1], minlength=3)
    assert chisquare(met[1:], np.array([odd, even]) / (odd + even) * 60_000).pvalue > 1e-6
    assert verify(tmp_path / "s.zarr", algo=algo).ok
    monkeypatch.delitem(sys.modules, "mine", raising=False)


@pytest.mark.parametrize(
    "body",
    [
        "x = 1\n        if e.dst > 2:\n            x = 2\n        return x",
        "if e.dst > 2:\n            x = 2\n        else:\n            x = 1\n        return x",
        "if e.dst > 2:\n            return 2\n        else:\n            x = 1\n        return x",
        "for i in range(3):\n            x = i\n        return x + i + 1",
        "while True:\n            x = 1\n            if e.dst >= 0:\n                break\n        return x",
        "x = [i for i in range(3)]\n        return x[1] + sum_of(2)",
    ],
)
def test_variables_that_have_a_value_on_every_way_are_read(tmp_path, body):
    helper = "def sum_of(n):\n    total = 0\n    for i in range(n):\n        total += i\n    return total\n\n"
    (tmp_path / "mine.py").write_text(f"{HEAD}{helper}class Mine(Walk):\n{BIAS}{body}\n")
    store = store_of(tmp_path / "g.zarr", SQUARE, directed=False)
    sample(store, tmp_path / "s.zarr", f"{tmp_path}/mine.py:Mine", walk_length=3, device="cpu")
    assert verify(tmp_path / "s.zarr", algo=f"{tmp_path}/mine.py:Mine").ok


def test_an_own_function_is_called_whatever_the_engine_calls_so(tmp_path):
    """``update`` draws by an engine function that is called fraction, too."""
    (tmp_path / "mine.py").write_text(
        f"{HEAD}def fraction(x):\n    return x / 4\n\nclass Mine(Walk):\n"
        "    def update(self, e):\n        return e.source if e.random() < fraction(3) else e.dst\n"
    )
    store = store_of(tmp_path / "g.zarr", [(0, 1, 1), (0, 2, 1)], directed=False)
    algo = f"{tmp_path}/mine.py:Mine"
    sample(store, tmp_path / "s.zarr", algo, walk_length=1, num_walks=9000, device="cpu", sources=[0])
    back = int((open_samples(tmp_path / "s.zarr").walks[:, 1] == 0).sum())
    assert chisquare([back, 9000 - back], [6750, 2250]).pvalue > 1e-6


def test_a_constant_below_zero_is_no_bias_whether_or_not_it_would_be_read(tmp_path):
    """A traversal that takes all neighbors reads none."""
    (tmp_path / "mine.py").write_text(
        f"{HEAD}class Mine(Traversal):\n    def sizes(self):\n        return (-1,)\n{BIAS}return -1.0\n"
    )
    store = store_of(tmp_path / "g.zarr", SQUARE, directed=False)
    with pytest.raises(CsawError, match=r"mine.edge_bias is -1.0; a bias must be 0, or a finite number from 1e-300 on"):
        sample(store, tmp_path / "s.zarr", f"{tmp_path}/mine.py:Mine", device="cpu")


def test_an_option_without_a_value_that_a_hook_reads_is_named():
    class Weighed(Walk):
        walk_length: int = option(3, help="steps")
        worth: str = option(None, kind=str, none="no column", help="column of vertices")

        def edge_bias(self, e):
            return e.column(self.worth, e.dst)

    with pytest.raises(OptionError, match="reads self.worth, an option that has no value; give it one"):
        csaw.sample("karate", algo=Weighed)
