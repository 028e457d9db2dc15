"""Files of sources are read as files of edges are: packed, with comments, at any separator, below a header or none."""

import bz2
import gzip
import lzma
from itertools import permutations

import numpy as np
import pyarrow
import pytest
from helpers.graphs import random_store

import csaw
from csaw.engine.sources.given_sources import Asked, read_sources
from csaw.engine.sources.source_rows import plain_integers
from csaw.partition.errors import FormatError, OptionError

EVENTS = {
    "numbers": [("10", "11", "2026-11-25T20:15"), ("11", "12", "2026-11-26"), ("10", "12", "2026-11-25")],
    "words": [("ann", "bob", "2026-11-25T20:15"), ("bob", "c, d", "2026-11-26"), ("ann", "c, d", "2026-11-25")],
}
SEEDS = [(0, 7.0, 1795608000), (2, 0.5, 1795637700), (0, -1.0, 1795637700)]
"""Of each line a place among the vertices, a label, and a time: 2026-11-25T12:00:00Z or 20:15:00Z."""
CLOCK = {1795608000: "2026-11-25 12:00", 1795637700: "2026-11-25T21:15+01:00"}
HEADS = {
    "none": "",
    "names": "vertex{0}label{0}when\n",
    "comments": "# seeds\n% of today\n\n",
    "both": "#a\nid{0}y{0}t\n",
}
PACKED = {
    "txt": bytes,
    "gz": gzip.compress,
    "bz2": bz2.compress,
    "zst": lambda data: pyarrow.compress(data, "zstd", asbytes=True),
}


@pytest.fixture(scope="module", params=EVENTS)
def store(request, tmp_path_factory):
    folder = tmp_path_factory.mktemp("events")
    rows = "".join("\t".join(row) + "\n" for row in EVENTS[request.param])
    (folder / "events.tsv").write_text(rows)
    return csaw.partition(folder / "events.tsv", folder / "g.zarr", time_column=3, time_format="iso")


def lines_of(store, separator, *, label=True, blank_in_dates=True):
    ids = store.original_ids(np.arange(store.vertices))
    for place, number, time in SEEDS:
        said = CLOCK[time] if blank_in_dates else CLOCK[time].replace(" ", "T")
        word = f'"{ids[place]}"' if "," in str(ids[place]) else str(ids[place])
        yield separator.join([word, *([str(number)] if label else []), said]) + "\n"


def drawn(store, path, algo="minibatch", **more):
    batch = {"disjoint": True, "seeds_per_batch": 3, "bias": "none"} if algo == "minibatch" else {}
    return csaw.sample(store, algo=algo, fanout=(2,), time_strategy="last", sources=str(path), **batch | more)


@pytest.mark.parametrize("head", HEADS)
@pytest.mark.parametrize("separator", ["\t", ",", ";", " ", "  "], ids=repr)
def test_columns_of_seeds_are_cut_at_the_separator_below_any_head(tmp_path, store, head, separator):
    text = HEADS[head].format(separator) + "".join(lines_of(store, separator, blank_in_dates=bool(separator.strip())))
    for end in ("\n", "\r\n"):
        (tmp_path / "seeds.txt").write_bytes(text.replace("\n", end).encode("utf-8-sig"))
        found = drawn(store, tmp_path / "seeds.txt")
        assert found.arrays["y"][:].tolist() == [label for _, label, _ in SEEDS]
        assert found.arrays["seed_time"][:].tolist() == [time for _, _, time in SEEDS]
        seeds = found.names(found.minibatch(0)["n_id"][: len(SEEDS)])
        assert seeds.tolist() == store.original_ids(np.array([place for place, _, _ in SEEDS])).tolist()


@pytest.mark.parametrize("form", PACKED)
def test_packed_files_have_the_same_seeds(tmp_path, store, form):
    text = "".join(lines_of(store, ",", label=False)).encode()
    path = tmp_path / f"seeds.{form}"
    path.write_bytes(PACKED[form](text))
    found = drawn(store, path, "neighbor").arrays["seed_time"][:].ravel().tolist()
    assert found == [time for _, _, time in SEEDS]
    if form in ("gz", "bz2"):
        path.write_bytes(PACKED[form](text)[:-6])
        with pytest.raises(FormatError, match="compressed data is cut off or damaged after"):
            drawn(store, path, "neighbor")


def test_what_is_packed_in_another_way_is_named(tmp_path, store):
    (tmp_path / "seeds.xz").write_bytes(lzma.compress(b"10 5\n"))
    with pytest.raises(FormatError, match="xz data; expected text, plain or packed by gzip, bz2 or zstd"):
        drawn(store, tmp_path / "seeds.xz")


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("10\n12\n", [10, 12]),
        ("vertex\n10\n12\n", [10, 12]),
        ("10,11,12\n", [10, 11, 12]),
        ("10 11\n\n# more\n12\n", [10, 11, 12]),
        ("", []),
        ("# none\n", []),
    ],
)
def test_lists_of_ids_are_cut_at_blanks_or_commas(tmp_path, text, wanted):
    graph = csaw.graph([(10, 11), (11, 12), (12, 10)])
    (tmp_path / "ids.txt").write_text(text)
    if not wanted:
        with pytest.raises(csaw.CsawError):
            csaw.sample(graph, algo="deepwalk", sources=str(tmp_path / "ids.txt"))
        return
    walks = csaw.sample(graph, algo="deepwalk", walk_length=1, sources=str(tmp_path / "ids.txt")).walks[:]
    assert walks[:, 0].tolist() == wanted


@pytest.mark.parametrize("algo", ["deepwalk", "minibatch"])
@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("id\nann\nbob\n", ["ann", "bob"]),
        ("Node\n7\n", ["7"]),
        ("vertex\nann\n", ["vertex", "ann"]),  # which is a vertex here
        ("ann\nid\n", None),
        ("id\n", None),
        ("name\nann\n", None),
    ],
)
def test_a_name_above_words_is_one_that_no_vertex_has(tmp_path, algo, text, wanted):
    graph = csaw.graph([("ann", "bob"), ("bob", "7"), ("7", "vertex"), ("vertex", "ann")])
    (tmp_path / "ids.txt").write_text(text)
    options = {"walk_length": 0} if algo == "deepwalk" else {"fanout": (0,)}
    if wanted is None:
        with pytest.raises(csaw.CsawError, match="vertex (id|name) is not in"):
            csaw.sample(graph, algo=algo, sources=str(tmp_path / "ids.txt"), **options)
        return
    samples = csaw.sample(graph, algo=algo, sources=str(tmp_path / "ids.txt"), **options)
    found = samples.walks[:][:, 0] if algo == "deepwalk" else samples.minibatch(0)["n_id"]
    assert samples.names(found).tolist() == wanted


def test_words_above_numbers_are_vertices_where_ids_are_words(tmp_path):
    graph = csaw.graph([("ann", "7"), ("7", "ann")])
    (tmp_path / "ids.txt").write_text("ann\n7\n")
    walks = csaw.sample(graph, algo="deepwalk", walk_length=1, sources=str(tmp_path / "ids.txt"))
    assert walks.names(walks.walks[:])[:, 0].tolist() == ["ann", "7"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("vertex\n", ":1: expected a vertex id, found 'vertex'"),
        ("0x1\n10\n", ":1: expected a vertex id, found '0x1'"),
        ("10\nvertex\n", ":2: expected a vertex id, found 'vertex'"),
        ('"10\n', ":1: "),
    ],
)
def test_what_is_no_header_is_no_vertex(tmp_path, text, said):
    (tmp_path / "ids.txt").write_text(text)
    with pytest.raises(FormatError, match=f"ids.txt{said}"):
        csaw.sample(csaw.graph([(10, 11)]), algo="deepwalk", sources=str(tmp_path / "ids.txt"))


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        (b"3 4\n\n5\r\n-6\t007\n", [3, 4, 5, -6, 7]),
        (b"9223372036854775807\n-9223372036854775808\n", [2**63 - 1, -(2**63)]),
        (b"9223372036854775808\n", None),  # rows are read as Python's integers
        (b"3,4\n", None),
        (b"# 3\n4\n", None),
        (b"1-2\n", None),
        (b"-\n", None),
        (b" \n", None),
    ],
)
def test_integers_alone_are_read_at_once(text, numbers):
    found = plain_integers(text, a_line=0)
    assert (found if numbers is None else found.tolist()) == numbers


@pytest.mark.parametrize(("text", "whole"), [(b"3\n\n4\n", True), (b"3 4\n", False), (b"3 4\n5\n\n6 7\n", False)])
def test_of_seeds_each_line_must_have_one(text, whole):
    assert (plain_integers(text, a_line=1) is not None) == whole


IN_TIME = csaw.graph([(10, 11), (11, 12), (10, 12)], edge_columns={"time": [5, 4, 3]})
PLAIN = csaw.graph([(10, 11), (11, 12), (12, 10), (2, 7)])
WORDS = csaw.graph([("ann", "bob"), ("bob", "ann"), ("cy", "ann")])
NAMES = {"id": ("id", "Vertex_ID", "node", "seeds"), "label": ("y", "label", "CLASS"), "time": ("t", "time", "date")}


def read(tmp_path, text, graph, are_seeds=True, times=Asked.NEVER):
    """What a file has: for each source the original id, its label and its time."""
    path = tmp_path / "s.txt"
    path.write_text(text)
    found = read_sources(str(path), graph, are_seeds=are_seeds, times=times)
    arrays = [graph.original_ids(found.ids), found.labels, found.times]
    return [one.tolist() for one in arrays if one is not None]


@pytest.mark.parametrize("mark", ["", "# ", "%"])
@pytest.mark.parametrize("separator", ["\t", ",", " "])
@pytest.mark.parametrize("order", list(permutations(NAMES)))
def test_names_say_which_column_is_which(tmp_path, order, separator, mark):
    rows = [{"id": 10, "label": 7, "time": 3}, {"id": 12, "label": 5, "time": 4}]
    lines = [separator.join(str(row[name]) for name in order) for row in rows]
    for names in zip(*NAMES.values(), strict=False):
        head = mark + separator.join(dict(zip(NAMES, names, strict=True))[name] for name in order)
        text = "\n".join([head, *lines])
        assert read(tmp_path, text, IN_TIME, times=Asked.EACH) == [[10, 12], [7.0, 5.0], [3, 4]]


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("label id\n2 10\n7 12\n", [[10, 12], [2.0, 7.0]]),
        ("weight vertex\n2 10\n7 12\n", [[10, 12], [2.0, 7.0]]),
        ("y,what\n2,10\n7,12\n", [[10, 12], [2.0, 7.0]]),
        ("a b\n10 2\n12 7\n", [[10, 12], [2.0, 7.0]]),
        ("# what is y\n10 2\n", [[10], [2.0]]),
        ("# label\n10 2\n", [[10], [2.0]]),
        ("# y id\n\n# more\n10 2\n", [[10], [2.0]]),
        ("vertex id\n10\n12\n", [[10, 12]]),
    ],
)
def test_names_that_say_nothing_are_those_of_what_is_left(tmp_path, text, wanted):
    assert read(tmp_path, text, PLAIN) == wanted


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            "time id\n2 10\n",
            "expected columns of ids, labels, found the names 'time', 'id', of which 'time' is that of",
        ),
        ("id node\n10 11\n", "'id' and 'node' mean the same; keep only these columns, below 'id label', in any order"),
        ("source target\n10 11\n", "which are those of the ends of edges"),
        ("label\n10\n", "expected one column of ids, found the names 'label', of which 'label' is that of labels"),
        ("id label split\n10 2 1\n", "which are 3; keep only these columns"),
    ],
)
def test_names_that_contradict_what_is_read_are_refused(tmp_path, text, said):
    with pytest.raises(FormatError, match=f"s.txt:1: .*{said}"):
        read(tmp_path, text, PLAIN)


@pytest.mark.parametrize(
    ("text", "times", "are_seeds", "said"),
    [
        ("id label\n10 4\n", Asked.EACH, False, "columns of ids, times, .* 'label' is that of labels"),
        ("id label\n10 4\n", Asked.EACH, True, "columns of ids, times, .* 'label' is that of labels"),
        ("a,id,b\n4,10,1\n", Asked.EACH, True, "'a' and 'b' may each be that of any of these"),
        ("id time\n10 4\n", Asked.SAME, False, "expected one column of ids, .* which are 2; keep only this column"),
        ("time\n10\n", Asked.SAME, False, "expected one column of ids, .* 'time' is that of times"),
    ],
)
def test_names_of_times_are_those_that_are_asked_for(tmp_path, text, times, are_seeds, said):
    with pytest.raises(FormatError, match=f"s.txt:1: .*{said}"):
        read(tmp_path, text, IN_TIME, are_seeds, times)


@pytest.mark.parametrize(
    "text", ["id label\n10 2\n", "vertex,weight\n10,2\n", "# id y\n10 2\n", "a b\n10 2\n", "y\n2\n"]
)
def test_walks_take_no_labels_for_vertices(tmp_path, text):
    with pytest.raises(FormatError, match=r"s.txt:1: expected one column of ids, .* below 'id'"):
        read(tmp_path, text, PLAIN, are_seeds=False)
    assert read(tmp_path, "ids\n10 2\n", PLAIN, are_seeds=False) == [[10, 2]]


def test_names_are_read_where_ids_are_words(tmp_path):
    for text in ("label id\n2 ann\n7 cy\n", "id,y\nann,2\ncy,7\n", "# y id\n2 ann\n7 cy\n"):
        assert read(tmp_path, text, WORDS) == [["ann", "cy"], [2.0, 7.0]]


@pytest.mark.parametrize("word", ["1_0", "\uff11", "\u0663", "1_0.0"])
def test_only_digits_are_numbers(tmp_path, word):
    """Python reads more than those."""
    store = random_store(tmp_path / "g.zarr", vertices=20, edges=60)
    (tmp_path / "s.txt").write_text(f"{word}\n")
    with pytest.raises(FormatError, match=r"s.txt:1: expected a vertex id, found"):
        csaw.sample(store, algo="deepwalk", sources=tmp_path / "s.txt", device="cpu")
    (tmp_path / "s.txt").write_text(f"1 {word}\n")
    with pytest.raises(FormatError, match=r"s.txt:1: expected a label, a finite number"):
        csaw.sample(store, algo="minibatch", sources=tmp_path / "s.txt", device="cpu")
    with pytest.raises(OptionError, match="walk_length: expected an integer"):
        csaw.sample(store, algo="deepwalk", walk_length=word, device="cpu")
    with pytest.raises(OptionError, match="p: expected a number"):
        csaw.sample(store, algo="node2vec", p=word, device="cpu")
