"""Errors in Python name options as Python has them; on the command line they stay flags."""

import io
from contextlib import redirect_stderr

import pytest
from click.testing import CliRunner
from helpers.graphs import store_of
from helpers.machine import need_package

import csaw
from csaw.cli.main import cli, main
from csaw.partition.base.python_names import as_keywords, in_words, noted
from csaw.partition.errors import ChangedError, CsawError

EDGES = [(0, 1, 1), (1, 2, 1), (2, 0, 1)]


@pytest.fixture
def graph(tmp_path):
    return store_of(tmp_path / "g.zarr", EDGES, directed=False)


@pytest.mark.parametrize(
    ("message", "said"),
    [
        ("--walk-length: expected 0 to 9, found -3", "walk_length: expected 0 to 9, found -3"),
        ("--walk-length none: walks have no end", "walk_length=None: walks have no end"),
        ("a.zarr is there; pass --overwrite to replace it", "a.zarr is there; pass overwrite=True to replace it"),
        ("check nvidia-smi, or pass --device cpu", "check nvidia-smi, or pass device='cpu'"),
        ("pass --threads 2; or leave --in-flight 7 out", "pass threads=2; or leave in_flight 7 out"),
        ("read it with --undirected", "read it with directed=False"),
        ("--sources random:N: expected N from 1", "sources random:N: expected N from 1"),
        ("a file x.txt--y stays", "a file x.txt--y stays"),
        ("csaw partition F G --weight-column 3 has it, --p", "csaw partition F G --weight-column 3 has it, p"),
        ("--seeds-per-batch: expected 1, found 0", "batch_size: expected 1, found 0"),
    ],
)
def test_flags_become_keywords_and_commands_stay(message, said):
    assert as_keywords(message, {"seeds_per_batch": "batch_size"}) == said


def test_functions_name_their_keywords(graph, tmp_path):
    csaw.sample(graph, tmp_path / "s.zarr", walk_length=2)
    for called, said in [
        (lambda: csaw.sample(graph, walk_length=-3), r"^walk_length: expected 0 to"),
        (lambda: csaw.sample(graph, in_flight=0), r"^in_flight: expected 1 to"),
        (lambda: csaw.sample(graph, algo="restart", walk_length=None), r"^walk_length=None: walks without a limit"),
        (lambda: csaw.sample(graph, tmp_path / "s.zarr"), r"pass overwrite=True to replace it"),
        (lambda: csaw.stream(graph, num_walks=0), r"^num_walks: expected"),
        (
            lambda: csaw.evaluate(graph, measures="degre"),
            r"^measures: no measure called 'degre'.* did you mean degree\?",
        ),
        (lambda: csaw.partition("edges.txt", tmp_path / "h.zarr", memory="much"), r"^memory: expected"),
        (lambda: csaw.export(tmp_path / "s.zarr", tmp_path / "a", "cvs"), r"^format: expected one of arrow, csv"),
    ]:
        with pytest.raises(CsawError, match=said) as refused:
            called()
        assert "--" not in str(refused.value)


def test_a_misspelled_option_of_the_run_is_recognized(graph):
    with pytest.raises(CsawError, match=r"^sede is not an option of deepwalk; .*; did you mean seed\?"):
        csaw.sample(graph, sede=3)
    with pytest.raises(CsawError, match=r"did you mean walk_length\?"):
        csaw.sample(graph, walk_lenght=3)


def test_loaders_name_the_arguments_of_pytorch_geometric(graph):
    need_package("torch_geometric")
    from csaw.engine import loaders

    with pytest.raises(CsawError, match=r"^batch_size: expected an integer from 1 to"):
        loaders.NeighborLoader(graph, [2, 2], batch_size=0)
    with pytest.raises(CsawError, match=r"^num_neighbors: expected"):
        loaders.NeighborLoader(graph, [2, -5])
    with pytest.raises(CsawError, match=r"^batch_size: expected"):
        loaders.LayerLoader(graph, [4], batch_size=0)
    with pytest.raises(CsawError, match=r"^walk_length: expected"):
        loaders.WalkStream(graph, walk_length=-1)


def test_the_command_line_keeps_its_flags(graph, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    sampled = ["sample", "g.zarr", "s.zarr", "--device", "cpu"]
    assert CliRunner().invoke(cli, sampled).exit_code == 0
    assert "pass --overwrite to replace it" in str(CliRunner().invoke(cli, sampled).exception)
    exported = ["export", "s.zarr", "s.txt"]
    assert CliRunner().invoke(cli, exported).exit_code == 0
    assert "pass --overwrite to replace it" in str(CliRunner().invoke(cli, exported).exception)
    with pytest.raises(CsawError, match="pass overwrite=True"):
        csaw.export("s.zarr", "s.txt")


@pytest.mark.parametrize("name", ["karate", "edges.txt", "rmat:scale=4"])
def test_errors_call_a_graph_in_the_cache_as_the_user_did(tmp_path, monkeypatch, name):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("CSAW_CACHE_DIR", str(tmp_path / "cache"))
    (tmp_path / "edges.txt").write_text("0 1\n1 2\n2 0\n")
    with pytest.raises(CsawError, match=f"^vertex 99 is not in {name}; "):
        csaw.sample(name, algo="ppr", sources=[99], device="cpu")
    (tmp_path / "seeds.txt").write_text("99\n")
    command = ["sample", name, "s.zarr", "--algo", "ppr", "--sources", "seeds.txt", "--device", "cpu"]
    monkeypatch.setattr("sys.argv", ["csaw", *command])
    with pytest.raises(SystemExit), redirect_stderr(io.StringIO()) as said:
        main()
    assert f"vertex 99 is not in {name}; " in said.getvalue()


def test_an_error_about_a_file_in_the_cache_keeps_its_path(tmp_path):
    store = noted(tmp_path / "1234.zarr", "karate")
    assert in_words(ChangedError(f"{store}/indices/c.0 has changed")).startswith(str(store))
