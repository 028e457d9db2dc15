"""Claims of what a program gives as ids, weights and options: it is read for what it says, or refused with a sentence;
no part of it is lost on the way.
"""

import decimal
import fractions
import subprocess
import sys

import numpy as np
import pytest
import scipy.sparse
from helpers.machine import need_package

import csaw
from csaw.partition.errors import BudgetError, CsawError, FormatError, OptionError, StoreError

ENDS = ([0, 1, 2], [1, 2, 0])
ROWS = {"indptr": np.array([0, 1, 2, 3]), "indices": np.array([1, 2, 0])}


@pytest.mark.parametrize(
    ("weights", "said"),
    [
        (np.array([1, 2, 3]) + 0j, "found complex numbers"),
        ([1, 2j, 3], "found complex numbers"),
        (np.array([1, 2j, "x"], object), r"found 2j \(complex\)"),
        (np.ma.array([1.0, 2.0, 3.0], mask=[0, 1, 0]), "1 of 3 masked"),
        ([1.0, 10**400, 2.0], "the first of them inf at position 1"),
        (
            [1.0, 1e-46, 2.0],
            "found 1 others, the first of them 1e-46 at position 1; float32 holds positive ones from 1e-45",
        ),
        ([1.0, decimal.Decimal("1e-400"), 2.0], "float32 holds"),
        ([1.0, fractions.Fraction(1, 10**400), 2.0], "float32 holds"),
        ([1.0, 1e39, 2.0], "float32 holds"),
        ([1.0, None, 2.0], "found None"),
        ([[1.0], [2.0, 3.0], [4.0]], "cannot be read"),
        (np.arange(3).astype("M8[s]"), "found times"),
        (np.zeros(3, [("a", float)]), r"found \[\('a'"),
        (np.ones((3, 1)), r"found the shape \(3, 1\)"),
        (5, r"found the shape \(\)"),
        ("length", "weights"),
    ],
)
def test_weights_that_are_none_are_refused(weights, said):
    for ask in (
        lambda: csaw.graph(ENDS, weights=weights),
        lambda: csaw.graph(**ROWS, weights=weights),
        lambda: csaw.graph(**ROWS, weights=weights, directed=True),
    ):
        with pytest.raises((OptionError, StoreError), match=said):
            ask()


@pytest.mark.parametrize(
    "weights",
    [
        [decimal.Decimal("0.5"), fractions.Fraction(1, 4), 2],
        np.array([0.5, 0.25, 2], ">f8"),
        np.array([0.5, 0.25, 2], np.float16),
        ["0.5", ".25", "2"],
        np.ma.array([0.5, 0.25, 2.0]),
        np.repeat([0.5, 0.25, 2.0], 2)[::2],
        np.array([0.5, 0.25, 2], np.longdouble),
    ],
)
def test_weights_of_any_type_that_say_a_number_are_read(weights):
    assert csaw.graph(ENDS, weights=weights).load().weights.tolist() == [0.5, 0.25, 2.0]


def test_weights_at_the_ends_of_float32_are_kept_and_of_minus_zero_the_sign_goes():
    held = csaw.graph(ENDS, weights=[7.1e-46, -0.0, 3.4028235e38])
    assert held.load().weights.tolist() == [2.0**-149, 0.0, 3.4028234663852886e38]
    assert held.fingerprint == csaw.graph(ENDS, weights=[2.0**-149, 0.0, 3.4028235e38]).fingerprint


@pytest.mark.parametrize("name", ["indptr", "indices"])
@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda a: a + 0.5, "numbers with a point"),
        (lambda a: a + 0.0, "with a point"),
        (lambda a: a + 0j, "complex numbers"),
        (lambda a: a > 0, "truths"),
        (lambda a: a[None], r"shape \[1, "),
        (lambda a: [10**400] * a.size, "objects"),
        (lambda a: a.astype("M8[ns]"), "times"),
        (lambda a: np.ma.array(a, mask=True), "masked"),
        (lambda a: 5, "shape"),
        (lambda a: "0 1", "of the shape"),
    ],
)
def test_offsets_and_indices_that_are_no_integers_are_refused(name, change, said):
    for how in ({}, {"duplicates": "keep"}):
        with pytest.raises(OptionError, match=f"{name}: .*{said}"):
            csaw.graph(**ROWS | {name: change(ROWS[name])}, **how)


@pytest.mark.parametrize(
    ("column", "said"),
    [
        (np.ma.array([0, 1, 2], mask=[1, 0, 0]), "1 of 3 masked"),
        (np.arange(3).astype("M8[ns]"), "found datetime64"),
        (np.arange(3).astype("m8[ns]"), "found timedelta64"),
        (np.arange(3) + 0j, "found complex128"),
        (np.zeros(3, [("a", int)]), "integers or strings"),
        ("abc", "expected a column of values"),
        ({0: 1, 1: 2, 2: 3}, "expected a column of values"),
        ({0, 1, 2}, "expected a column of values, found {0"),
        (7, "expected a column of values, found 7"),
        ([0, 1, 10**400], "64-bit ids"),
    ],
)
def test_columns_that_are_no_ids_are_refused(column, said):
    for data in ((column, [1, 2, 3]), ([1, 2, 3], column)):
        with pytest.raises(OptionError, match=said):
            csaw.graph(data)


def broken(form, name, change):
    matrix = scipy.sparse.csr_matrix(np.array([[0.0, 2, 0], [0, 0, 3], [4, 0, 0]])).asformat(form)
    array = change(getattr(matrix, name))
    if name in ("row", "col"):
        matrix.coords = (array, matrix.col) if name == "row" else (matrix.row, array)
    else:
        setattr(matrix, name, array)
    return matrix


@pytest.mark.parametrize(
    ("form", "name", "change", "said"),
    [
        ("csr", "indptr", lambda a: np.array([0, 3, 1, 3]), "indptr: expected 4 offsets that increase"),
        (
            "csr",
            "indptr",
            lambda a: np.array([0, 10**9, -(10**9), 0]),
            "indptr: expected 4 offsets that increase from 0",
        ),
        ("csr", "indptr", lambda a: a[:-1], "indptr: expected 4 offsets"),
        ("csr", "indptr", lambda a: np.array([0, 1, 2, 10**9]), "to at most 3, the number of indices"),
        ("csr", "indptr", lambda a: a + 0.0, "indptr: expected an array of integers"),
        ("csr", "indices", lambda a: a + 10**8, "indices: expected places from 0 to 2"),
        ("csc", "indices", lambda a: a - 10**8, "indices: expected places from 0 to 2, found -"),
        ("csc", "data", lambda a: a[:-1], "data: expected an entry for each of 3"),
        ("csr", "data", lambda a: a + 1j, "complex"),
        ("bsr", "indices", lambda a: a + 10**8, "indices: expected places"),
        ("coo", "row", lambda a: a + 10**8, "row: expected places"),
        ("coo", "col", lambda a: a[:-1], "expected a row, a column and a value"),
        ("dia", "offsets", lambda a: a[:-1], "expected a row for each"),
    ],
)
def test_matrices_whose_arrays_contradict_each_other_are_refused(form, name, change, said):
    with pytest.raises(OptionError, match=f"sparse matrix.*{said}|weights: sparse matrix.*{said}"):
        csaw.graph(broken(form, name, change))


def test_a_matrix_that_would_end_the_process_does_not():
    lines = (
        "import numpy, scipy.sparse, csaw; m = scipy.sparse.eye(3, format='csr'); m.indices = m.indices + "
        "10**9\ntry: csaw.graph(m)\nexcept csaw.CsawError as e: print(e)"
    )
    done = subprocess.run([sys.executable, "-c", lines], capture_output=True, text=True, check=True)
    assert "indices: expected places from 0 to 2, found 1,000,000,000" in done.stdout


def test_room_behind_the_entries_of_a_matrix_is_no_edge():
    matrix = scipy.sparse.csr_matrix(([2.0, 3.0], [1, 0], [0, 1, 2]), shape=(2, 2))
    matrix.data, matrix.indices = np.array([2.0, 3.0, 9.0, 9.0]), np.array([1, 0, 1, 1])
    assert csaw.graph(matrix).load().weights.tolist() == [2.0, 3.0]
    assert matrix.indices.size == 4  # it is the user's


@pytest.mark.parametrize(
    "names",
    [
        ["source", "source", "target"],
        ["target", "x", "y"],
        ["target", "target", "weight"],
        ["x", "x", "y"],
        ["source", "target", "target"],
    ],
)
def test_tables_whose_names_contradict_each_other_are_refused_as_csv_is(tmp_path, names):
    rows = [(1, 2, 3), (4, 5, 6)]
    (tmp_path / "e.csv").write_text("\n".join(",".join(map(str, row)) for row in [names, *rows]) + "\n")
    with pytest.raises(CsawError, match="does not show which columns are the ends"):
        csaw.partition(tmp_path / "e.csv", tmp_path / "g.zarr")
    pandas, pyarrow = (need_package(name) for name in ("pandas", "pyarrow"))
    arrays = [pyarrow.array(column) for column in zip(*rows, strict=True)]
    for table in (pandas.DataFrame(rows, columns=names), pyarrow.Table.from_arrays(arrays, names=names)):
        with pytest.raises(CsawError, match="does not show which columns are the ends"):
            csaw.graph(table)


def test_tables_with_two_pairs_of_ends_are_refused_unless_one_is_chosen():
    pandas = need_package("pandas")
    table = pandas.DataFrame([(1, 2, 3, 4)], columns=["src", "dst", "from", "to"])
    with pytest.raises(CsawError, match=r"'src' -> 'dst' .*, or 'from' -> 'to' .*Choose with source_column"):
        csaw.graph(table)
    assert csaw.graph(table, source_column="from").vertex_ids().tolist() == [3, 4]


def test_tables_whose_names_say_where_the_weights_are_are_read_so():
    pandas = need_package("pandas")
    held = csaw.graph(pandas.DataFrame([(0.5, 1, 2)], columns=["weight", "a", "b"]))
    assert (held.vertex_ids().tolist(), held.load().weights.tolist()) == ([1, 2], [0.5])
    for data in (pandas.Series([1, 2]), pandas.Index([1, 2])):
        with pytest.raises(OptionError, match=r"expected a pandas.DataFrame"):
            csaw.graph(data)


def test_columns_of_polars_that_are_no_ids():
    polars = need_package("polars")
    ids = polars.Series("u", [1, 2**63 + 1], dtype=polars.Int128)
    with pytest.raises(OptionError, match="polars DataFrame: expected .*, found one that cannot be read"):
        csaw.graph(polars.DataFrame([ids, polars.Series("v", [2, 1])]))
    assert csaw.graph(
        polars.DataFrame([ids.cast(polars.UInt64), polars.Series("v", [2, 1])])
    ).vertex_ids().tolist() == [1, 2, 2**63 + 1]
    dates = polars.DataFrame([polars.Series("u", np.arange(2).astype("M8[ns]")), polars.Series("v", [1, 2])])
    with pytest.raises(FormatError, match=r"column u holds timestamp\[ns\], expected integers or strings"):
        csaw.graph(dates)


@pytest.mark.parametrize("value", [2, 2.0, np.int32(2), [2], (2,)])
def test_a_fanout_of_one_hop_is_a_number(value):
    drawn = csaw.sample([(0, 1), (0, 2), (0, 3)], algo="neighbor", fanout=value, sources=[0], device="cpu")
    assert drawn.hops[1].shape == (1, 2)


@pytest.mark.parametrize(
    "value", [b"1", b"25,10", {1: 2}, {1}, np.array([[1]]), 1j, object(), iter([1]), [b"1"], [1.5], np.array([1.5])]
)
def test_values_that_are_no_integers_are_no_fanout(value):
    with pytest.raises(OptionError, match="^fanout: expected integers such as 25,10"):
        csaw.sample([(0, 1)], algo="neighbor", fanout=value, device="cpu")


@pytest.mark.parametrize(
    "options",
    [
        {"p": b"1"},
        {"p": np.complex128(1 + 2j)},
        {"p": np.array([1.0, 2.0])},
        {"p": 10**400},
        {"device": np.array([1, 2])},
        {"walk_length": np.array([1, 2])},
        {"sources": np.array([True])},
        {"sources": {1}},
        {"sources": np.ma.array([1], mask=[1])},
        {"sources": np.array([1], "M8[ns]")},
        {"num_walks": b"1"},
        {"seed": 1j},
    ],
)
def test_option_values_of_odd_types_are_refused(options):
    [name] = options
    with pytest.raises(OptionError, match=f"^{name}: expected"):
        csaw.sample([(0, 1), (1, 0)], algo="node2vec", **{"device": "cpu", "walk_length": 2} | options)


def test_sources_beyond_int64_are_found_in_a_list():
    walks = csaw.sample([(1, 2**63), (2**63, 1)], algo="deepwalk", walk_length=2, sources=[1, 2**63], device="cpu")
    assert walks.walks[:, 0].tolist() == [1, 2**63]


def test_vertices_that_no_memory_holds_are_refused():
    from csaw.partition.ingestion.objects import Edges

    with pytest.raises(BudgetError, match="rows of 1,000,000,000,000,000,000 vertices"):
        csaw.graph(Edges("edges", [0], [1], vertices=10**18))


def test_no_vertex_has_no_id_of_the_input():
    numbers, words = csaw.graph([(5, 6), (7, 5)]), csaw.graph([("a", "b"), ("b", "c")])
    assert numbers.original_ids(np.array([[0, -1], [2, 1]])).tolist() == [[5, -1], [7, 6]]
    assert words.original_ids(np.array([2, -1], np.int32)).tolist() == ["c", ""]
    for graph, wrong in ((numbers, 3), (words, -2), (numbers, 2**32 - 1)):
        with pytest.raises(
            OptionError, match=f"vertex {wrong}: expected numbers of vertices from 0 to 2, or -1 for none"
        ):
            graph.original_ids(np.array([0, wrong]))
    with pytest.raises(OptionError, match="use every number"):
        csaw.graph([(-1, 6), (7, -5)]).original_ids(np.array([-1]))
