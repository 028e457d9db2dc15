"""A store never names code that runs: own algorithms of stored samples run from a file that the user names again, and
which must be the same.
"""

import hashlib
import inspect
import py_compile
import shutil
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from click.testing import CliRunner
from helpers.forged import forged
from helpers.graphs import SQUARE, store_of

import csaw
from csaw.cli.commands.evaluate import evaluate as evaluate_command
from csaw.cli.commands.export import export as export_command
from csaw.cli.commands.info import info as info_command
from csaw.cli.commands.sample import sample as sample_command
from csaw.cli.commands.verify import verify as verify_command
from csaw.engine import commit_virtual, open_samples, open_virtual, prepare, sample
from csaw.engine.analytics.evaluation.evaluate import evaluate
from csaw.engine.api import registry
from csaw.engine.cluster.recipe import Recipe
from csaw.engine.samples import check
from csaw.engine.stores.describe import describe_store as describe
from csaw.engine.stores.export import export
from csaw.engine.stores.verify import verify
from csaw.partition.errors import OptionError, StoreError

OWN = """
from pathlib import Path
from csaw.engine.algorithm import MiniBatches, Traversal, Walk, option

Path("ran").write_text("ran")

class Steep(Walk):
    power: float = option(2.0, help="of degrees")
    def edge_bias(self, e):
        return e.dst_degree ** self.power

class Leaps(Walk):
    def update(self, e):
        return e.src if e.dst > 2 else 3

class Few(Traversal):
    def sizes(self):
        return (2, 1)

class Packs(MiniBatches):
    fanout: tuple = option((3, 3), help="neighbors")
    def sizes(self):
        return self.fanout
"""
OTHERS = {"Few": {"instances": 40}, "Packs": {"seed": 3, "epochs": 50}}
GIVEN = {"device": "cpu", "seed": 3, "num_walks": 200, "walk_length": 4}


@pytest.fixture
def made(tmp_path, monkeypatch):
    """A function that samples by a class of own.py, stored or virtual, after which nothing has run; the store lies
    beside the file.
    """
    monkeypatch.chdir(tmp_path)
    (tmp_path / "own.py").write_text(OWN)
    store = store_of(tmp_path / "g.zarr", SQUARE, directed=False)

    def make(name, virtual=False, **given):
        given = GIVEN | given if name not in OTHERS else {"device": "cpu", **OTHERS[name], **given}
        if virtual:
            commit_virtual(prepare(store, f"own.py:{name}", **given), tmp_path / "s.zarr")
        else:
            sample(store, tmp_path / "s.zarr", f"own.py:{name}", **given)
        (tmp_path / "ran").unlink()
        return tmp_path / "s.zarr"

    return make


def statuses(report):
    return {check.name: check.status for check in report.checks}


def test_a_request_knows_the_file_of_its_algorithm(tmp_path, made):
    digest = hashlib.sha256(OWN.encode()).hexdigest()
    assert open_samples(made("Steep")).manifest["request"]["code"] == digest
    sample(tmp_path / "g.zarr", tmp_path / "d.zarr", "deepwalk", device="cpu")
    assert "code" not in open_samples(tmp_path / "d.zarr").manifest["request"]


@pytest.mark.parametrize("name", ["Steep", "Few", "Leaps", "Packs"])
def test_without_its_file_a_sample_is_checked_for_all_that_needs_no_law(tmp_path, made, name):
    path = made(name)
    report = verify(path)
    assert not (tmp_path / "ran").exists()
    found = statuses(report)
    assert found == {
        "checksums": "ok",
        "graph": "ok",
        "vertices": "ok",
        "edges": "not tested" if name == "Leaps" else "ok",
        "law": "not tested",
    }
    assert report.untested
    assert "--algo FILE.py:" + name in report.checks[-1].details
    export(path, tmp_path / "out.txt")
    describe(path)
    evaluate(tmp_path / "g.zarr", [path], measures="degree", device="cpu")
    assert not (tmp_path / "ran").exists()
    named = verify(path, algo=f"own.py:{name}")
    assert named.ok
    assert "law" not in statuses(named)
    assert (tmp_path / "ran").exists()


@pytest.mark.parametrize(("name", "array"), [("Few", "dst"), ("Steep", "walks")])
def test_vertices_and_edges_that_the_graph_lacks_are_found_without_the_law(made, name, array):
    path = made(name)
    [chunk] = (path / array).glob("c.0*")
    numbers = np.frombuffer(chunk.read_bytes(), open_samples(path)[array].dtype).copy()
    numbers[numbers == numbers[1]] = 77
    chunk.write_bytes(numbers.tobytes())
    sums = hashlib.sha256(chunk.read_bytes()).hexdigest()
    forged(path, lambda said: None, {f"{array}/{chunk.name}": sums})
    found = statuses(verify(path))
    assert found["vertices"] == "FAIL"
    assert found["edges"] == ("FAIL" if name == "Few" else "not tested")


def test_a_virtual_sample_is_drawn_by_a_file_that_the_user_names(tmp_path, made):
    path = made("Steep", virtual=True)
    works = [
        open_samples,
        open_virtual,
        verify,
        describe,
        lambda path, **how: export(path, tmp_path / "out.txt", overwrite=True, **how),
        lambda path, **how: evaluate(tmp_path / "g.zarr", [path], measures="degree", device="cpu", **how),
    ]
    for work in works:
        with pytest.raises(StoreError, match="custom code, 'own.py:Steep'.*(--algo |algo=')FILE.py:Steep"):
            work(path)
        assert not (tmp_path / "ran").exists()
        work(path, algo="own.py:Steep")
        (tmp_path / "ran").unlink()
    wanted = sample(tmp_path / "g.zarr", tmp_path / "t.zarr", "own.py:Steep", **GIVEN)
    assert np.array_equal(open_samples(path, algo="own.py:Steep").walks[:], wanted.walks[:])
    recipe = Recipe.of(path, tmp_path / "u.zarr", "own.py:Steep", {"device": "cpu"}, virtual=True)
    assert recipe.there().plan.request == open_virtual(path, algo="own.py:Steep").job.plan.request
    made_again = csaw.sample(tmp_path / "g.zarr", tmp_path / "v.zarr", "own.py:Steep", virtual=True, **GIVEN)
    assert np.array_equal(made_again.walks[:5], wanted.walks[:5])


@pytest.mark.parametrize("virtual", [False, True])
def test_another_file_another_class_or_a_shipped_name_are_refused(tmp_path, made, virtual):
    path = made("Steep", virtual)
    (tmp_path / "other.py").write_text(OWN + "\n")
    for algo, error, said in (
        ("other.py:Steep", StoreError, "SHA-256"),
        ("own.py:Leaps", OptionError, "expected FILE.py:Steep"),
        ("own.py", OptionError, "expected FILE.py:Steep"),
        ("deepwalk", OptionError, "expected FILE.py:Steep"),
        (5, OptionError, "expected FILE.py:Steep"),
    ):
        with pytest.raises(error, match=said):
            verify(path, algo=algo)
    assert not (tmp_path / "ran").exists()
    sample(tmp_path / "g.zarr", tmp_path / "d.zarr", "deepwalk", device="cpu")
    with pytest.raises(OptionError, match="which comes with csaw; leave --algo out"):
        verify(tmp_path / "d.zarr", algo="own.py:Steep")


@pytest.mark.parametrize("virtual", [False, True])
def test_a_file_inside_a_store_that_names_it_does_not_run(tmp_path, monkeypatch, virtual):
    monkeypatch.chdir(tmp_path)
    store = store_of(tmp_path / "g.zarr", SQUARE, directed=False)
    if virtual:
        commit_virtual(prepare(store, "deepwalk", **GIVEN), tmp_path / "w.zarr")
    else:
        sample(store, tmp_path / "w.zarr", "deepwalk", **GIVEN)
    (tmp_path / "w.zarr" / "evil.py").write_text(
        "open('PWNED', 'w')\nfrom csaw.engine.algorithms.deepwalk import Deepwalk as X\n"
    )
    forged("w.zarr", lambda said: said["manifest"]["request"].update(algorithm="w.zarr/evil.py:X"))
    run = CliRunner()
    assert run.invoke(verify_command, ["w.zarr"]).exit_code != 0
    run.invoke(info_command, ["w.zarr", "--full"])
    run.invoke(export_command, ["w.zarr", "out.txt"])
    run.invoke(evaluate_command, ["g.zarr", "w.zarr", "--measures", "degree", "--device", "cpu"])
    run.invoke(sample_command, ["--from", "w.zarr", "again.zarr"])
    assert not (tmp_path / "PWNED").exists()


def test_a_cached_module_beside_a_named_file_does_not_run(tmp_path, made):
    """Python would run it in place of the file if it says the file's time and size."""
    path = made("Steep")
    other = tmp_path / "__pycache__"
    shutil.rmtree(other, ignore_errors=True)
    code = OWN.replace('"ran").write_text("ran")', '"bad").write_text("bad")')
    source = tmp_path / "own.py"
    source.write_text(code)
    py_compile.compile(str(source), invalidation_mode=py_compile.PycInvalidationMode.UNCHECKED_HASH)
    source.write_text(OWN)
    assert verify(path, algo="own.py:Steep").ok
    assert not (tmp_path / "bad").exists()


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda r: r.update(parameters={"columns": "/etc/passwd"}), "parameters: expected options of 'deepwalk'"),
        (lambda r: r.update(parameters=[1]), "expected request: parameters: dict, found [1]"),
        (lambda r: r.update(algorithm=["deepwalk"]), "expected request: algorithm: str, found ['deepwalk']"),
        (lambda r: r.update(algorithm="os:system"), "custom code"),
    ],
    ids=["an option of runs", "a list", "no name", "a module"],
)
@pytest.mark.parametrize("virtual", [False, True])
def test_what_csaw_would_not_have_written_is_refused_by_name(tmp_path, change, said, virtual):
    store = store_of(tmp_path / "g.zarr", SQUARE, directed=False)
    if virtual:
        commit_virtual(prepare(store, "deepwalk", **GIVEN), tmp_path / "w.zarr")
    else:
        sample(store, tmp_path / "w.zarr", "deepwalk", **GIVEN)
    forged(tmp_path / "w.zarr", lambda attributes: change(attributes["manifest"]["request"]))
    try:
        report = verify(tmp_path / "w.zarr")
    except StoreError as error:
        found = str(error)
    else:
        found = report.checks[-1].details
    assert str(tmp_path / "w.zarr") in found
    assert said in found


@pytest.mark.parametrize("sources", ["/dev/zero", "g.zarr/zarr.json", "list", 5, ["a"]])
def test_a_virtual_sample_reads_no_file_of_sources(tmp_path, sources):
    store = store_of(tmp_path / "g.zarr", SQUARE, directed=False)
    commit_virtual(prepare(store, "deepwalk", **GIVEN), tmp_path / "w.zarr")
    forged(tmp_path / "w.zarr", lambda said: said["virtual"].update(sources=sources))
    with pytest.raises(StoreError, match="sources: expected random:N"):
        open_samples(tmp_path / "w.zarr")


def test_a_file_that_changes_while_python_runs_is_read_again(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for power in ("2.0", "3.0"):
        (tmp_path / "own.py").write_text(OWN.replace("e.dst_degree ** self.power", f"e.dst_degree ** {power}"))
        walk = registry.build("own.py:Steep", {})
        assert walk.file_digest == hashlib.sha256((tmp_path / "own.py").read_bytes()).hexdigest()
        assert power in inspect.getsource(type(walk).edge_bias)


@pytest.mark.parametrize("name", ["../other/zarr.json", "/etc/passwd", "walks/../../zarr.json"])
def test_a_file_elsewhere_is_not_read_for_a_checksum_of_it(tmp_path, name):
    store = store_of(tmp_path / "g.zarr", SQUARE, directed=False)
    sample(store, tmp_path / "w.zarr", "deepwalk", **GIVEN)
    forged(tmp_path / "w.zarr", lambda said: None, {name: "0" * 64})
    with pytest.raises(StoreError, match="expected names of files of the store"):
        check.checksums_of(tmp_path / "w.zarr")


def test_files_that_the_file_imports_are_part_of_it(tmp_path, monkeypatch):
    """Its own modules, packages, and theirs; no installed package, and nothing runs for it."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "mine_of_a_test", raising=False)
    text = "import numpy, json\nfrom csaw.engine.algorithm import Walk\n"
    (tmp_path / "own.py").write_text(text)
    assert registry.code_of("own.py:A")[1] == hashlib.sha256(text.encode()).hexdigest()
    (tmp_path / "own.py").write_text(text + "from mine_of_a_test import bias\n")
    package = tmp_path / "mine_of_a_test"
    package.mkdir()
    (package / "__init__.py").write_text("from .deep import bias\nraise SystemExit\n")
    (package / "deep.py").write_text("from mine_of_a_test import other\nfrom . import more as m\nbias = 2\n")
    (package / "other.py").write_text("")
    (package / "more.py").write_text("")
    found = {registry.code_of("own.py:A")[1]}
    for count, name in enumerate(("__init__", "deep", "other", "more", "absent"), 2):
        with (package / f"{name}.py").open("a") as file:
            file.write("# changed\n")
        found.add(registry.code_of("own.py:A")[1])
        assert len(found) == min(count, 5)
    (package / "own.dist-info").mkdir()
    (tmp_path / "a-1.dist-info").mkdir()  # as in a folder of installed packages
    assert registry.code_of("own.py:A")[1] == hashlib.sha256((tmp_path / "own.py").read_bytes()).hexdigest()


def test_imports_are_those_beside_the_file_as_they_are_now(tmp_path, monkeypatch):
    """Of two folders with files of the same names, and after a change within one process."""
    store = store_of(tmp_path / "g.zarr", [(0, 1, 1), (0, 2, 1)], directed=False)
    text = "from csaw.engine.algorithm import Walk\nfrom mine import K\n\nclass W(Walk):\n"
    text += "    def edge_bias(self, e):\n        return 1 + K * (e.dst % 2)\n"

    def share(folder, k):
        (tmp_path / folder).mkdir(exist_ok=True)
        (tmp_path / folder / "own.py").write_text(text)
        (tmp_path / folder / "mine.py").write_text(f"K = {k}\n")
        given = {"walk_length": 1, "num_walks": 2000, "sources": [0], "device": "cpu"}
        found = csaw.sample(store, algo=f"{tmp_path}/{folder}/own.py:W", **given).walks[:, 1]
        return float((found == 1).mean())

    assert share("a", 0) == pytest.approx(0.5, abs=0.05)
    assert share("a", 9) == pytest.approx(10 / 11, abs=0.05)
    assert share("b", 0) == pytest.approx(0.5, abs=0.05)
    assert "mine" not in sys.modules
    text = text.replace("from mine import K", "import mine").replace("K *", "mine.K *")
    assert share("a", 0) == pytest.approx(0.5, abs=0.05)
    assert share("a", 9) == pytest.approx(10 / 11, abs=0.05)  # no kernel of the number before is used


def test_threads_import_what_lies_beside_their_own_files(tmp_path):
    """All at once, by the same names."""
    for k in range(4):
        (tmp_path / str(k)).mkdir()
        (tmp_path / str(k) / "mine.py").write_text(f"K = {k}\n")
        text = "from csaw.engine.algorithm import Walk\nfrom mine import K\nclass W(Walk):\n    number = K\n"
        (tmp_path / str(k) / "own.py").write_text(text)
    before = list(sys.path)
    with ThreadPoolExecutor(8) as threads:
        found = list(threads.map(lambda k: registry.load(f"{tmp_path}/{k % 4}/own.py:W")[0].number, range(80)))
    assert found == [k % 4 for k in range(80)]
    assert sys.path == before
