"""Claims of graphs from objects of other libraries: they are the graph that ``csaw partition`` makes of the same edges,
by whatever they are given.

The libraries themselves are tested where they are installed; objects of the same form stand for them elsewhere.
"""

from types import SimpleNamespace

import numpy as np
import pytest
import scipy.sparse
from helpers.machine import need_package

import csaw
from csaw.partition import IngestOptions, ingest
from csaw.partition.errors import CsawError, FormatError, OptionError, StoreError
from csaw.partition.ingestion.given_graph import graph_in_memory

EDGES = [(3, 5, 1.0), (5, 9, 2.5), (9, 3, 0.5), (3, 9, 4.0), (12, 3, 1.5)]
WORDS = [(f"é{a}", f"é{b}", weight) for a, b, weight in EDGES]
ATTRIBUTES = (
    "vertices",
    "edges",
    "directed",
    "weighted",
    "multigraph",
    "max_degree",
    "id_dtype",
    "id_kind",
    "fingerprint",
)


def of_library(module, name="Graph", **methods):
    """An object whose type is from ``module``, with these attributes."""
    kind = type(name, (), {"__module__": module, **methods})
    return kind()


def text_graph(tmp_path, edges, **options):
    """What ``csaw partition`` makes of a text file of these edges."""
    (tmp_path / "e.txt").write_text("".join(" ".join(map(str, edge)) + "\n" for edge in edges))
    return ingest(tmp_path / "e.txt", tmp_path / "e.zarr", IngestOptions(overwrite=True, **options))


def networkx_like(edges, directed=True, multi=False, module="networkx.classes.graph"):
    nodes = list(dict.fromkeys(end for edge in edges for end in edge[:2]))

    class Edges:
        def __call__(self, data=None):
            return [(edge[0], edge[1], edge[2] if len(edge) > 2 and data == "weight" else None) for edge in edges]

    return of_library(
        module, nodes=nodes, edges=Edges(), is_directed=lambda self: directed, is_multigraph=lambda self: multi
    )


def igraph_like(edges, directed=True):
    names = list(dict.fromkeys(end for edge in edges for end in edge[:2]))
    held = type("Held", (dict,), {"attributes": lambda self: list(self)})
    return of_library(
        "igraph",
        es=held(weight=[edge[2] for edge in edges]),
        vs=held(name=names),
        vcount=lambda self: len(names),
        is_directed=lambda self: directed,
        get_edgelist=lambda self: [(names.index(a), names.index(b)) for a, b, *_ in edges],
    )


def pandas_like(edges, names=("u", "v", "weight")):
    columns = [np.array(column, object) for column in zip(*edges, strict=True)]
    places = type("Places", (), {"__getitem__": lambda self, key: SimpleNamespace(to_numpy=lambda: columns[key[1]])})
    return of_library("pandas.core.frame", "DataFrame", columns=names, iloc=places())


def tensor(rows):
    held = np.asarray(rows)
    cpu = SimpleNamespace(numpy=lambda: held)
    return of_library(
        "torch", "Tensor", dtype=held.dtype, shape=held.shape, detach=lambda self: SimpleNamespace(cpu=lambda: cpu)
    )


FORMS = {
    "list": list,
    "columns": lambda edges: tuple(zip(*edges, strict=True)),
    "arrays": lambda edges: tuple(np.array(column) for column in zip(*edges, strict=True)),
    "networkx": networkx_like,
    "igraph": igraph_like,
    "pandas": pandas_like,
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("edges", [EDGES, WORDS], ids=["integers", "words"])
def test_an_object_is_the_graph_of_the_file_with_its_edges(tmp_path, form, edges):
    if form == "igraph" and edges is EDGES:
        edges = [(str(a), str(b), weight) for a, b, weight in edges]
        expected = text_graph(tmp_path, edges, directed=True, id_type="string")
    else:
        expected = text_graph(tmp_path, edges, directed=True)
    found = csaw.graph(FORMS[form](edges))
    for name in ATTRIBUTES:
        assert getattr(found, name) == getattr(expected, name), name
    assert found.vertex_ids().tolist() == expected.vertex_ids().tolist()


@pytest.mark.one_in(5)
@pytest.mark.parametrize("words", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("duplicates", ["first", "sum", "keep"])
@pytest.mark.parametrize("loops", ["keep", "drop"])
def test_repeats_loops_and_directions_are_those_of_partition(tmp_path, words, weighted, directed, duplicates, loops):
    rng = np.random.default_rng(3)
    ends, weights = rng.integers(5, 25, (200, 2)).tolist(), (rng.integers(1, 9, 200) / 4).tolist()
    ends = [(f"v{a}", f"v{b}") if words else (a, b) for a, b in ends]
    edges = [(*pair, weight) for pair, weight in zip(ends, weights, strict=True)] if weighted else ends
    how = {"directed": directed, "duplicates": duplicates, "self_loops": loops}
    expected = text_graph(tmp_path, edges, **how)
    found = graph_in_memory(edges, **how)
    assert all(getattr(found, name) == getattr(expected, name) for name in ATTRIBUTES)


@pytest.mark.parametrize("ids", [[2**63 + 5, 7, 2**64 - 1], [-4, 2**62, 0], [10**15, 3, 10**12]])
def test_ids_of_64_bits_stay_as_they_are(tmp_path, ids):
    edges = [(ids[0], ids[1]), (ids[1], ids[2]), (ids[2], ids[0])]
    found, expected = csaw.graph(edges), text_graph(tmp_path, edges)
    assert found.fingerprint == expected.fingerprint
    walks = csaw.sample(edges, walk_length=4, device="cpu")
    assert set(walks.walks[:].ravel().tolist()) == set(ids)
    for order in "<>":
        ends = np.array(edges, f"{order}{'i' if min(ids) < 0 else 'u'}8").T
        assert csaw.graph(tuple(ends)).fingerprint == expected.fingerprint


def test_samples_of_words_have_the_words():
    walks = csaw.sample(WORDS, walk_length=3, device="cpu", sources=["é12"])
    assert walks.labels()[walks.walks[0]].tolist()[0] == "é12"


def test_matrices_are_graphs_of_their_entries():
    dense = np.array([[0, 2.0, 0], [0.5, 0, 0], [0, 0, 0]])
    for kind in (scipy.sparse.csr_array, scipy.sparse.csc_array, scipy.sparse.coo_matrix, scipy.sparse.lil_array):
        graph = csaw.graph(kind(dense)).load()
        assert graph.indptr.tolist() == [0, 1, 2, 2]
        assert graph.indices.tolist() == [1, 0]
        assert graph.weights.tolist() == [2.0, 0.5]
    assert not csaw.graph(scipy.sparse.csr_array(dense > 0)).weighted
    assert not csaw.graph(scipy.sparse.csr_array((dense > 0).astype(int))).weighted
    assert not csaw.graph(scipy.sparse.csr_array(dense), weights=None).weighted
    named = csaw.graph(scipy.sparse.csr_array(dense), vertex_ids=["c", "a", "b"])
    assert named.vertex_ids().tolist() == ["a", "b", "c"]
    assert named.load().indptr.tolist() == [0, 1, 1, 2]


def test_entries_of_a_matrix_that_stand_for_one_number_are_added():
    twice = scipy.sparse.coo_array(([1.0, 2.0, 4.0], ([0, 0, 1], [1, 1, 0])), (2, 2))
    assert csaw.graph(twice).load().weights.tolist() == [3.0, 4.0]
    assert csaw.graph(twice, directed=False).load().weights.tolist() == [3.0, 3.0]


@pytest.mark.parametrize(
    ("dtype", "values"),
    [("u1", [200, 100]), ("i1", [100, 100]), ("u2", [60000, 60000]), ("i8", [2, 3]), ("f4", [1, 2])],
)
@pytest.mark.parametrize("form", ["coo", "csr"])
def test_sums_of_a_matrix_do_not_wrap(dtype, values, form):
    data = np.array(values, dtype)
    twice = scipy.sparse.coo_matrix((data, ([0, 0], [1, 1])), (3, 3))
    if form == "csr":
        twice = scipy.sparse.csr_matrix((data, [1, 1], [0, 2, 2, 2]), (3, 3))
    assert csaw.graph(twice).load().weights.tolist() == [sum(values)]


def test_an_entry_that_says_false_is_no_edge():
    matrix = scipy.sparse.coo_matrix((np.array([True, False]), ([0, 1], [1, 2])), (3, 3))
    assert csaw.graph(matrix).load().indices.tolist() == [1]


def test_ones_at_one_place_of_a_matrix_are_added_as_scipy_adds_them():
    twice = scipy.sparse.coo_array(([1, 1, 1], ([0, 0, 1], [1, 1, 0])), (2, 2))
    for matrix in (twice, twice.tocsr()):
        assert csaw.graph(matrix).load().weights.tolist() == [2.0, 1.0]
    assert not csaw.graph(twice, duplicates="first").weighted
    assert not csaw.graph(twice, weights=None).weighted
    assert not csaw.graph(twice.astype(bool)).weighted


@pytest.mark.parametrize(
    "data",
    [
        [(0, 1), (0, 1), (1, 0)],
        np.array([(0, 1), (0, 1), (1, 0)]),
        scipy.sparse.coo_array(([1, 1, 1], ([0, 0, 1], [1, 1, 0])), (2, 2)),
        scipy.sparse.coo_array(([True] * 3, ([0, 0, 1], [1, 1, 0])), (2, 2)),
        tensor([[0, 0, 1], [1, 1, 0]]),
    ],
    ids=["list", "array", "matrix", "truths", "edge_index"],
)
def test_edges_without_weights_count_1_each_where_repeats_are_added(data):
    assert csaw.graph(data, duplicates="sum").load().weights.tolist() == [2.0, 1.0]
    assert csaw.graph(data, duplicates="sum", directed=False).load().weights.tolist() == [3.0, 3.0]


def test_policies_of_repeated_entries_are_those_of_other_objects():
    twice = scipy.sparse.coo_array(([4.0, 1.0, 2.0], ([1, 0, 0], [0, 1, 1])), (2, 2))
    for policy, weights in {"first": [1, 4], "sum": [3, 4], "keep": [1, 2, 4]}.items():
        assert csaw.graph(twice, duplicates=policy).load().weights.tolist() == weights
        assert csaw.graph(twice, duplicates=policy, weights=[4, 1, 2]).load().weights.tolist() == weights
    with pytest.raises(FormatError, match="some edges are repeated"):
        csaw.graph(twice, duplicates="error")
    assert csaw.graph(twice, time=[7, 8, 9]).load().weights.tolist() == [1, 2, 4]


@pytest.mark.parametrize("form", ["coo", "csr", "csc", "bsr", "dia", "lil", "dok"])
def test_times_of_the_entries_of_a_matrix_are_theirs(form):
    dense = np.random.default_rng(4).integers(0, 3, (9, 9)) / 2
    matrix = scipy.sparse.coo_array(dense).asformat(form)
    if form == "csr":  # rows that are not sorted
        matrix.indices, matrix.data, matrix.has_sorted_indices = matrix.indices[::-1], matrix.data[::-1], False
        matrix.indptr = matrix.indptr[-1] - matrix.indptr[::-1]
        dense = dense[::-1]
    entries = matrix.tocoo()
    times = 10 * entries.row + entries.col
    for directed in (True, False):
        graph = csaw.graph(matrix, time=times, edge_columns={"copy": times}, directed=directed)
        loaded = graph.load(list(graph.edge_columns))
        rows = np.repeat(np.arange(9), np.diff(loaded.indptr))
        for column in (loaded.columns["copy"], loaded.columns["time"]):
            forth, back = 10 * rows + loaded.indices, 10 * loaded.indices + rows
            assert ((column == forth) | (not directed and column == back)).all()
            low, high = np.divmod(column, 10)
            assert np.array_equal(dense[low, high].astype(np.float32), loaded.weights)


def test_csr_arrays_are_kept_without_a_copy():
    indptr, indices, weights = np.array([0, 2, 3, 3]), np.array([1, 2, 0], np.uint32), np.array([1, 2, 3], np.float32)
    graph = csaw.graph(indptr=indptr, indices=indices, weights=weights)
    assert graph.indices is indices or graph.indices.base is indices
    assert graph.load().weights.tolist() == [1, 2, 3]
    both = csaw.graph(indptr=indptr, indices=indices, weights=weights, directed=False)
    assert (both.edges, both.directed) == (4, False)
    with pytest.raises(OptionError, match="expected either data, or indptr and indices together"):
        csaw.graph(indptr=indptr)
    with pytest.raises(OptionError, match="indptr: expected offsets that increase from 0 to 3"):
        csaw.graph(indptr=[0, 2], indices=indices, directed=False)


def test_an_edge_index_keeps_repeats_and_data_keeps_its_vertices():
    rows = [[0, 1, 1, 2], [1, 2, 2, 0]]
    assert csaw.graph(tensor(rows)).edges == 4
    assert csaw.graph(tensor(rows), directed=False).edges == 6
    data = of_library(
        "torch_geometric.data.data",
        "Data",
        edge_index=tensor(rows),
        num_nodes=6,
        edge_weight=tensor([1.0, 2.0, 3.0, 4.0]),
    )
    graph = csaw.graph(data)
    assert (graph.vertices, graph.multigraph) == (6, True)
    assert graph.load().weights.tolist() == [1.0, 2.0, 3.0, 4.0]
    assert csaw.graph(data, weights=[5, 6, 7, 8]).load().weights.tolist() == [5.0, 6.0, 7.0, 8.0]


def test_multigraphs_keep_repeated_edges_and_other_graphs_the_first():
    edges = [(0, 1, 1.0), (0, 1, 2.0)]
    assert csaw.graph(networkx_like(edges, multi=True)).edges == 2
    assert csaw.graph(networkx_like(edges, multi=True), duplicates="sum").load().weights.tolist() == [3.0]
    assert csaw.graph(edges).load().weights.tolist() == [1.0]
    assert csaw.graph(networkx_like([(0, 1), (1, 2)], directed=False)).edges == 4


def test_columns_of_tables_are_found_by_names_or_named():
    table = pandas_like([(1, "x", 2, 0.5), (2, "y", 3, 1.5)], names=("a", "kind", "b", "km"))
    with pytest.raises(FormatError, match="does not show which columns are the ends of an edge"):
        csaw.graph(table)
    graph = csaw.graph(table, source_column="a", target_column=3, weights="km")
    assert graph.vertex_ids().tolist() == [1, 2, 3]
    assert graph.load().weights.tolist() == [0.5, 1.5]


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (3, "graph: expected a store's path, .*; found builtins.int"),
        ({"a": 1}, "dict of neighbors: 'a': expected a list of vertices"),
        ({1, 2}, "found builtins.set"),
        ([], "list of edges: no edges found; expected at least one"),
        ([(0, 1), (1, 2, 3.0)], "for every edge, or"),
        ([(0, "a")], "expected vertex ids that are all integers or all strings, found both"),
        ([(0, 1), ((1, 2), 3)], r"found \(1, 2\) \(tuple\); number the vertices first"),
        ([(0, None)], r"expected an id at both ends of each edge, found None \(1 of 1\)"),
        ([(True, False)], r"found True \(bool\)"),
        ([(-1, 2**63)], "expected 64-bit ids"),
        ([(1, 2), (-1, 2), (2**63, 2)], "expected 64-bit ids"),
        ([(2**64, 1)], "expected 64-bit ids"),
        (np.zeros((2, 7), int), r"found the shape \(2, 7\); give its transpose, array.T"),
        (np.array([[0.5, 1.0]]), "expected vertex ids that are integers or strings, found 0.5"),
        (np.array([[np.nan, 1.0]]), r"found nan \(1 of 1\)"),
        (([0, 1], [1, 2, 3]), "expected as many targets as sources"),
        ((1, 2, 3, 4), "tuple: expected two or three columns"),
        (scipy.sparse.csr_array(np.ones((2, 3))), "expected as many rows as columns"),
        (of_library("torch", "Tensor", layout="torch.sparse_coo"), "found a sparse tensor"),
        (
            of_library("torch_geometric.data.hetero_data", "HeteroData"),
            "HeteroData: expected at least one edge type, found none",
        ),
        (of_library("polars.lazyframe.frame", "LazyFrame"), "a table of .* with __arrow_c_stream__ .*LazyFrame"),
        (networkx_like([]), "networkx graph: no vertices found"),
    ],
)
def test_what_is_no_graph_is_refused_with_a_sentence(data, said):
    with pytest.raises(CsawError, match=said):
        csaw.graph(data)


def test_options_that_do_not_suit_are_refused():
    with pytest.raises(OptionError, match="duplicates: only for graphs in memory; csaw.partition"):
        csaw.graph("karate", duplicates="sum")
    with pytest.raises(OptionError, match="colour: expected weights, directed, duplicates"):
        csaw.graph([(0, 1)], colour="red")
    with pytest.raises(OptionError, match="^duplicates: expected keep, first, error, sum, found 'last'"):
        csaw.graph([(0, 1)], duplicates="last")
    with pytest.raises(FormatError, match="some edges are repeated"):
        csaw.graph([(0, 1), (0, 1)], duplicates="error")
    with pytest.raises(OptionError, match="vertex_ids: list of edges: expected none, for the vertices have ids"):
        csaw.graph([(0, 1)], vertex_ids=["a", "b"])
    with pytest.raises(OptionError, match="expected a number for each of 1 edges"):
        csaw.graph([(0, 1)], weights=[1.0, 2.0])
    with pytest.raises(StoreError, match="expected finite numbers of at least 0"):
        csaw.graph([(0, 1, -1.0)])
    with pytest.raises(OptionError, match="no edge has the attribute 'length'"):
        csaw.graph(networkx_like([(0, 1)]), weights="length")
    with pytest.raises(OptionError, match="source_column, target_column: expected a table"):
        csaw.graph([(0, 1)], source_column="a")
    with pytest.raises(FormatError, match="add up to more than float32 can hold"):
        csaw.graph([(0, 1, 3e38), (0, 1, 3e38)], duplicates="sum")


def test_real_networkx(tmp_path):
    networkx = need_package("networkx")
    graph = networkx.DiGraph()
    graph.add_weighted_edges_from(EDGES)
    assert csaw.graph(graph).fingerprint == text_graph(tmp_path, EDGES, directed=True).fingerprint
    graph.add_node(100)
    assert csaw.graph(graph).vertices == 5
    assert csaw.graph(networkx.MultiGraph([(1, 2), (1, 2)])).edges == 4
    with pytest.raises(OptionError, match="number the vertices first"):
        csaw.graph(networkx.grid_graph((2, 2)))


def test_real_igraph(tmp_path):
    igraph = need_package("igraph")
    graph = igraph.Graph.TupleList(WORDS, directed=True, edge_attrs=["weight"])
    assert csaw.graph(graph).fingerprint == text_graph(tmp_path, WORDS, directed=True).fingerprint
    zachary = csaw.graph(igraph.Graph.Famous("Zachary"))
    assert (zachary.vertices, zachary.edges, zachary.directed) == (34, 156, False)


def test_real_pandas(tmp_path):
    pandas = need_package("pandas")
    table = pandas.DataFrame(WORDS, columns=["u", "v", "weight"])
    expected = text_graph(tmp_path, WORDS, directed=True).fingerprint
    assert csaw.graph(table).fingerprint == csaw.graph(table.astype({"u": "category"})).fingerprint == expected
    with pytest.raises(OptionError, match="expected an id at both ends of each edge"):
        csaw.graph(pandas.DataFrame({"u": pandas.array([1, None], dtype="Int64"), "v": [2, 3]}))


def test_real_polars(tmp_path):
    polars = need_package("polars")
    table = polars.DataFrame(WORDS, schema=["u", "v", "weight"], orient="row")
    assert csaw.graph(table).fingerprint == text_graph(tmp_path, WORDS, directed=True).fingerprint
    assert csaw.graph(table.lazy()).fingerprint == csaw.graph(table).fingerprint


@pytest.mark.parametrize("edges", [EDGES, WORDS], ids=["integers", "words"])
def test_real_arrow(tmp_path, edges):
    arrow = need_package("pyarrow")
    table = arrow.table(dict(zip(("src", "dst", "weight"), map(list, zip(*edges, strict=True)), strict=True)))
    expected = text_graph(tmp_path, edges, directed=True).fingerprint
    coded = table.set_column(0, "src", table.column(0).dictionary_encode())
    for held in (table, coded, table.to_batches()[0]):
        assert csaw.graph(held).fingerprint == expected
    with pytest.raises(FormatError, match="pyarrow Table: row 2, column u: expected a value, as an edge needs both"):
        csaw.graph(arrow.table({"u": [1, None], "v": [1, 2]}))


def test_real_torch():
    torch = need_package("torch")
    edges = torch.tensor([[0, 1, 2], [1, 2, 0]])
    assert csaw.graph(edges).load().indices.tolist() == [1, 2, 0]
    with pytest.raises(OptionError, match="found a sparse tensor"):
        csaw.graph(torch.eye(3).to_sparse())
    data = need_package("torch_geometric.data")
    assert csaw.graph(data.Data(edge_index=edges, num_nodes=5, edge_weight=torch.ones(3))).vertices == 5
    with pytest.raises(OptionError, match="HeteroData: expected at least one edge type, found none"):
        csaw.graph(data.HeteroData())


@pytest.mark.parametrize("name", ["", "when", "time"])
def test_a_time_by_name_of_edges_without_names_is_an_error_about_time(name):
    with pytest.raises(OptionError, match="^time: list: its columns have no names; give the array itself"):
        csaw.graph([(0, 1), (1, 2)], time=name)
    with pytest.raises(OptionError, match=f"^edge_columns: .*edge_columns={{'{name}x': ...}}"):
        csaw.graph([(0, 1), (1, 2)], edge_columns=[f"{name}x"])
