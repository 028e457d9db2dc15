"""Claims of ids that are words: samples have numbers for them, and give the words of any array that they hand out."""

from itertools import pairwise

import numpy as np
import pytest
from helpers.machine import need_package

import csaw
from csaw.partition.errors import StoreError

EDGES = [("ann", "bob"), ("bob", "cleo"), ("cleo", "dan"), ("dan", "ann"), ("ann", "eve")]  # eve is a dead end
WORDS = {word for edge in EDGES for word in edge}
CASES = {
    "deepwalk": ({"walk_length": 4}, ["walks"]),
    "ppr": ({"walk_length": None}, ["walks"]),
    "neighbor": ({"fanout": "2,2"}, ["hop_0", "hop_1", "hop_2"]),
    "snowball": ({"depth": 2}, ["src", "dst", "sources"]),
    "minibatch": ({"fanout": "2"}, ["n_id"]),
}


@pytest.mark.parametrize("algo", CASES)
def test_every_layout_gives_the_words_of_its_vertices(tmp_path, algo):
    options, names = CASES[algo]
    kept = csaw.sample(EDGES, algo=algo, seed=1, device="cpu", **options)
    csaw.partition(EDGES, tmp_path / "g.zarr")
    stored = csaw.sample(tmp_path / "g.zarr", tmp_path / "s.zarr", algo, seed=1, device="cpu", **options)
    csaw.sample(tmp_path / "g.zarr", tmp_path / "v.zarr", algo, seed=1, device="cpu", virtual=True, **options)
    for samples in (kept, stored, csaw.open_samples(tmp_path / "v.zarr")):
        for name in names:
            numbers = samples[name][:]
            words = samples.names(numbers)
            assert words.shape == numbers.shape
            assert set(words.reshape(-1).tolist()) <= WORDS | {""}
            assert np.array_equal(words == "", numbers == samples.fill)
            table = samples.labels()
            assert all(table[n] == word for n, word in zip(numbers.flat, words.flat, strict=True) if word)


def test_walks_of_words_go_along_edges_and_end_where_they_end():
    samples = csaw.sample(EDGES, walk_length=4, num_walks=5, seed=1, device="cpu")
    for walk in samples.names(samples.walks[:]).tolist():
        steps = [word for word in walk if word]
        assert walk == steps + [""] * (5 - len(steps))
        assert all(pair in EDGES for pair in pairwise(steps))
    assert samples.names(samples.walk(0)).tolist() == [w for w in samples.names(samples.walks[0]).tolist() if w]
    for _, arrays in samples.iter_groups():
        assert samples.names(arrays["walks"]).shape == arrays["walks"].shape


def test_a_stream_gives_the_words_of_its_batches():
    expected = csaw.sample(EDGES, walk_length=4, seed=1, device="cpu")
    with csaw.stream(EDGES, walk_length=4, seed=1, device="cpu") as stream:
        found = np.concatenate([stream.names(batch["walks"]) for batch in stream])
    assert np.array_equal(found, expected.names(expected.walks[:]))


def test_ids_that_are_numbers_are_their_own_names():
    samples = csaw.sample([(5, 7), (7, 9), (9, 5)], walk_length=4, seed=1, device="cpu")
    assert np.array_equal(samples.names(samples.walks[:]), samples.walks[:])


def test_a_number_without_a_word_is_refused():
    samples = csaw.sample(EDGES, walk_length=4, seed=1, device="cpu")
    for number in (5, -2):
        with pytest.raises(StoreError, match="which have names"):
            samples.names([0, number])


def test_the_words_of_tensors_are_found():
    torch = need_package("torch")
    from csaw.engine.loaders import WalkDataset

    samples = csaw.sample(EDGES, walk_length=4, seed=1, device="cpu")
    assert samples.names(torch.tensor([0, -1])).tolist() == ["ann", ""]
    walks = WalkDataset(samples)
    assert np.array_equal(samples.names(walks[3]), samples.names(samples.walks[3]))
