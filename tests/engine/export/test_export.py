"""Claims of export: the file holds the samples' original ids, whole or not at all, in the format its name says."""

import csv
import gzip
import json
import resource
import subprocess
import xml.etree.ElementTree as xml

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner
from helpers import slow
from helpers.machine import need_package
from helpers.small_samples import python

from csaw.cli.commands.export import export as command
from csaw.engine.export import formats
from csaw.engine.samples import ahead, files
from csaw.engine.stores import open_samples
from csaw.engine.stores.export import export
from csaw.partition import IngestOptions, ingest
from csaw.partition.base.version import VERSION
from csaw.partition.errors import MissingDependencyError, OptionError, StoreError

SAID = {"request": {"algorithm": "deepwalk", "parameters": {"walk_length": 3}, "seed": 1}}
N = slow.NONE
WALKS = {"walks": np.array([[0, 1, 2, 3], [2, N, N, N], [3, 0, N, N]], np.uint32), "lengths": np.array([3, 0, 1])}
HOPS = {
    "hop_0": np.array([[0], [3]], np.uint32),
    "hop_1": np.array([[1, 2], [0, N]], np.uint32),
    "hop_2": np.array([[2, 3, 0, N], [1, 2, N, N]], np.uint32),
}
HOP_EDGES = [
    (0, 0, 1, 0),
    (0, 0, 2, 0),
    (0, 1, 2, 1),
    (0, 1, 3, 1),
    (0, 2, 0, 1),
    (1, 3, 0, 0),
    (1, 0, 1, 1),
    (1, 0, 2, 1),
]
SUBGRAPHS = {
    "counts": np.array([2, 0, 1]),
    "src": np.array([0, 1, 3], np.uint32),
    "dst": np.array([1, 2, 0], np.uint32),
    "depth": np.array([0, 1, 0]),
    "source_counts": np.array([1, 1, 1]),
    "sources": np.array([0, 2, 3], np.uint32),
}
SUBGRAPH_EDGES = [(0, 0, 1, 0), (0, 1, 2, 1), (1, 2, None, None), (2, 3, 0, 0)]  # vertex 2 has no edge
IDS = {
    "identity": None,
    "small": np.array([7, 10, 9999, 10000]),
    "large": np.array([0, 5, 2**63, 2**64 - 1], np.uint64),
    "negative": np.array([-(2**63), -10000, -1, 2**63 - 1]),
    "strings": np.array(["a", "bc", "ü", "d" * 40]),
}
XML = "{http://graphml.graphdrawing.org/xmlns}"
LAYOUTS = {"walks": (WALKS, None), "hops": (HOPS, HOP_EDGES), "subgraphs": (SUBGRAPHS, SUBGRAPH_EDGES)}


@pytest.fixture(params=IDS)
def ids(request):
    return IDS[request.param]


def stored(tmp_path, layout, ids=None, group_size=2):
    return slow.write(tmp_path / "s", SAID, layout, LAYOUTS[layout][0], group_size=group_size, vertex_ids=ids)


def named(ids, vertex):
    return vertex if ids is None else ids[vertex].item()


def walks_of(ids):
    return [
        [named(ids, v) for v in row[: n + 1]] for row, n in zip(WALKS["walks"].tolist(), WALKS["lengths"], strict=True)
    ]


def edges_of(ids, layout, end=None, depth=None):
    """The rows of edges; ``end`` and ``depth``: what stands for none."""
    rows = LAYOUTS[layout][1]
    return [(i, named(ids, a), end if b is None else named(ids, b), depth if d is None else d) for i, a, b, d in rows]


@pytest.mark.parametrize("suffix", ["txt", "txt.gz"])
def test_text_has_a_walk_a_line_with_original_ids(tmp_path, ids, suffix):
    export(stored(tmp_path, "walks", ids), tmp_path / f"out.{suffix}")
    data = (tmp_path / f"out.{suffix}").read_bytes()
    text = (gzip.decompress(data) if suffix == "txt.gz" else data).decode()
    assert text == "".join(" ".join(map(str, walk)) + "\n" for walk in walks_of(ids))


@pytest.mark.parametrize("layout", ["hops", "subgraphs"])
def test_text_of_other_samples_has_an_edge_a_line(tmp_path, ids, layout):
    export(stored(tmp_path, layout, ids), tmp_path / "out.txt")
    rows = edges_of(ids, layout, "", "")
    assert (tmp_path / "out.txt").read_text() == "".join(" ".join(map(str, row)).rstrip() + "\n" for row in rows)


def test_every_number_of_digits_is_written_as_python_does(tmp_path):
    powers = sorted({abs(10**k + step) for k in range(19) for step in (-1, 0, 1)} | {2**63 - 1})
    ids = np.array([-v for v in powers[::-1] if v] + powers)
    walks = np.arange(len(ids), dtype=np.uint32)[None, :]
    path = slow.write(
        tmp_path / "s", SAID, "walks", {"walks": walks, "lengths": np.array([len(ids) - 1])}, vertex_ids=ids
    )
    export(path, tmp_path / "out.txt")
    assert (tmp_path / "out.txt").read_text() == " ".join(map(str, ids.tolist())) + "\n"


def test_npy_holds_the_walks_and_records_of_edges(tmp_path, ids):
    export(stored(tmp_path, "walks", ids), tmp_path / "walks.npy")
    walks = np.load(tmp_path / "walks.npy")
    assert walks.shape == (3, 4)
    assert [row[: n + 1].tolist() for row, n in zip(walks, WALKS["lengths"], strict=True)] == walks_of(ids)
    for layout in ("hops", "subgraphs"):
        (tmp_path / layout).mkdir()
        export(path := stored(tmp_path / layout, layout, ids), tmp_path / f"{layout}.npy")
        table, held = np.load(tmp_path / f"{layout}.npy"), open_samples(path)
        none = held.fill if held.words is None else ""
        assert [tuple(row) for row in table.tolist()] == edges_of(ids, layout, none, -1)


def test_parquet_has_a_row_group_for_every_group(tmp_path, ids):
    export(stored(tmp_path, "walks", ids), tmp_path / "walks.parquet")
    table = pq.read_table(tmp_path / "walks.parquet")
    assert table.column("walk").to_pylist() == walks_of(ids)
    assert table.column("instance").to_pylist() == [0, 1, 2]
    assert pq.ParquetFile(tmp_path / "walks.parquet").num_row_groups == 2
    for layout in ("hops", "subgraphs"):
        (tmp_path / layout).mkdir()
        export(stored(tmp_path / layout, layout, ids), tmp_path / f"{layout}.parquet")
        rows = pq.read_table(tmp_path / f"{layout}.parquet").to_pylist()
        assert [tuple(row.values()) for row in rows] == edges_of(ids, layout)


@pytest.mark.parametrize("vertices", [4, 10**5])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_parquet_has_the_bytes_that_one_writer_would_have_written(tmp_path, layout, vertices):
    """Ids that are sparse among the vertices of a graph are numbers of a dictionary."""
    ids = np.array([17, 5000, 700000, 900000])
    said = SAID | {"graph": {"vertices": vertices}}
    path = slow.write(tmp_path / "s", said, layout, LAYOUTS[layout][0], group_size=1, vertex_ids=ids)
    export(path, tmp_path / "out.parquet")
    read = pq.read_schema(tmp_path / "out.parquet")
    lists = [f.with_type(pa.list_(f.type.value_type)) if pa.types.is_list(f.type) else f for f in read]
    schema = pa.schema(lists, metadata=read.metadata)
    whole = pq.read_table(tmp_path / "out.parquet").cast(schema)
    paths = [column.path for column in map(pq.ParquetFile(tmp_path / "out.parquet").schema.column, range(len(schema)))]
    apart = {"walk.list.element", "src", "dst"} & set(paths) if vertices == 4 else set()
    how = {
        "use_dictionary": sorted(apart),
        "compression": {path: "SNAPPY" if path in apart else "NONE" for path in paths},
        "column_encoding": dict.fromkeys(set(paths) - apart, "DELTA_BINARY_PACKED"),
    }
    with pq.ParquetWriter(tmp_path / "one.parquet", schema, **how) as writer:
        for instance in range(open_samples(path).instances):
            writer.write_table(whole.filter(pc.field("instance") == instance).combine_chunks())
    assert (tmp_path / "out.parquet").read_bytes() == (tmp_path / "one.parquet").read_bytes()


@pytest.fixture
def parts_of_a_group(monkeypatch):
    """Each group is a part of its own, as if it were large."""
    monkeypatch.setattr("csaw.engine.export.writers.parquet.PART", 1)


def names_in(folder):
    return sorted(file.name for file in folder.iterdir())


@pytest.mark.usefixtures("parts_of_a_group")
@pytest.mark.parametrize("layout", LAYOUTS)
def test_parts_have_the_rows_of_one_file_in_its_order(tmp_path, monkeypatch, ids, layout):
    path, out = stored(tmp_path, layout, ids, group_size=1), tmp_path / "out.parquet"
    found = set()
    for threads in (1, 3):
        summary = export(path, out, threads=threads, overwrite=True)
        held = [file.read_bytes() for file in sorted(out.iterdir())]
        assert (summary["parts"], summary["bytes"]) == (len(held), sum(map(len, held)))
        found.add(tuple(held))
    assert len(found) == 1
    assert names_in(out) == [f"part-{number:05d}.parquet" for number in range(open_samples(path).instances)]
    monkeypatch.setattr("csaw.engine.export.writers.parquet.PART", 1 << 27)
    export(path, tmp_path / "one.parquet")
    one, several = pq.read_table(tmp_path / "one.parquet"), pq.read_table(out)
    assert (several.to_pylist(), several.schema) == (one.to_pylist(), one.schema)
    assert several.schema.metadata == one.schema.metadata


@pytest.mark.usefixtures("parts_of_a_group")
@pytest.mark.filterwarnings("ignore:.*inplace:DeprecationWarning")  # Dask's call of pandas
def test_pandas_polars_and_dask_read_a_folder_of_parts(tmp_path):
    export(stored(tmp_path, "hops", IDS["strings"], group_size=1), tmp_path / "out.parquet")
    rows = edges_of(IDS["strings"], "hops")
    frames = need_package("pandas").read_parquet(tmp_path / "out.parquet")
    assert list(frames.itertuples(index=False, name=None)) == rows
    assert need_package("polars").read_parquet(tmp_path / "out.parquet").rows() == rows
    read = need_package("dask.dataframe").read_parquet(tmp_path / "out.parquet").compute()
    assert list(read.itertuples(index=False, name=None)) == rows


@pytest.mark.usefixtures("parts_of_a_group")
def test_parts_are_replaced_only_when_asked_and_whole(tmp_path, monkeypatch):
    path, out = stored(tmp_path, "walks", group_size=1), tmp_path / "out.parquet"
    out.write_text("a file, as a small sample is")
    with pytest.raises(StoreError, match="pass overwrite=True"):
        export(path, out)
    export(path, out, overwrite=True)
    with pytest.raises(StoreError, match="pass overwrite=True"):
        export(path, out)
    held = [file.read_bytes() for file in sorted(out.iterdir())]
    (path / "walks" / "c.1.0").rename(tmp_path / "elsewhere")
    with pytest.raises(StoreError, match="missing"):
        export(path, out, overwrite=True)
    assert [file.read_bytes() for file in sorted(out.iterdir())] == held
    (tmp_path / "elsewhere").rename(path / "walks" / "c.1.0")
    (out / "notes.txt").write_text("mine")
    with pytest.raises(StoreError, match=r"holds notes\.txt, which csaw did not write"):
        export(path, out, overwrite=True)
    (out / "notes.txt").unlink()
    with pytest.raises(StoreError, match="is a folder of Parquet files, not a regular file"):
        export(path, out, "text", overwrite=True)
    monkeypatch.setattr("csaw.engine.export.writers.parquet.PART", 1 << 27)
    export(path, out, overwrite=True)
    assert pq.read_table(out).column("instance").to_pylist() == [0, 1, 2]
    assert names_in(tmp_path) == ["out.parquet", "s"]


@pytest.mark.usefixtures("parts_of_a_group")
@pytest.mark.parametrize("name", ["out.parquet", "out.txt"])
def test_what_a_kill_has_left_of_another_format_is_in_nobodys_way(tmp_path, name):
    path, draft = stored(tmp_path, "walks", group_size=1), tmp_path / f".{name}.csaw-draft"
    for is_file in (True, False):
        if is_file:
            draft.write_text("half")
        else:
            draft.mkdir()
            (draft / "part-00000.parquet").write_text("half")
        export(path, tmp_path / name, overwrite=True)
        assert names_in(tmp_path) == [name, "s"]


@pytest.mark.usefixtures("parts_of_a_group")
def test_an_interrupt_leaves_no_part(tmp_path, monkeypatch):
    path = stored(tmp_path, "walks", group_size=1)

    def interrupted(done):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        export(path, tmp_path / "out.parquet", update=interrupted)
    assert names_in(tmp_path) == ["s"]


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("kind", ["small", "strings"])
def test_parquet_says_what_the_samples_are(tmp_path, layout, kind):
    export(stored(tmp_path, layout, IDS[kind]), tmp_path / "out.parquet")
    schema = pq.read_schema(tmp_path / "out.parquet")
    said = {key.decode(): value.decode() for key, value in schema.metadata.items()}
    assert (said["algorithm"], said["seed"], said["layout"]) == ("deepwalk", "1", layout)
    assert json.loads(said["parameters"]) == {"walk_length": 3}
    assert said["csaw_version"] == VERSION
    assert all(field.metadata[b"units"] in (b"1", b"count") and field.metadata[b"description"] for field in schema)
    column = schema.field("walk" if layout == "walks" else "src").type
    vertex = pa.string() if kind == "strings" else pa.int64()
    assert column == (pa.list_(vertex) if layout == "walks" else vertex)


@pytest.mark.parametrize("suffix", ["csv", "csv.gz"])
def test_csv_has_a_walk_or_an_edge_a_row(tmp_path, ids, suffix):
    def rows(layout):
        (tmp_path / layout).mkdir()
        export(stored(tmp_path / layout, layout, ids), tmp_path / f"{layout}.{suffix}")
        opened = gzip.open if suffix == "csv.gz" else open
        with opened(tmp_path / f"{layout}.{suffix}", "rt", newline="", encoding="utf-8") as file:
            return list(csv.reader(file))

    header, *found = rows("walks")
    assert header == ["instance", "v0", "v1", "v2", "v3"]
    assert found == [[str(k), *map(str, walk), *[""] * (4 - len(walk))] for k, walk in enumerate(walks_of(ids))]
    for layout in ("hops", "subgraphs"):
        header, *found = rows(layout)
        assert header == ["instance", "src", "dst", "depth"]
        assert found == [list(map(str, row)) for row in edges_of(ids, layout, "", "")]


def test_csv_puts_ids_in_quotes_where_they_need_them(tmp_path):
    odd = np.array(["a,b", 'say "x"', "#c", " d\t"])
    export(stored(tmp_path, "walks", odd), tmp_path / "out.csv")
    with (tmp_path / "out.csv").open(newline="") as file:
        assert [
            row[1 : len(walk) + 1] for row, walk in zip(list(csv.reader(file))[1:], walks_of(odd), strict=True)
        ] == walks_of(odd)


def test_walks_without_a_limit_are_no_csv(tmp_path):
    path = slow.write(
        tmp_path / "s", SAID, "ragged-walks", {"lengths": np.array([1]), "walks": np.array([0, 1], np.uint32)}
    )
    with pytest.raises(OptionError, match="do not fit the table of a .csv file"):
        export(path, tmp_path / "out.csv")
    export(path, tmp_path / "out.graphml")
    assert (tmp_path / "out.graphml").read_text().count("<edge") == 1


@pytest.mark.parametrize("layout", LAYOUTS)
def test_graphml_has_every_vertex_and_edge_of_every_instance(tmp_path, ids, layout):
    export(stored(tmp_path, layout, ids), tmp_path / "out.graphml")
    graph = xml.parse(tmp_path / "out.graphml").getroot().find(f"{XML}graph")
    held = {node.get("id"): {data.get("key"): data.text for data in node} for node in graph.iter(f"{XML}node")}
    lines = [
        (held[e.get("source")], held[e.get("target")], int(e.find(f"{XML}data").text)) for e in graph.iter(f"{XML}edge")
    ]
    assert all(a["instance"] == b["instance"] for a, b, _ in lines)
    walks = walks_of(ids)
    rows = [(i, w[k], w[k + 1], k) for i, w in enumerate(walks) for k in range(len(w) - 1)]
    rows = rows if layout == "walks" else edges_of(ids, layout)
    made = [(int(a["instance"]), a["vertex"], b["vertex"], depth) for a, b, depth in lines]
    assert sorted(made) == sorted((i, str(a), str(b), depth) for i, a, b, depth in rows if depth is not None)
    ends = {(i, str(v)) for i, a, b, _ in rows for v in (a, b) if v is not None}
    ends |= {(i, str(w[0])) for i, w in enumerate(walks)} if layout == "walks" else set()
    assert sorted(held) == sorted(f"{i}:{v}" for i, v in ends)


def test_networkx_reads_the_graphml(tmp_path):
    networkx = need_package("networkx")
    export(stored(tmp_path, "subgraphs", IDS["strings"]), tmp_path / "out.graphml")
    found = networkx.read_graphml(tmp_path / "out.graphml")
    assert found.graph["algorithm"] == "deepwalk"
    assert {(data["instance"], data["vertex"]) for _, data in found.nodes(data=True)} >= {(0, "a"), (1, "ü")}
    assert [depth for *_, depth in found.edges(data="depth")] == [0, 1, 0]


@pytest.mark.parametrize("suffix", ["npy", "npz", "parquet"])
def test_an_export_without_text_loads_no_compiler(tmp_path, suffix):
    path = stored(tmp_path, "walks", IDS["small"])
    said = (
        f"import sys; from csaw.engine.stores.export import export; export({str(path)!r}, {str(tmp_path / 'out')!r} + "
        f"'.{suffix}'); print('numba' in sys.modules)"
    )
    done = subprocess.run(**python(said), capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


@pytest.mark.parametrize("kind", ["numbers", "strings"])
@pytest.mark.parametrize("suffix", ["txt", "txt.gz", "csv", "graphml", "npy", "parquet", "arrow", "npz"])
def test_neither_threads_nor_pieces_change_a_byte(tmp_path, monkeypatch, suffix, kind):
    table = {"numbers": np.arange(4) * 7 - 3, "strings": IDS["strings"]}[kind]
    for layout in LAYOUTS:
        path, found = tmp_path / layout, set()
        slow.write(path, SAID, layout, LAYOUTS[layout][0], group_size=2, vertex_ids=table)
        for threads, piece in ((1, 1 << 22), (1, 1), (3, 1), (3, 24)):
            monkeypatch.setattr("csaw.engine.samples.ahead.PIECE", piece)
            export(path, tmp_path / f"out.{suffix}", threads=threads, overwrite=True)
            found.add((tmp_path / f"out.{suffix}").read_bytes())
        assert len(found) == 1, layout


def test_pieces_come_in_order_and_few_wait_for_their_turn(tmp_path):
    samples = open_samples(slow.write(tmp_path / "s", SAID, "hops", HOPS))
    begun, lead = [], []

    def work(start, stop):
        begun.append(start)
        return start

    for stop, start in ahead.in_order(samples, ["hop_0"], ((k, k + 1) for k in range(60)), work, 2):
        assert stop == start + 1
        lead.append(len(begun) - start)
    assert len(lead) == 60
    assert max(lead) <= 2 * ahead.AHEAD + 1


def test_a_file_is_checked_once_however_many_threads_want_it(tmp_path, monkeypatch):
    checked = []
    monkeypatch.setattr(
        "csaw.engine.samples.stored.check_file", lambda path, name, sums, most=None: checked.append(name)
    )
    monkeypatch.setattr("csaw.engine.samples.ahead.PIECE", 1)
    export(stored(tmp_path, "walks"), tmp_path / "out.txt", threads=4)
    assert sorted(checked) == [
        "lengths/c.0",
        "lengths/c.1",
        "lengths/zarr.json",
        "walks/c.0.0",
        "walks/c.1.0",
        "walks/zarr.json",
    ]


def test_threads_are_a_number_from_one(tmp_path):
    path = stored(tmp_path, "walks")
    for threads in (0, "many"):
        with pytest.raises(OptionError, match="^threads: expected"):
            export(path, tmp_path / "out.txt", threads=threads)
    assert CliRunner().invoke(command, [str(path), str(tmp_path / "out.txt"), "--threads", "2"]).exit_code == 0


def test_edges_are_counted_where_the_results_do_not_say_how_many_there_are(tmp_path):
    path = stored(tmp_path, "hops")
    node = path / "results" / "zarr.json"
    results = json.loads(node.read_text())
    for number, sizes in enumerate(({}, {"sizes": files.signed({"edges": 5})})):
        node.write_text(json.dumps(results | {"attributes": sizes | {"seconds": 1}}))
        if number == 0:
            export(path, tmp_path / "out.npy")
            assert np.load(tmp_path / "out.npy").size == len(HOP_EDGES)
        else:
            with pytest.raises(StoreError, match="expected 5 edges, as its results say, found 8"):
                export(path, tmp_path / "other.npy")


NUMBERS = {name: ids for name, ids in IDS.items() if name != "large"}  # whose ids fit int64


@pytest.fixture(params=NUMBERS)
def numbers(request):
    return NUMBERS[request.param]


def names_of(found):
    """The original id of each node of an .npz."""
    if "original_id_text" not in found:
        return found["n_id"].tolist()
    text, ends = found["original_id_text"].tobytes(), found["original_id_offsets"]
    return [text[ends[vertex] : ends[vertex + 1]].decode() for vertex in found["n_id"]]


@pytest.mark.parametrize("layout", LAYOUTS)
def test_an_npz_holds_each_edge_from_the_neighbor_to_its_vertex(tmp_path, numbers, layout):
    export(stored(tmp_path, layout, numbers), tmp_path / "out.npz")
    with np.load(tmp_path / "out.npz") as found:
        names, batch = names_of(found), found["batch"].tolist()
        dst, src = found["edge_index"].tolist()
        depth = np.repeat(np.arange(found["num_sampled_edges"].size), found["num_sampled_edges"]).tolist()
        made = sorted((batch[a], names[a], names[b], d) for a, b, d in zip(src, dst, depth, strict=True))
        walk = found["walk"].tolist() if layout == "walks" else []
    if layout == "walks":
        walks = walks_of(numbers)
        assert made == sorted((i, w[k], w[k + 1], k) for i, w in enumerate(walks) for k in range(len(w) - 1))
        assert [[names[node] for node in row if node >= 0] for row in walk] == walks
    else:
        assert made == sorted(row for row in edges_of(numbers, layout) if row[3] is not None)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_pt_file_holds_the_arrays_of_the_npz_as_tensors(tmp_path, numbers, layout):
    torch = need_package("torch")
    path = stored(tmp_path, layout, numbers)
    export(path, tmp_path / "out.npz")
    export(path, tmp_path / "out.pt")
    found = torch.load(tmp_path / "out.pt", weights_only=True)
    if "original_id" in found:
        assert found.pop("original_id") == numbers.tolist()
    with np.load(tmp_path / "out.npz") as expected:
        assert found.keys() == {name for name in expected.files if not name.startswith("original_id")}
        for name, held in found.items():
            assert (held.tolist() if isinstance(held, torch.Tensor) else held) == expected[name].tolist()
    assert found["edge_index"].dtype == found["n_id"].dtype == torch.int64


def test_an_npz_of_ids_beyond_int64_is_refused_and_leaves_nothing(tmp_path):
    with pytest.raises(OptionError, match="sample with ids='dense'"):
        export(stored(tmp_path, "walks", IDS["large"]), tmp_path / "out.npz")
    assert [p.name for p in tmp_path.iterdir()] == ["s"]


def test_bytes_that_are_no_utf8_go_to_text_and_not_to_parquet(tmp_path):
    path = stored(tmp_path, "walks", np.array(["a", "\udcff", "c", "d"]))
    export(path, tmp_path / "out.txt")
    assert (tmp_path / "out.txt").read_bytes().startswith(b"a \xff c d\n")
    with pytest.raises(
        OptionError,
        match=r"vertex id '.*xff' cannot be written to Parquet or Arrow: their strings are .*; export to CSV or NumPy",
    ):
        export(path, tmp_path / "out.parquet")


def test_long_lines_of_text_are_cut_into_pieces_between_lines_alone(tmp_path, monkeypatch):
    monkeypatch.setattr("csaw.engine.export.writers.text.BYTES", 60)
    for layout in LAYOUTS:
        (tmp_path / layout).mkdir()
        export(stored(tmp_path / layout, layout, IDS["strings"]), tmp_path / f"{layout}.txt")
        lines = (tmp_path / f"{layout}.txt").read_text().splitlines()
        rows = walks_of(IDS["strings"]) if layout == "walks" else edges_of(IDS["strings"], layout, "", "")
        assert lines == [" ".join(map(str, row)).rstrip() for row in rows]


@pytest.mark.parametrize("suffix", ["txt", "csv", "graphml", "npy", "parquet", "feather", "npz"])
def test_no_instances_make_an_empty_file_of_the_format(tmp_path, suffix):
    empty = {"walks": np.zeros((0, 4), np.uint32), "lengths": np.zeros(0, np.int64)}
    path = slow.write(tmp_path / "s", SAID, "walks", empty)
    assert export(path, tmp_path / f"out.{suffix}")["instances"] == 0
    assert (tmp_path / f"out.{suffix}").is_file()


def test_a_name_or_format_that_is_not_known_lists_those_that_are(tmp_path):
    path = stored(tmp_path, "walks")
    with pytest.raises(OptionError, match=r"\.npz"):
        export(path, tmp_path / "out.doc")
    with pytest.raises(OptionError, match="parquet"):
        export(path, tmp_path / "out.txt", "word")
    assert sorted(formats()) == ["arrow", "csv", "graphml", "npy", "parquet", "pyg", "text", "torch"]


def test_a_file_is_replaced_only_when_asked_and_never_left_half_written(tmp_path, monkeypatch):
    path, out = stored(tmp_path, "walks"), tmp_path / "out.txt"
    out.write_text("mine")
    with pytest.raises(StoreError, match="pass overwrite=True"):
        export(path, out)
    (path / "walks" / "c.1.0").unlink()
    with pytest.raises(StoreError, match="missing"):
        export(path, out, overwrite=True)
    assert out.read_text() == "mine"
    assert sorted(p.name for p in tmp_path.iterdir()) == ["out.txt", "s"]
    with pytest.raises(StoreError, match="cannot be written"):
        export(path, tmp_path / "none" / "out.txt")


def test_export_replaces_no_part_of_a_store_no_folder_and_no_link(tmp_path):
    path, whole = stored(tmp_path, "walks"), (tmp_path / "s" / "zarr.json").read_bytes()
    (tmp_path / "mine").write_text("mine")
    (tmp_path / "link.txt").symlink_to("mine")
    (tmp_path / "folder.txt").mkdir()
    for out, said in (
        ("s/zarr.json", "is inside"),
        ("s/walks/c.0.0", "is inside"),
        ("s", "not a regular file"),
        ("folder.txt", "not a regular file"),
        ("link.txt", "symbolic link to mine"),
    ):
        done = CliRunner().invoke(command, [str(path), str(tmp_path / out), "--format", "text", "--overwrite"])
        assert said in str(done.exception), out
    assert (path / "zarr.json").read_bytes() == whole
    assert sorted(p.name for p in tmp_path.iterdir()) == ["folder.txt", "link.txt", "mine", "s"]
    assert (tmp_path / "mine").read_text() == "mine"


def test_a_space_in_a_string_id_is_refused_in_text(tmp_path):
    path = stored(tmp_path, "walks", np.array(["a b", "c", "d", "e"]))
    with pytest.raises(OptionError, match="vertex id 'a b' cannot be written to text: spaces"):
        export(path, tmp_path / "out.txt")


def test_parquet_without_pyarrow_says_which_package_brings_it(tmp_path, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "pyarrow", None)
    with pytest.raises(MissingDependencyError, match="pip install pyarrow"):
        export(stored(tmp_path, "walks"), tmp_path / "out.parquet")


def test_a_pt_file_on_a_full_disk_says_so(tmp_path):
    path = stored(tmp_path, "walks")
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1, limits[1]))
    try:
        with pytest.raises(StoreError, match="out.pt cannot be written: File too large"):
            export(path, tmp_path / "out.pt")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert [p.name for p in tmp_path.iterdir()] == ["s"]


def test_a_pt_file_without_torch_says_what_to_install_and_leaves_nothing(tmp_path, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "torch", None)
    with pytest.raises(MissingDependencyError, match=r"pip install torch; or export to \.npz"):
        export(stored(tmp_path, "walks"), tmp_path / "out.pt")
    assert [p.name for p in tmp_path.iterdir()] == ["s"]


def test_the_command_reports_what_it_wrote(tmp_path):
    path = stored(tmp_path, "walks")
    said = json.loads(CliRunner().invoke(command, [str(path), str(tmp_path / "out.txt"), "--json"]).output)
    assert said["instances"] == open_samples(path).instances
    assert said["bytes"] == (tmp_path / "out.txt").stat().st_size
    again = CliRunner().invoke(command, [str(path), str(tmp_path / "out.txt"), "--overwrite"])
    assert again.exit_code == 0, again.output


@pytest.mark.parametrize("format", ["csv", "parquet", "txt"])
def test_edges_beside_lone_vertices_make_a_graph_as_the_guide_says(tmp_path, format):
    samples, file = slow.write(tmp_path / "s", SAID, "subgraphs", SUBGRAPHS), tmp_path / f"edges.{format}"
    export(samples, file)
    if format == "txt":
        file.write_text("".join(line for line in file.read_text().splitlines(True) if len(line.split()) > 2))
    options = IngestOptions(source_column="2", target_column="3", weight_column="none", on_error="skip")
    graph = ingest(str(file), tmp_path / "g.zarr", options)
    assert (graph.vertices, graph.edges, graph.report["skipped"]) == (4, 3, format != "txt")
