"""Claims of the functions that stand for commands: the bytes of the command line, in memory and on disk, with the same
names and values.
"""

from contextlib import nullcontext

import numpy as np
import pytest
from click.testing import CliRunner

import csaw
from csaw.cli.main import cli
from csaw.partition.errors import BudgetError, CsawError, OptionError, StoreError

CASES = {
    "deepwalk": {"walk_length": 7, "num_walks": 3},
    "node2vec": {"p": 0.5, "q": "2", "walk_length": "7"},
    "ppr": {"termination_prob": 0.2},
    "neighbor": {"fanout": "4,2"},
    "minibatch": {"fanout": (4, 2), "seeds_per_batch": 5, "shuffle": True},
    "forest-fire": {"sources": "random:9"},
    "ladies": {"instances": 4},
    "saint-node": {"subgraph_nodes": 6, "instances": 5},
}


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(*line):
    done = CliRunner().invoke(cli, list(line))
    assert done.exit_code == 0, done.output
    return done.stdout


def arguments(algo, options):
    words = ["--algo", algo, "--seed", "5", "--device", "cpu"]
    for name, value in options.items():
        flag = f"--{name.replace('_', '-')}"
        text = ",".join(map(str, value)) if isinstance(value, tuple) else str(value)
        words += [flag] if value is True else [flag, text]
    return words


@pytest.mark.parametrize("algo", CASES)
def test_samples_have_the_bytes_of_the_command_line(here, algo):
    options = CASES[algo] | {"seed": 5, "device": "cpu"}
    run("sample", "karate", "said.zarr", *arguments(algo, CASES[algo]))
    expected = csaw.open_samples("said.zarr")
    kept = csaw.sample("karate", algo=algo, **options)
    assert not list(here.glob("samples*"))
    stored = csaw.sample("karate", "stored.zarr", algo=algo, **options)
    virtual = csaw.sample("karate", "virtual.zarr", algo=algo, virtual=True, **options)
    for found in (kept, stored, virtual):
        assert (found.layout, found.instances, found.fill, found.ids) == (
            expected.layout,
            expected.instances,
            expected.fill,
            expected.ids,
        )
        assert set(found.arrays) == set(expected.arrays)
        for name in expected.arrays:
            array, wanted = np.asarray(found[name]), np.asarray(expected[name])
            assert array.dtype == wanted.dtype
            assert array.tobytes() == wanted.tobytes()
        for (start, arrays), (first, wanted) in zip(found.iter_groups(), expected.iter_groups(), strict=True):
            assert start == first
            assert arrays.keys() == wanted.keys()
            assert all(np.array_equal(arrays[name], wanted[name]) for name in wanted)
    assert kept.sizes == expected.sizes
    assert kept.manifest["request"] == expected.manifest["request"]
    assert kept.results["sampled_edges"] == expected.results["sampled_edges"]
    csaw.export(kept, "kept.parquet")
    csaw.export("said.zarr", "said.parquet")
    assert (here / "kept.parquet").read_bytes() == (here / "said.parquet").read_bytes()


def test_samples_in_memory_have_the_interface_of_stored_ones(here):
    options = {"fanout": "3,2", "seed": 2, "device": "cpu", "instances": 20}
    kept = csaw.sample("karate", algo="neighbor", **options)
    stored = csaw.sample("karate", "s.zarr", algo="neighbor", **options)
    assert all(np.array_equal(kept.pyg(2, 7)[name], array) for name, array in stored.pyg(2, 7).items())
    assert np.array_equal(kept.part(3, 9).hops[1][:], stored.part(3, 9).hops[1][:])
    assert [rows.shape for rows in kept.hops] == [rows.shape for rows in stored.hops]
    with pytest.raises(StoreError, match="samples in memory .hops. has no array 'walks'"):
        _ = kept.walks


def test_a_text_file_a_dataset_an_object_and_a_store_are_one_graph(here):
    (here / "edges.txt").write_text("5 7 1.5\n7 9 2\n9 5 0.5\n5 9 1\n")
    store = csaw.partition("edges.txt", "g.zarr", memory="64MiB", partition_size="1MiB", compression="none")
    run("partition", "edges.txt", "said.zarr")
    edges = [(5, 7, 1.5), (7, 9, 2.0), (9, 5, 0.5), (5, 9, 1.0)]
    forms = [store, "g.zarr", here / "g.zarr", "edges.txt", here / "edges.txt", edges, "said.zarr"]
    walks = [csaw.sample(form, walk_length="9", seed=3, memory="1GiB", device="cpu").walks[:] for form in forms]
    assert all(np.array_equal(walks[0], one) for one in walks)
    assert {csaw.graph(form).fingerprint for form in forms} == {store.fingerprint}
    assert csaw.partition(edges, "again.zarr", partitions=2).fingerprint == store.fingerprint
    assert csaw.open_graph("again.zarr").vertex_ids().tolist() == [5, 7, 9]
    with csaw.stream(edges, walk_length=9, seed=3, device="cpu") as stream:
        assert np.array_equal(np.concatenate([batch["walks"] for batch in stream]), walks[0])


def test_a_graph_larger_than_memory_can_be_an_object(here):
    rng = np.random.default_rng(0)
    edges = rng.integers(0, 3000, (30000, 2)) + 10
    small = csaw.sample(edges, seed=4, walk_length=6, device="cpu", memory="150KiB")
    assert small.results["plan"]["residency"] == "disk"
    assert np.array_equal(small.walks[:], csaw.sample(edges, seed=4, walk_length=6, device="cpu").walks[:])
    assert not list(here.iterdir())


def test_several_files_are_one_graph(here):
    for name, rows in {"a.csv": "u,v\n1,2\n", "b.csv": "u,v\n2,3\n"}.items():
        (here / name).write_text(rows)
    assert csaw.partition(["a.csv", here / "b.csv"], "g.zarr", overwrite=True).vertices == 3


def test_samples_of_any_kind_are_evaluated_together(here):
    stored = csaw.sample("karate", "s.zarr", algo="forest-fire", seed=1, device="cpu")
    kept = csaw.sample("karate", algo="forest-fire", seed=1, device="cpu")
    found = csaw.evaluate("karate", [stored, "s.zarr", kept], measures="degree", device="cpu")
    rows = [[row._replace(of="") for row in sample.rows] for sample in found.samples]
    assert rows[0] == rows[1] == rows[2]
    assert csaw.evaluate("karate", kept, measures="degree", device="cpu").samples[0].rows[0].of == "samples in memory"


def test_a_graph_is_called_as_it_was_named(here):
    found = csaw.evaluate("karate", measures="degree", device="cpu")
    assert str(found).splitlines()[0] == found.title == "karate"
    assert run("evaluate", "karate", "--measures", "degree", "--device", "cpu").splitlines()[0] == "karate"
    assert found.as_dict()["graph"] == str(found.store.path) != "karate"
    assert csaw.evaluate(found.store, measures="degree", device="cpu").title == str(found.store.path)


def test_progress_is_lines_a_function_or_nothing(here, capsys, monkeypatch):
    from csaw.partition.base import progress

    monkeypatch.setattr(progress, "QUIET_SECONDS", 0.0)
    told = []
    csaw.sample(
        "karate", walk_length=3, device="cpu", in_flight=17, progress=lambda done, total: told.append((done, total))
    )
    assert told == [(17, 34), (34, 34)]
    csaw.sample("karate", walk_length=3, device="cpu")
    csaw.sample("karate", walk_length=3, device="cpu", progress=False)
    assert capsys.readouterr().err == ""
    csaw.sample("karate", "s.zarr", walk_length=3, device="cpu", progress=True)
    assert "csaw: step 2 of 3: sampling: 34 of 34 (100 %) instances" in capsys.readouterr().err
    csaw.verify("s.zarr", progress=True)
    assert "csaw: check 4 of 7: edges: 34 of 34 (100 %) walks" in capsys.readouterr().err
    csaw.verify("s.zarr")
    assert capsys.readouterr().err == ""
    csaw.evaluate("karate", measures="degree", device="cpu", refresh=True, progress=True)
    assert "csaw: measuring degree of" in capsys.readouterr().err
    csaw.evaluate("karate", measures="degree", device="cpu", refresh=True, progress=told.append)
    assert told[-1].startswith("degree of")
    (here / "e.txt").write_text("1 2\n")
    csaw.partition("e.txt", "g.zarr", progress=lambda done, total: told.append((done, total)))
    assert told[-1] == (4, 4)


def test_a_notebook_has_a_bar(monkeypatch):
    from csaw.partition.base import progress, stages

    monkeypatch.setattr(progress, "in_jupyter", lambda: True)
    assert progress.wanted(None)
    shown, seen = [], []
    monkeypatch.setattr(progress, "_on_terminal", lambda command: nullcontext(shown.append(command)))
    with stages.hearing(lambda now: seen.append((now.heading, now.done))):
        csaw.sample("karate", walk_length=3, device="cpu")
    assert len(shown) == 1
    assert seen[-1] == ("step 2 of 2: sampling", 34)


def test_what_is_open_says_what_it_holds(here):
    walks = csaw.sample("karate", algo="node2vec", walk_length=5, seed=7, device="cpu")
    assert repr(walks) == "<csaw samples in memory: 34 walks of 5 steps, node2vec, seed 7, 170 edges>"
    later = csaw.sample("karate", "v.zarr", algo="neighbor", fanout="3,2", virtual=True, device="cpu")
    assert repr(later) == "<csaw samples v.zarr: 34 instances, neighbor, seed 0, drawn when they are read>"
    assert repr(later.part(1, 3)) == "<csaw samples v.zarr: 2 instances, neighbor, seed 0>"
    graph = csaw.graph([("a", "b", 2.0), ("a", "<c>", 1.0)])
    assert repr(graph) == "<csaw graph list of edges in memory: 3 vertices, 2 stored edges, directed, weighted>"
    stream = csaw.stream(graph, walk_length=3, num_walks=2, device="cpu", in_flight=4)
    assert (
        repr(stream)
        == "<csaw stream of list of edges in memory: 6 instances of deepwalk, up to 4 in a batch, seed 0, on cpu>"
    )
    found = csaw.evaluate(graph, measures="degree", device="cpu")
    assert repr(found).startswith("<csaw evaluation of list of edges in memory: ")
    shown = [
        one._repr_html_()
        for one in (walks, later, graph, stream, found, csaw.evaluate("karate", walks, measures="degree", device="cpu"))
    ]
    assert all(text.startswith("<table>") and text.endswith("</table>") for text in shown)
    assert "170" in shown[0]
    assert "<td>mean in-degree</td>" in shown[4]
    assert "samples in memory" in shown[5]


def test_html_shows_names_as_they_are():
    from csaw.partition.base.quoting import html_facts, html_rows

    assert "&lt;b&gt;" in html_facts("<b>", [("<b>", "<b>")])
    assert "<b>" not in html_facts("<b>", [("<b>", "<b>")]) + html_rows("<b>", ["<b>"], [["<b>"]])


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (
            lambda: csaw.sample("karate", "node2vec"),
            "out: 'node2vec' is the name of an algorithm; pass algo='node2vec'",
        ),
        (lambda: csaw.sample("karate", overwrite=True), "overwrite: needs out, the path of the sample store"),
        (lambda: csaw.sample("karate", "s.zarr", virtual=True, resume=True), "leave out resume"),
        (lambda: csaw.sample("karate", algo="nod"), "no algorithm called 'nod'"),
        (lambda: csaw.sample("karate", p=3), "^p is not an option of deepwalk"),
        (lambda: csaw.sample("no-such-graph"), "no-such-graph does not exist, and no dataset has that name"),
        (
            lambda: csaw.sample([(0, 1)], "s.zarr", virtual=True),
            "a graph in memory will be gone when the sample is drawn again",
        ),
        (lambda: csaw.partition("edges.txt", "g.zarr", memry=1), "memry: it is not an option; did you mean memory"),
        (lambda: csaw.partition("edges.txt", "g.zarr", weights="w"), "name a column with weight_column"),
        (
            lambda: csaw.partition([(0, 1)], "g.zarr", num_clusters=2),
            "num_clusters: expected an option of graphs in memory",
        ),
        (lambda: csaw.partition("edges.txt", "g.zarr", memory="much"), "memory: expected a size such as 256MiB"),
        (lambda: csaw.evaluate("karate", ["no.zarr"]), "no.zarr"),
        (lambda: csaw.open_graph(5), "path: expected the path of a graph store, found 5"),
        (lambda: csaw.seal(5), "out: expected the path of a sample store, found 5"),
        (
            lambda: csaw.export(5, "a.txt"),
            "store: expected the path of a sample store or a graph, or an open one, found",
        ),
        (lambda: csaw.open_samples(None), "path: expected the path of a sample store, found None"),
    ],
)
def test_what_cannot_be_done_is_refused_with_a_sentence(here, call, said):
    with pytest.raises(CsawError, match=said):
        call()
    assert not list(here.iterdir())


def test_samples_that_memory_does_not_hold_are_refused(monkeypatch):
    from csaw.engine.runs import draw

    monkeypatch.setattr(draw, "available_bytes", lambda: 1000)
    with pytest.raises(
        BudgetError, match=r"the samples take about [\d,]+ bytes, but only 1,000 are free; store them with out=PATH"
    ):
        csaw.sample("karate", device="cpu")


def test_a_stored_sample_of_a_graph_in_memory_names_no_graph(here):
    edges = [(0, 1), (1, 2), (2, 0)]
    csaw.sample(edges, "s.zarr", walk_length=4, device="cpu")
    assert "path" not in csaw.open_samples("s.zarr").manifest["graph"]
    done = CliRunner().invoke(cli, ["info", "s.zarr"])
    assert done.exit_code == 0
    from csaw.engine.stores.verify import verify

    with pytest.raises(StoreError, match="does not contain the path of its graph; give it with --graph"):
        verify("s.zarr")
    csaw.partition(edges, "g.zarr")
    assert verify("s.zarr", "g.zarr").ok
    with pytest.raises(OptionError, match="^graph: only for format pyg or torch"):
        csaw.export("s.zarr", "s.txt", graph="g.zarr")
