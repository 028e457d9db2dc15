"""Graphs made here, against R-MAT written from the paper in plain Python, the law of its quadrants, and published
counts.
"""

import errno
import gzip
import itertools
import os
import time
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chisquare

from csaw.datasets import generate as maker
from csaw.datasets.generate import (
    ModelRows,
    edge_times,
    edges,
    generate,
    rows_as_text,
    scrambled,
    symmetric_weights,
    write_text,
)
from csaw.datasets.spec import Integers, Rmat, parse_spec, with_options
from csaw.partition import IngestOptions, ingest
from csaw.partition.errors import CsawError, StoreError

ROOT = Path(__file__).parents[2]


def philox(counter, key):
    c, k = list(counter), list(key)
    for _ in range(10):
        p0, p1 = 0xD2511F53 * c[0], 0xCD9E8D57 * c[2]
        c = [(p1 >> 32) ^ c[1] ^ k[0], p1 % 2**32, (p0 >> 32) ^ c[3] ^ k[1], p0 % 2**32]
        k = [(k[0] + 0x9E3779B9) % 2**32, (k[1] + 0xBB67AE85) % 2**32]
    return c


def slow_edge(scale, seed, edge, chances):
    a, b, c = chances
    src = dst = 0
    for level in range(scale):
        words = philox((level // 4, 0, edge % 2**32, edge >> 32), (seed % 2**32, seed >> 32))
        u = words[level % 4] / 2**32
        quadrant = 0 if u < a else 1 if u < a + b else 2 if u < a + b + c else 3
        src, dst = 2 * src + quadrant // 2, 2 * dst + quadrant % 2
    return src, dst


def test_the_slow_philox_gives_the_published_words():
    ones = 2**32 - 1
    assert philox((0, 0, 0, 0), (0, 0)) == [0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8]
    assert philox((ones,) * 4, (ones,) * 2) == [0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD]
    pi = (0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344)
    assert philox(pi, (0xA4093822, 0x299F31D0)) == [0xD16CFE09, 0x94FDCCEB, 0x5001E420, 0x24126EA1]


@pytest.mark.parametrize("first", [0, 12345, 2**32 - 3, 2**35 + 1])
@pytest.mark.parametrize("seed", [0, 1, 2**32, 2**64 - 1])
def test_edges_are_those_of_the_plain_recursion(first, seed):
    chances = (0.5, 0.25, 0.125)
    src, dst = edges(31, 2**6, seed, first, 6, *chances)
    assert list(zip(src.tolist(), dst.tolist(), strict=True)) == [
        slow_edge(31, seed, first + i, chances) for i in range(6)
    ]


def slow_noisy_edge(scale, seed, edge, chances, noise):
    """By the words of the description: a level has other chances than the one before it."""
    chances, src, dst = list(chances), 0, 0
    for level in range(scale):
        key = (seed % 2**32, seed >> 32)
        u = philox((level // 4, 0, edge % 2**32, edge >> 32), key)[level % 4] / 2**32
        quadrant = sum(u >= sum(chances[: k + 1]) for k in range(3))
        src, dst = 2 * src + quadrant // 2, 2 * dst + quadrant % 2
        words = philox((level, 1, edge % 2**32, edge >> 32), key)
        chances = [x * (1 + noise * (2 * word / 2**32 - 1)) for x, word in zip(chances, words, strict=True)]
        chances = [x / sum(chances) for x in chances]
    return src, dst


@pytest.mark.parametrize("first", [0, 2**35 + 1])
@pytest.mark.parametrize("noise", [0.05, 0.9])
def test_edges_with_noise_are_those_of_the_plain_recursion(first, noise):
    chances = (0.45, 0.15, 0.15, 0.25)
    src, dst = edges(31, 2**6, 5, first, 300, *chances[:3], noise, chances[3])
    assert list(zip(src.tolist(), dst.tolist(), strict=True)) == [
        slow_noisy_edge(31, 5, first + i, chances, noise) for i in range(300)
    ]


def test_noise_changes_levels_after_the_first_and_no_mean_by_much():
    plain, noisy = (edges(12, 4096, 3, 0, 100_000, 0.45, 0.15, 0.15, noise, 0.25) for noise in (0.0, 0.05))
    assert all(((one ^ other) >> 11 == 0).all() for one, other in zip(plain, noisy, strict=True))
    assert any((one != other).any() for one, other in zip(plain, noisy, strict=True))
    for one in noisy:
        assert all(abs((one >> level & 1).mean() - 0.4) < 0.01 for level in range(12))


@pytest.mark.parametrize("chances", [(0.57, 0.19, 0.19), (0.25, 0.25, 0.25), (0.1, 0.2, 0.3)])
def test_quadrants_of_every_level_follow_their_chances_and_not_each_other(chances):
    scale = 6
    law = np.array([*chances, 1 - sum(chances)])
    src, dst = edges(scale, 4096, 3, 0, 200_000, *chances)
    levels = [2 * (src >> k & 1) + (dst >> k & 1) for k in range(scale)]
    for quadrants in levels:
        assert chisquare(np.bincount(quadrants, minlength=4), law * src.size).pvalue > 1e-4
    for one, other in itertools.combinations(levels, 2):
        pairs = np.bincount(4 * one + other, minlength=16)
        assert chisquare(pairs, np.outer(law, law).ravel() * src.size).pvalue > 1e-4


@pytest.mark.parametrize("level", [0, 4, 9])
def test_a_draw_on_the_border_belongs_to_the_quadrant_after_it(level):
    word = philox((level // 4, 0, 77, 0), (5, 0))[level % 4]
    x = word / 2**32
    for chances, quadrant in [((x, 1 - x, 0), 1), ((0, x, 1 - x), 2), ((x, 0, 1 - x), 2), ((0, 0, x), 3)]:
        src, dst = edges(10, 16, 5, 77, 1, *chances)
        assert 2 * (src[0] >> (9 - level) & 1) + (dst[0] >> (9 - level) & 1) == quadrant


def test_quadrants_without_a_chance_are_never_drawn():
    src, dst = edges(12, 16, 1, 0, 50_000, 1.0, 0.0, 0.0)
    assert not src.any()
    assert not dst.any()
    src, dst = edges(12, 16, 1, 0, 50_000, 0.0, 0.5, 0.5)
    assert (src + dst == 2**12 - 1).all()


def test_the_cut_into_blocks_changes_no_edge(monkeypatch):
    whole = edges(9, 16, 5, 0, 10**9)
    assert whole[0].size == 16 << 9
    for size in (1000, 4096):
        monkeypatch.setattr(maker, "BLOCK", size)
        blocks = list(ModelRows(Rmat(scale=9, seed=5)))
        assert np.array_equal(np.concatenate([b[0] for b in blocks]), whole[0])
        assert np.array_equal(np.concatenate([b[1] for b in blocks]), whole[1])


@pytest.mark.parametrize("name", ["g.txt", "g.txt.gz"])
def test_the_number_of_threads_and_the_cut_into_blocks_change_no_byte_of_a_text(tmp_path, monkeypatch, name):
    spec, texts = "rmat:scale=9,seed=5,weights=1,self_loops=0", []
    for number, size in ((1, 1 << 20), (2, 1000), (9, 777)):
        monkeypatch.setattr(maker, "processors", lambda number=number: number)
        monkeypatch.setattr(maker, "TEXT_BLOCK", size)
        rows = write_text(spec, tmp_path / name, overwrite=True)
        data = (tmp_path / name).read_bytes()
        texts.append(data)
        text = gzip.decompress(data) if name.endswith("gz") else data
        assert text.count(b"\n") == rows + 2
    assert texts[0] == texts[1] == texts[2]


def test_a_full_disk_is_told_of_with_the_name_of_the_file(tmp_path, monkeypatch):
    def fail(*columns):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(maker, "rows_as_text", fail)
    with pytest.raises(StoreError, match=r"x\.txt cannot be written: No space left on device; nothing is left"):
        write_text("karate", tmp_path / "x.txt")
    assert list(tmp_path.glob("*x.txt*")) == []


def test_generation_keeps_a_few_blocks_ahead_and_no_more(monkeypatch):
    made = []
    monkeypatch.setattr(maker, "BLOCK", 64)
    monkeypatch.setattr(
        ModelRows, "_block", lambda self, first, count: made.append(first) or (np.zeros(64), np.zeros(64), None)
    )
    rows = iter(ModelRows(Rmat(scale=12)))
    next(rows)
    time.sleep(0.2)  # enough for all 1024 blocks, if they were asked for
    assert len(made) <= maker.THREADS + 1


@pytest.mark.parametrize("scale", [1, 2, 3, 7, 12, 17])
def test_scrambling_is_a_bijection(scale):
    ids = np.arange(2**scale, dtype=np.uint32)
    scrambled(ids, scale)
    assert np.array_equal(np.sort(ids), np.arange(2**scale))
    assert scale < 7 or (ids != np.arange(2**scale)).mean() > 0.9


def test_weights_are_multiples_of_one_256th_and_the_same_both_ways():
    src, dst = edges(10, 64, 2, 0, 65536)
    weights = symmetric_weights(src, dst, 2)
    assert np.array_equal(weights, symmetric_weights(dst, src, 2))
    counts = np.bincount((weights * 256).astype(int), minlength=257)
    assert np.array_equal(weights * 256, np.round(weights * 256))
    assert counts[0] == 0
    assert (counts[1:] > 0).all()
    assert not np.array_equal(weights, symmetric_weights(src, dst, 3))
    larger = symmetric_weights(src, dst, 2, 5)
    assert np.array_equal(larger, 1 + (256 * weights - 1) / 64)
    assert larger.min() >= 1
    assert larger.max() < 5


@pytest.mark.parametrize(("low", "high"), [(0, 64), (1, 64), (7, 7), (0, 2**24 - 1)])
def test_weights_of_a_range_are_all_its_integers_alike_and_the_same_both_ways(low, high):
    src, dst = edges(10, 64, 2, 0, 65536)
    weights = symmetric_weights(src, dst, 2, Integers(low, high))
    assert weights.dtype == np.float32
    assert np.array_equal(weights, symmetric_weights(dst, src, 2, Integers(low, high)))
    assert np.array_equal(weights, weights.astype(int))
    assert low <= weights.min()
    assert weights.max() <= high
    if high < 100:
        pairs = np.unique(np.column_stack([np.minimum(src, dst), np.maximum(src, dst), weights]).astype(int), axis=0)
        counts = np.bincount(pairs[:, 2] - low, minlength=high - low + 1)
        assert counts.size == 1 or chisquare(counts).pvalue > 1e-4


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ("weights=3", "weights: expected 0, 1, 5 or a range of integers such as 0..64, found 3"),
        ("weights=5..1", "weights: expected a range of integers LOW..HIGH .* found 5..1"),
        ("weights=0..0", "weights: expected a range of integers LOW..HIGH"),
        ("weights=0..16777216", "weights: expected a range of integers LOW..HIGH"),
        ("weights=a..b", "weights: expected a number, found 'a..b'"),
        ("times=5..1", "times: expected a range of at most 2\\^32 integers LOW..HIGH from 0 .* found 5..1"),
        ("times=-1..1", "times: expected a range of at most 2"),
        (f"times=0..{2**32}", "times: expected a range of at most 2"),
        (f"times={2**63}..{2**63}", "times: expected a range of at most 2"),
        ("times=7", "times: expected a range of integers such as 0..1000000, found '7'"),
        ("noise=1", "noise: expected a share from 0 to below 1, found 1.0"),
        ("noise=nan", "noise: expected a share from 0 to below 1"),
    ],
)
def test_wrong_noise_weights_and_times_are_refused(wrong, said):
    with pytest.raises(CsawError, match=said):
        parse_spec(f"rmat:scale=8,{wrong}")


def test_a_spec_with_noise_and_a_range_is_written_as_it_is_read(tmp_path):
    spec = "rmat:scale=8,a=0.45,b=0.15,c=0.15,d=0.25,weights=0..64,noise=0.05"
    assert str(parse_spec(spec)) == spec
    graph = generate(spec, tmp_path / "g.zarr").load()
    assert set(graph.weights.tolist()) <= set(range(65))
    assert graph.weights.max() > 60


TIMES = [Integers(0, 10**6), Integers(7, 7), Integers(0, 2**32 - 1), Integers(2**63 - 5, 2**63 - 1)]


@pytest.mark.parametrize("times", TIMES, ids=str)
@pytest.mark.parametrize("first", [0, 2**32 - 3])
def test_the_time_of_an_edge_is_that_of_its_number(first, times):
    found = edge_times(2**33 + 5, first, 6, times).tolist()
    words = [philox((0, 2, edge % 2**32, edge >> 32), (5, 2)) for edge in range(first, first + 6)]
    values = times.high - times.low + 1
    assert found == [times.low + (word[0] * 2**32 + word[1]) * values // 2**64 for word in words]


def test_times_of_a_range_are_all_alike_and_others_for_another_seed():
    times = edge_times(1, 0, 100_000, Integers(50, 149))
    assert chisquare(np.bincount(times - 50, minlength=100)).pvalue > 1e-4
    assert not np.array_equal(times, edge_times(2, 0, 100_000, Integers(50, 149)))


@pytest.mark.parametrize("more", ["", ",weights=1", ",undirected=0,self_loops=1,scramble=1", ",dedup=1"])
def test_a_graph_in_time_has_each_draw_as_an_edge_of_its_own_time(tmp_path, monkeypatch, more):
    monkeypatch.setattr(maker, "BLOCK", 300)
    spec = f"rmat:scale=6,times=0..40{more}"
    rmat = parse_spec(spec)
    assert str(parse_spec(str(rmat))) == str(rmat)
    assert parse_spec(str(rmat)) == rmat
    store = generate(spec, tmp_path / "g.zarr")
    graph = store.load(store.further_columns)
    src, dst = edges(6, 16, 1, 0, 1024)
    if rmat.scramble:
        scrambled(src, 6)
        scrambled(dst, 6)
    times = edge_times(1, 0, 1024, Integers(0, 40))
    drawn = list(zip(src.tolist(), dst.tolist(), times.tolist(), strict=True))
    drawn = [(u, v, t) for u, v, t in drawn if rmat.self_loops or u != v]
    both = [*drawn, *((v, u, t) for u, v, t in drawn if u != v)] if rmat.undirected else drawn
    rows = np.repeat(np.arange(store.vertices), np.diff(graph.indptr))
    ids = (store.original_ids(ends).tolist() for ends in (rows, graph.indices))
    found = sorted(zip(*ids, graph.columns["time"].tolist(), strict=True))
    if rmat.dedup:
        assert len(found) == len({(u, v) for u, v, _ in both})
        assert set(found) <= set(both)
    else:
        assert found == sorted(both)


def test_the_graph_of_a_spec_stays_the_same_for_ever(tmp_path):
    store = generate("rmat:scale=10,weights=1", tmp_path / "g.zarr")
    assert (store.vertices, store.edges, store.max_degree) == (894, 21102, 447)
    assert store.fingerprint == "745baa097e95e722e35cd56e750d66e6"


@pytest.mark.parametrize("more", ["", ",weights=1", ",undirected=0,weights=5", ",weights=0..64,self_loops=1"])
def test_text_of_a_graph_in_time_partitions_to_the_store_of_the_same_spec(tmp_path, more):
    spec = f"rmat:scale=7,times=1000..1100{more}"
    write_text(spec, tmp_path / "g.txt")
    read = IngestOptions(time_column="Time")
    assert (
        generate(spec, tmp_path / "a.zarr").fingerprint
        == ingest(tmp_path / "g.txt", tmp_path / "b.zarr", read).fingerprint
    )


@pytest.mark.parametrize(
    "spec",
    [
        "karate",
        "rmat:scale=8",
        "rmat:scale=8,undirected=0,weights=1",
        "rmat:scale=8,weights=5",
        "rmat:scale=8,weights=3..70000",
        "rmat:scale=7,self_loops=1,scramble=1",
    ],
)
@pytest.mark.parametrize("name", ["g.txt", "g.txt.gz"])
def test_text_partitions_to_the_store_of_the_same_spec(tmp_path, spec, name):
    rows = write_text(spec, tmp_path / name)
    raw = (gzip.decompress if name.endswith(".gz") else bytes)((tmp_path / name).read_bytes())
    assert raw.count(b"\n") == rows + 2
    direct, through_text = (
        generate(spec, tmp_path / "a.zarr"),
        ingest(str(tmp_path / name), tmp_path / "b.zarr", IngestOptions()),
    )
    assert direct.fingerprint == through_text.fingerprint
    assert direct.directed == through_text.directed


def test_repeats_and_self_loops_go_unless_asked_for(tmp_path):
    src, dst = edges(6, 16, 1, 0, 16 << 6)
    ends = list(zip(src.tolist(), dst.tolist(), strict=True))
    plain = generate("rmat:scale=6,undirected=0", tmp_path / "a.zarr")
    assert plain.edges == len({(u, v) for u, v in ends if u != v})
    assert not plain.multigraph
    every = generate("rmat:scale=6,undirected=0,dedup=0,self_loops=1", tmp_path / "b.zarr")
    assert every.edges == len(ends)
    assert every.multigraph


def test_karate_is_zacharys(tmp_path):
    store = generate("karate", tmp_path / "k.zarr")
    graph = store.load()
    rows = [set(graph.indices[a:b].tolist()) for a, b in itertools.pairwise(graph.indptr)]
    triangles = sum(len(rows[u] & rows[v]) for u in range(34) for v in rows[u]) // 6
    assert (store.vertices, store.edges, triangles) == (34, 156, 45)
    assert (len(rows[0]), len(rows[33])) == (16, 17)
    assert store.original_ids(np.array([0, 33])).tolist() == [1, 34]


def test_the_example_is_what_its_header_says(tmp_path):
    text = gzip.decompress((ROOT / "datasets" / "example.txt.gz").read_bytes())
    spec = text.split(b"\n")[0].split()[-1].decode()
    write_text(spec, tmp_path / "example.txt")
    assert (tmp_path / "example.txt").read_bytes() == text


@given(st.lists(st.tuples(st.integers(0, 2**63 - 1), st.integers(0, 2**63 - 1), st.integers(1, 256))), st.booleans())
def test_rows_as_text_reads_back(rows, weighted):
    src, dst = (np.array([r[k] for r in rows], np.int64) for k in (0, 1))
    weights = np.array([r[2] / 256 for r in rows], np.float32) if weighted else None
    lines = [line.split("\t") for line in bytes(rows_as_text(src, dst, weights)).decode().splitlines()]
    assert [(int(line[0]), int(line[1])) for line in lines] == [r[:2] for r in rows]
    assert not weighted or [float(line[2]) for line in lines] == [r[2] / 256 for r in rows]


def test_an_interrupted_text_leaves_nothing_and_existing_files_stay(tmp_path, monkeypatch):
    (tmp_path / "mine.txt").write_text("mine")
    with pytest.raises(CsawError, match="exists"):
        write_text("karate", tmp_path / "mine.txt")
    assert (tmp_path / "mine.txt").read_text() == "mine"

    def fails(self, first, count):
        raise KeyboardInterrupt

    monkeypatch.setattr(ModelRows, "_block", fails)
    with pytest.raises(KeyboardInterrupt):
        write_text("rmat:scale=4", tmp_path / "new.txt")
    assert [p.name for p in tmp_path.iterdir()] == ["mine.txt"]


def test_text_never_takes_the_place_of_a_pipe_a_device_or_a_folder(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    for out in (tmp_path / "pipe", tmp_path):
        with pytest.raises(CsawError, match="not a regular file"):
            write_text("karate", out, overwrite=True)
    assert (tmp_path / "pipe").is_fifo()
    with pytest.raises(CsawError, match="is not a directory; make it first"):
        write_text("karate", tmp_path / "nowhere" / "g.txt")


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("rmat:scal=3", "no parameter 'scal'; there are scale, edge_factor"),
        ("rmat:scale=x", "scale: expected a number, found 'x'"),
        ("rmat:scale", "scale: expected a number, found ''"),
        ("rmat:scale=0", "scale: expected 1 to 31, found 0"),
        ("rmat:scale=32", "scale: expected 1 to 31, found 32"),
        ("rmat:edge_factor=0", "edge_factor: expected 1"),
        ("rmat:seed=-1", "seed: expected 0 to 2"),
        (f"rmat:seed={2**64}", "seed: expected 0 to 2"),
        ("rmat:a=nan", "a: expected a chance"),
        ("rmat:a=-0.1,b=0.86", "a: expected a chance"),
        ("rmat:a=0.5", "expected a [+] b [+] c [+] d = 1, found 0.93"),
        ("rmat:weights=2", "weights: expected 0, 1, 5 or a range of integers such as 0..64, found 2"),
        ("rmt:scale=3", "expected karate, rmat:scale=S"),
    ],
)
def test_a_wrong_spec_is_refused_by_name(spec, message):
    with pytest.raises(CsawError, match=message):
        parse_spec(spec)


@settings(max_examples=50)
@given(
    st.builds(
        Rmat,
        scale=st.integers(1, 31),
        edge_factor=st.integers(1, 99),
        seed=st.integers(0, 2**64 - 1),
        weights=st.integers(0, 1),
        scramble=st.integers(0, 1),
        undirected=st.integers(0, 1),
    )
)
def test_a_graph_has_one_spec_that_reads_back(rmat):
    assert parse_spec(str(rmat)) == rmat


def test_options_come_after_the_spec():
    assert with_options("rmat", {"scale": None}) == "rmat"
    assert with_options("rmat", {"scale": 9, "weights": True}) == "rmat:scale=9,weights=1"
    assert parse_spec(with_options("rmat:scale=3,seed=2", {"scale": 9})) == Rmat(scale=9, seed=2)
