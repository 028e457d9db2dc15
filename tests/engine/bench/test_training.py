"""The suite training gives a graph that no folder holds to the process that trains."""

import json
from types import SimpleNamespace

import numpy as np
from helpers.graphs import random_store

from csaw.engine.bench.graphs import Graph
from csaw.engine.bench.suites import training
from csaw.partition import open_graph
from csaw.partition.graph.in_memory import InMemory

ON_CPU = SimpleNamespace(on_gpu=False, quick=True, threads=1, repeats=1)


def test_a_graph_that_is_on_no_disk_is_copied_for_the_process(tmp_path):
    stored = random_store(tmp_path / "g.zarr").load()
    held = InMemory("held", stored.indptr, stored.indices, directed=False)
    settings = training._settings(ON_CPU, Graph("held", held), tmp_path)
    copy = open_graph(json.loads(settings.read_text())["graph"])
    np.testing.assert_array_equal(copy.load().indices, stored.indices)
