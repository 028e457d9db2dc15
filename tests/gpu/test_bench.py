"""Suites on a GPU measure what their heads say: graphs that do not fit, and ways that run on the GPU."""

import json

from click.testing import CliRunner
from helpers.gpu import device_or_skip

from csaw.cli.main import cli
from csaw.engine.bench.bench_row import measured
from csaw.engine.bench.suites import gunrock, out_of_memory

DEVICE = device_or_skip()


def test_every_row_out_of_memory_moves_bytes_or_reads_in_place(tmp_path):
    options = [
        "--suite",
        "out-of-memory",
        "--only",
        "2 x 2",
        "--device",
        "cuda:0",
        "--repeats",
        "1",
        "--max-instances",
        "100",
    ]
    places = ["--out", str(tmp_path), "--export-json", str(tmp_path / "rows.json")]
    done = CliRunner().invoke(cli, ["bench", "rmat:scale=16,edge_factor=8", *options, *places], catch_exceptions=False)
    assert done.exit_code == 0
    rows = json.loads((tmp_path / "rows.json").read_text())
    ways = measured(rows, suite="out-of-memory")
    assert len(ways) == 2 * len(out_of_memory.ON_GPU)
    assert all(row["transfer_bytes"] > 0 for row in ways if row["way"] != "and in place")
    assert not rows[-1]["found"].startswith("the suite failed")


def test_all_ways_to_count_triangles_run_on_the_gpu(tmp_path):
    graphs = ["rmat:scale=10,edge_factor=8", "rmat:scale=11,edge_factor=8"]
    options = [
        "--suite",
        "triangle-ways",
        "--device",
        "cuda:0",
        "--repeats",
        "1",
        "--export-json",
        str(tmp_path / "rows.json"),
    ]
    done = CliRunner().invoke(cli, ["bench", *graphs, *options, "--out", str(tmp_path)], catch_exceptions=False)
    assert done.exit_code == 0
    rows = json.loads((tmp_path / "rows.json").read_text())
    ways = measured(rows, suite="triangle-ways")
    assert [row["series"] for row in ways] == 2 * list(gunrock.WAYS)
    assert {row["ran_on"] for row in ways} == {"cuda"}
    assert all(
        len({row["triangles"] for row in ways if row["graph"] == graph}) == 1 for graph in {r["graph"] for r in ways}
    )
