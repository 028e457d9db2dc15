"""Expressions for a bias are numbers, whoever wrote them: the command line, Python and the manifests of stores have
them checked before anything runs.
"""

import math
from types import SimpleNamespace

import pytest
from helpers.forged import forged
from helpers.graphs import SQUARE, store_of

from csaw.engine import commit_virtual, prepare, sample
from csaw.engine.api import registry
from csaw.engine.api.law import edge_law
from csaw.engine.stores.describe import describe_store as describe
from csaw.engine.stores.export import export
from csaw.engine.stores.verify import verify
from csaw.engine.verify.checks import GraphView
from csaw.partition.errors import BiasError, OptionError, StoreError

SHELL = (
    "[x for x in ().__class__.__base__.__subclasses__() if x.__name__ == "
    "'_wrap_close'][0].__init__.__globals__['system']('touch {}')"
)
REFUSED = [
    "e.weight + 0 * " + SHELL.format("PWNED"),
    "math.__loader__.load_module('os')",
    "e.__class__",
    "e.weight.real",
    "e",
    "math",
    "abs",
    "self",
    "self.p",
    "v.id",
    "x",
    "__import__('os')",
    "eval('1')",
    "ｅval('1')",
    "open('f')",
    "getattr(e, 'dst')",
    "e._view",
    "e.dst_degree.bit_length()",
    "math.sin",
    "math.exp.__self__",
    "(lambda: 1)()",
    "[1][0]",
    "(1, 2)",
    "{1}",
    "{1: 2}",
    "[x for x in (1, 2)]",
    "sum(x for x in (1,))",
    "'a'",
    "b'a'",
    "f'{e.dst}'",
    "...",
    "None",
    "1j",
    "(x := 5)",
    "e.weight @ e.weight",
    "e.dst in (1, 2)",
    "e.prev is e.dst",
    "e.prev is not None",
    "min(*(1, 2))",
    "min(1, 2, key=abs)",
    "max(1, default=2)",
    "pow(2, 3, 5)",
    "min(1)",
    "abs(1, 2)",
    "exp(1)",
    "math.exp()",
    "math.log(8, 2)",
    "math.gcd(4, 6)",
    "round(5, -1000000000)",
    "1 << e.dst",
    "1 << 64",
    "1 >> -1",
    "1 << 1 << e.dst",
    "await e",
    "yield 1",
    "1; 2",
    "import os",
    "",
    " ",
    "9" * 400,
    "1" + "0" * 999,
    "(" * 300 + "1" + ")" * 300,
    "-" * 900 + "1",
    "+".join(["1"] * 400),
    "e.dst[0]",
    "e.column(f'{e.dst}', 1)",
    "e.column(('x'), e)",
    "e.is_neighbor(a=1, b=2)",
    "e.is_neighbor(" * 40 + "e.dst" + ", 1)" * 40,
    "e.is_neighbor(1, 1 + max(e.dst, e.is_neighbor(1, 2)))",
    "e.path(*(1,))",
    "1\x00",
    "\ud800",
]
ACCEPTED = {
    "e.weight * e.dst_degree ** -0.5": 2.5 * 3**-0.5,
    "1 / 2 + 7 // 2 - 7 % 4 + -(+3) + ~2": 0.5 + 3 - 3 - 3 - 3,
    "(e.dst & 6) + (e.src | 1) + (e.dst ^ 1) + (1 << 3) + (e.dst >> 1)": 4 + 3 + 4 + 8 + 2,
    "2.0 if e.prev == 1 and not e.depth > 3 or False else 1.0": 2.0,
    "0 < e.depth <= 2 != 3": True,
    "min(e.weight, 1, 2) + max(3, e.dst) + abs(-2) + round(2.4) + int(2.9) + float(1) + bool(3) + pow(2, 3)": 1
    + 5
    + 2
    + 2
    + 2
    + 1
    + 1
    + 8,
    (
        "math.exp(0) + math.log(math.e) + math.log2(8) + math.log10(100) + math.sqrt(4) + math.floor(1.5) + "
        "math.ceil(1.5) + 2"
    ): 1 + 1 + 3 + 2 + 2 + 1 + 2 + 2,
    "ｅ.ｗeight": 2.5,  # Python reads such letters as the plain ones
    "2 ** 3 ** 2": 512.0,
    "9 ** 9 ** 9 ** 9": math.inf,
    "(0 - 8) ** 0.5 != (0 - 8) ** 0.5": True,
    "0 ** -1": math.inf,
}
EDGE = SimpleNamespace(
    src=2, dst=5, prev=1, depth=1, instance=0, source=2, weight=2.5, src_degree=4, dst_degree=3, vertices=9
)


@pytest.mark.parametrize("text", REFUSED, ids=lambda text: ascii(text)[:40])
def test_what_is_no_expression_of_numbers_is_refused_before_anything_runs(tmp_path, monkeypatch, text):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(OptionError, match="--edge-bias"):
        registry.find("deepwalk", text)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("given", [5, None, ["e.weight"], {"e": 1}, b"e.weight", True])
def test_what_is_no_text_is_refused(given):
    with pytest.raises(OptionError, match="--edge-bias: expected an expression"):
        registry.with_edge_bias(registry.find("deepwalk"), given)


@pytest.mark.parametrize("text", ACCEPTED)
def test_the_numbers_of_expressions_are_those_of_python(text):
    assert registry.find("deepwalk", text).edge_bias(None, EDGE) == ACCEPTED[text]


@pytest.mark.parametrize("text", ["1 / (e.dst - 5)", "e.weight & 1", "int(math.inf)", "math.sqrt(-1)", "math.exp(1e9)"])
def test_a_bias_without_a_number_is_an_error_that_names_the_edge(text):
    with pytest.raises(BiasError, match="the bias of edge 2 -> 5"):
        registry.find("deepwalk", text).edge_bias(None, EDGE)


def test_the_law_of_an_expression_may_ask_about_what_is_no_vertex(tmp_path):
    store = store_of(tmp_path / "g.zarr", SQUARE, directed=False)
    walk = registry.build("deepwalk", {}, "2.0 if e.is_neighbor(e.dst + 1000000000, e.src - 9) else 1.0")
    law = edge_law(GraphView(store.load(), False), walk, 0)
    assert set(law.values()) == {1 / len(law)}


@pytest.mark.parametrize("virtual", [False, True])
@pytest.mark.parametrize("text", REFUSED[:4])
def test_an_expression_of_a_manifest_runs_nothing(tmp_path, monkeypatch, virtual, text):
    monkeypatch.chdir(tmp_path)
    store = store_of(tmp_path / "g.zarr", SQUARE, directed=False)
    given = {"edge_bias": "e.weight * 2", "walk_length": 3, "device": "cpu"}
    if virtual:
        commit_virtual(prepare(store, "deepwalk", **given), tmp_path / "s.zarr")
    else:
        sample(store, tmp_path / "s.zarr", "deepwalk", **given)
    forged(tmp_path / "s.zarr", lambda said: said["manifest"]["request"].update(edge_bias=text))
    works = [verify, lambda path: export(path, tmp_path / "out.txt"), describe]
    for work in works if virtual else works[:1]:
        with pytest.raises(StoreError, match="edge.bias") as error:
            work(tmp_path / "s.zarr")
        assert str(tmp_path / "s.zarr") in str(error.value)
    for work in () if virtual else works[1:]:
        work(tmp_path / "s.zarr")  # what is stored is read without the law
    assert not (tmp_path / "PWNED").exists()
