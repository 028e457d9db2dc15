"""Wrong arguments of the methods of streams, samples and graphs are csaw's errors, which name the argument."""

import datetime
import math
from pathlib import Path

import numpy as np
import pytest

import csaw
from csaw.engine import draw_batches, prepare
from csaw.engine.runs.sample_stream import Stream
from csaw.partition import read_edge_ids
from csaw.partition.errors import OptionError
from csaw.partition.graph.edge_columns import WEIGHT, EdgeColumn

ODD = [
    None,
    True,
    2.5,
    math.nan,
    "x",
    "",
    "3",
    b"x",
    [],
    [[]],
    {},
    {1},
    object(),
    int,
    1j,
    slice(None),
    Path("zz"),
    datetime.date(2026, 1, 1),
    10**30,
    np.array([1.5]),
    np.array(["x"]),
    np.array([None]),
    np.datetime64("2026-01-01"),
    np.float32(2),
]
NOT_NONE, NO_IDS = ODD[1:], [one for one in ODD if not isinstance(one, list | int | dict)]


def kind(value):
    return "object" if type(value) is object else repr(value)


@pytest.fixture(scope="module")
def graph():
    return csaw.graph([(1, 2, 1.0), (2, 3, 2.0), (3, 1, 4.0)])


@pytest.fixture(scope="module")
def samples(graph):
    return csaw.sample(graph, walk_length=3, seed=1)


@pytest.mark.parametrize("value", ODD, ids=kind)
def test_streams_refuse_what_is_no_number(graph, value):
    with csaw.stream(graph, walk_length=2) as stream:
        for given in ({"first": value, "last": 3}, {"first": 0, "last": value}, {"first": value, "last": value}):
            with pytest.raises(OptionError, match=r"first|last"):
                list(stream.draw(**given))
        for wrong in ({"rank": value}, {"world": value}, {"on_device": value}):
            if value is True:
                continue
            with pytest.raises(OptionError, match=next(iter(wrong))):
                csaw.stream(graph, walk_length=2, **wrong)
            with pytest.raises(OptionError, match=next(iter(wrong))):
                Stream(stream.job, **wrong)
        with pytest.raises(OptionError, match="job: expected a job"):
            Stream(value)
        assert len(list(stream.draw(0, 3))) == 1


@pytest.mark.parametrize("value", NO_IDS, ids=kind)
def test_names_are_those_of_integers(graph, samples, value):
    with csaw.stream(graph, walk_length=2) as stream:
        for names in (stream.names, samples.names):
            with pytest.raises(OptionError, match="vertices: expected"):
                names(value)


@pytest.mark.parametrize("last", [-1, 5, 2**63 - 1, -(2**63)])
def test_streams_refuse_instances_that_there_are_not(graph, last):
    with csaw.stream(graph, walk_length=2, instances=3) as stream:
        with pytest.raises(OptionError, match="first and last: expected 0 <= first <= last <= 3"):
            stream.draw(0, last)
        with pytest.raises(OptionError, match="rank: expected 0 <= rank < world"):
            Stream(stream.job, rank=2, world=2)


@pytest.mark.parametrize("value", NOT_NONE, ids=kind)
def test_batches_refuse_what_is_no_number(graph, value):
    with pytest.raises(OptionError, match="last: expected"):
        draw_batches(prepare(graph, walk_length=2), 0, value)
    with pytest.raises(OptionError, match="job: expected a job"):
        draw_batches(value)


@pytest.mark.parametrize("value", [*NOT_NONE, 0, -1], ids=kind)
def test_groups_have_a_whole_number_of_instances(samples, value):
    with pytest.raises(OptionError, match="size: expected an integer from 1"):
        samples.iter_groups(value)
    assert [start for start, _ in samples.iter_groups(2)] == [0, 2]


@pytest.mark.parametrize("value", [one for one in ODD if not (isinstance(one, list) and not one)], ids=kind)
def test_loaded_columns_are_those_of_the_graph(graph, value):
    with pytest.raises(OptionError, match="columns: expected"):
        graph.load(value)


def test_a_column_that_the_graph_lacks_is_refused(graph, tmp_path):
    other, stored = EdgeColumn.named("x", "int64"), csaw.partition([(1, 2), (2, 1)], tmp_path / "g.zarr")
    for each, has in ((graph, "which has weight:float32, found x:int64"), (stored, "which has none, found x:int64")):
        with pytest.raises(OptionError, match=has):
            each.load([other])
    assert graph.load([WEIGHT]).columns["weight"].tolist() == graph.load().weights.tolist()


@pytest.mark.parametrize("value", [*ODD, -1, 9], ids=kind)
def test_a_partition_is_a_number_of_one(graph, value):
    with pytest.raises(OptionError, match="number: expected"):
        graph.read_partition(value, np.empty(graph.edges, graph.id_dtype))


WRONG_ROOM = [
    np.zeros(2, np.uint32),
    np.zeros(7, np.uint32),
    np.zeros(6, np.int64),
    np.zeros(6, np.float32),
    np.zeros((6, 1), np.uint32),
    np.arange(12, dtype=np.uint32)[::2],
    np.frombuffer(bytes(24), np.uint32),
]


@pytest.mark.parametrize("value", [*ODD, *WRONG_ROOM], ids=kind)
def test_a_partition_fills_arrays_of_its_size_and_type(graph, value):
    indices, weights = np.empty(graph.edges, graph.id_dtype), np.empty(graph.edges, np.float32)
    with pytest.raises(OptionError, match="indices_out: expected"):
        graph.read_partition(0, value)
    if value is not None and not (isinstance(value, np.ndarray) and value.dtype == np.float32):
        with pytest.raises(OptionError, match="weights_out: expected"):
            graph.read_partition(0, indices, value)
    graph.read_partition(0, indices, weights)
    assert (indices == graph.load().indices).all()
    assert (weights == graph.load().weights).all()


def test_a_graph_without_weights_has_none_to_read():
    graph = csaw.graph([(1, 2), (2, 3)])
    with pytest.raises(OptionError, match="weights_out: expected None, because .* has no weights"):
        graph.read_partition(0, np.empty(graph.edges, graph.id_dtype), np.empty(graph.edges, np.float32))


@pytest.mark.parametrize("value", ODD, ids=kind)
def test_rows_of_the_input_are_those_of_an_open_store(tmp_path, value):
    (tmp_path / "e.txt").write_text("1 2\n2 3\n")
    graph = csaw.partition(tmp_path / "e.txt", tmp_path / "g.zarr", edge_ids=True)
    for wrong in (value, str(graph.path), graph.path):
        with pytest.raises(OptionError, match="store: expected an open graph store, as csaw.open_graph returns it"):
            read_edge_ids(wrong)
    assert read_edge_ids(graph, np.array([0])).tolist() == [0]


def test_a_path_that_fails(tmp_path):
    class Fails:
        def __fspath__(self):
            raise ArithmeticError

    for call in (
        csaw.graph,
        csaw.sample,
        csaw.evaluate,
        csaw.verify,
        lambda value: csaw.partition(value, tmp_path / "g"),
    ):
        with pytest.raises(OptionError, match=r"expected a path, found .*; its __fspath__ ended in ArithmeticError"):
            call(Fails())
