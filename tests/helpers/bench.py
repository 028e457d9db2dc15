"""``csaw bench`` as tests run it, and rows of figures."""

import json

from click.testing import CliRunner

from csaw.cli.main import cli
from csaw.engine.bench.bench_row import figure

GRAPH = "rmat:scale=8,weights=1"


def bench(*arguments, folder):
    """Exit status, stdout, and the rows."""
    file = folder / "rows.json"
    done = CliRunner().invoke(
        cli,
        ["bench", *arguments, "--device", "cpu", "--out", str(folder), "--export-json", str(file)],
        catch_exceptions=False,
    )
    return done.exit_code, done.output, json.loads(file.read_text()) if file.exists() else []


def row(work, *rates, suite="walks", **more):
    return {"suite": suite, "graph": "g", "work": work, **figure(list(rates)), **more}
