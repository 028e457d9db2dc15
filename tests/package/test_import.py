"""Claims of ``import csaw``: it is a package, cheap to import, typed, and ``csaw.partition`` is a module that can be
called.
"""

import inspect
import os
import re
import runpy
import subprocess
import sys
from pathlib import Path

import pytest

import csaw
import csaw.partition
from csaw.partition.base.version import VERSION
from csaw.partition.ingestion.ingest_options import IngestOptions
from csaw.partition.ingestion.making import PartitionOptions

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "tests" / "_src"
HEAVY = ("numpy", "numba", "scipy", "click", "rich", "networkx", "igraph", "pandas", "polars", "pyarrow", "torch")


def python(code):
    """What a process of its own prints."""
    env = os.environ | {"PYTHONPATH": str(SOURCE)}
    done = subprocess.run([sys.executable, "-c", code], check=False, env=env, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_the_import_is_cheap_until_a_name_is_used():
    loaded = (
        f"import sys, csaw; names = dir(csaw); csaw.__version__; csaw.partition; print([m for m in {HEAVY} if "
        "m in sys.modules])"
    )
    assert python(loaded) == "[]"


def test_no_library_is_imported_to_recognise_an_object():
    made = f"import sys, csaw; csaw.graph([(0, 1)]); print([m for m in {HEAVY[5:]} if m in sys.modules])"
    assert python(made) == "[]"


def test_every_name_is_there_and_described():
    assert csaw.__version__ == VERSION
    for name in set(csaw.__all__) - {"__version__"}:
        assert inspect.getdoc(getattr(csaw, name)), name
    assert set(csaw.__all__) <= set(dir(csaw))
    with pytest.raises(AttributeError, match="module 'csaw' has no attribute 'nothing'"):
        _ = csaw.nothing


def test_names_are_those_that_type_checkers_see():
    seen = (ROOT / "package" / "__init__.pyi").read_text()
    assert all(re.search(rf"\b(as|def) {name}\b|^{name}: ", seen, re.MULTILINE) for name in csaw.__all__)


def test_the_stub_says_what_options_are_declared():
    """After a change of options: PYTHONPATH=tests/_src python scripts/make_stub.py."""
    made = runpy.run_path(str(ROOT / "scripts" / "make_stub.py"))
    assert made["STUB"].read_text() == made["stub"]()


def test_the_docstrings_have_the_options_of_any_run():
    assert "\n        seed: " in csaw.sample.__doc__
    assert "\n        gpu_memory: " in csaw.evaluate.__doc__
    assert "('resident' | 'pooled' | 'streamed' | 'disk'; " in csaw.evaluate.__doc__


def test_help_has_the_options_of_measures_with_those_that_have_them():
    assert "\n        damping: of pagerank, personalized-pagerank: probability " in csaw.evaluate.__doc__
    assert {name: one.default for name, one in inspect.signature(csaw.evaluate).parameters.items()}["damping"] == 0.85


def test_help_and_completion_show_the_options_by_name():
    shown = str(inspect.signature(csaw.sample))
    assert shown.startswith("(graph, out=None, algo='deepwalk', *, directed=None, virtual=False")
    assert ", seed=0, " in shown
    assert ", p=1.0, " in shown
    assert ", fanout=<of the algorithm>, " in shown
    assert shown.endswith(", **options)")
    for function in (csaw.sample, csaw.stream, csaw.graph, csaw.evaluate, csaw.verify, csaw.info, csaw.seal):
        said = inspect.getdoc(function).partition("Args:\n")[2].partition("\n\n")[0]
        named = re.findall(r"^    \**(\w+): ", said, re.MULTILINE)
        assert named == list(inspect.signature(inspect.unwrap(function)).parameters)[: len(named) - 1] + named[-1:]


def test_partition_is_a_module_and_can_be_called():
    from csaw import partition
    from csaw.partition import open_graph
    from csaw.partition.graph import store

    assert partition is csaw.partition is sys.modules["csaw.partition"]
    assert callable(partition)
    assert partition.open_graph is open_graph is csaw.open_graph
    assert partition.graph.store is store
    assert "Make the graph store ``out``" in inspect.getdoc(type(partition).__call__)


def test_the_options_of_partition_are_those_of_the_command():
    from csaw.cli.commands.partition import partition

    here = set(PartitionOptions.__annotations__) - {"weights", "vertex_ids", "time"}
    assert {name.replace("partition_size", "partition_bytes") for name in here} == set(
        IngestOptions.__dataclass_fields__
    ) | {"reverse_relations"}
    flags = {
        max(param.opts, key=len).removeprefix("--").replace("-", "_") + "s" * getattr(param, "multiple", False)
        for param in partition.params
    }
    assert here == (flags | {"where"}) - {
        "wheres",
        "_h",
        "inputs",
        "out",
        "progress",
        "json",
        "profile",
        "quiet",
        "verbose",
        "cluster",
        "directed",
        "dry_run",
    } | {"directed"}


def test_every_file_of_the_package_is_linked_for_tests_and_tools():
    files = {file.name for file in (ROOT / "package").iterdir() if file.is_file()}
    assert "py.typed" in files
    for name in files:
        assert (SOURCE / "csaw" / name).resolve() == ROOT / "package" / name


CLIENT = """
import csaw
from csaw.engine.algorithm import Walk
from csaw.partition import open_graph

class Steep(Walk):
    strength = 2.0

reveal_type(csaw.sample("karate", algo="node2vec", p=0.5))
reveal_type(csaw.sample("karate").walks)
reveal_type(csaw.partition("a.txt", "g.zarr", memory="4GiB"))
reveal_type(csaw.evaluate("karate", csaw.sample("karate")))
reveal_type(csaw.stream("karate"))
reveal_type(csaw.open_graph("g.zarr"))
reveal_type(csaw.open_samples("g.zarr"))
reveal_type(csaw.graph([(0, 1)], directed=False))
reveal_type(open_graph("g.zarr"))
reveal_type(csaw.__version__)
reveal_type(csaw.sample("karate", "w.zarr", "node2vec", p=0.5, memory="1GiB"))
reveal_type(csaw.sample("karate", algo=Steep, strength=2.0, edge_bias=lambda e: e.weight * 2))
reveal_type(csaw.sample("karate")[2:9])
reveal_type(csaw.verify("w.zarr").ok)
for name in ("deepwalk", "node2vec"):
    csaw.sample("karate", algo=name, walk_length=5)
csaw.sample("karate", algo="node2vec", walk_lenght=3)
csaw.sample("karate", p=3)
csaw.stream("karate", "deepwalk", walk_length=[3])
csaw.sample("karate", progress="yes")
csaw.partition("a.txt", "g.zarr", memry="4GiB")
csaw.graph([(0, 1)], directedd=True)
csaw.nothing
"""
KINDS = [
    "Samples",
    "Array",
    "GraphStore",
    "Evaluation",
    "Stream",
    "GraphStore",
    "Samples",
    "GraphStore",
    "GraphStore",
    "str",
    "Samples",
    "Samples",
    "Samples",
    "bool",
]
WRONG = [
    'No overload variant of "sample" matches argument types "str", "str", "int"',
    'No overload variant of "sample" matches argument types "str", "int"',
    'No overload variant of "stream"',
    'No overload variant of "sample" matches argument types "str", "str"',
    'Unexpected keyword argument "memry"',
    'Unexpected keyword argument "directedd"',
    'Module has no attribute "nothing"',
]


def test_type_checkers_know_what_functions_take_and_return(tmp_path):
    (tmp_path / "client.py").write_text(CLIENT)
    command = [
        sys.executable,
        "-m",
        "mypy",
        "--config-file=",
        f"--cache-dir={tmp_path / 'cache'}",
        "--follow-imports=silent",
        "client.py",
    ]
    env = {"MYPYPATH": str(SOURCE), "PATH": ""}
    done = subprocess.run(command, check=False, cwd=tmp_path, env=env, capture_output=True, text=True)
    said = done.stdout.splitlines()
    found = [line.partition('type is "')[2].rstrip('"').rpartition(".")[2] for line in said if "Revealed type" in line]
    assert found == KINDS, done.stdout
    errors = [line for line in said if "client.py" in line and " error: " in line]
    assert len(errors) == len(WRONG)
    assert all(wrong in error for wrong, error in zip(WRONG, errors, strict=True)), errors


def test_modules_that_guides_use_are_attributes():
    assert python("import csaw; print(csaw.engine.algorithm.Walk.__name__)") == "Walk"
    assert {"algorithm", "algorithms", "loaders"} <= set(dir(csaw.engine))
