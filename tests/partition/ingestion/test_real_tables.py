"""Claims of tables of DuckDB and polars themselves: relations and lazy frames become graphs, with conditions or filters
of their own; and these libraries query samples and graphs.
"""

import numpy as np
import pytest
from helpers.machine import need_package

import csaw
from csaw.partition.errors import CsawError

pa = need_package("pyarrow")
duckdb = need_package("duckdb")
polars = need_package("polars")
COUNT = 150_000  # more than a batch of either
RNG = np.random.default_rng(8)
CALLS = pa.table(
    {
        "caller": RNG.integers(0, 500, COUNT),
        "callee": RNG.integers(500, 900, COUNT),
        "minutes": RNG.integers(1, 90, COUNT) / 4,
        "kind": RNG.choice(["voice", "text", "video"], COUNT),
        "at": pa.array(RNG.integers(0, 10**9, COUNT)).cast(pa.timestamp("s")),
    }
)
HOW = {"source_column": "caller", "target_column": "callee", "weights": "minutes", "time": "at"}
WHERE = ["kind in ['voice', 'video']", "minutes > 3.5", "at >= '1980-01-01'"]
SQL = """kind IN ('voice', 'video') AND minutes > 3.5 AND "at" >= TIMESTAMP '1980-01-01'"""


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    path = tmp_path_factory.mktemp("real") / "calls.parquet"
    need_package("pyarrow.parquet").write_table(CALLS, path, row_group_size=20_000)
    return path


def lazily(file):
    picked = polars.col("kind").is_in(["voice", "video"]) & (polars.col("minutes") > 3.5)
    return polars.scan_parquet(file).filter(picked & (polars.col("at") >= polars.datetime(1980, 1, 1)))


def test_conditions_keep_what_sql_and_polars_keep(tmp_path, file):
    options = HOW | {"time_format": "iso", "time_decimals": 3}
    of_file = {"weight_column": "minutes", "time_column": "at"} | {
        name: one for name, one in options.items() if name not in ("weights", "time")
    }
    expected = csaw.partition(file, tmp_path / "e.zarr", where=WHERE, **of_file)
    kept = duckdb.sql(f"SELECT count(*) FROM '{file}' WHERE {SQL}").fetchall()[0][0]
    assert (expected.report["edges"], expected.report["left_out"]) == (kept, COUNT - kept)
    made = {
        "a relation": duckdb.sql(f"SELECT * FROM '{file}' WHERE {SQL}"),
        "a filtered relation": duckdb.read_parquet(str(file)).filter(SQL),
        "a lazy frame": lazily(file),
        "a collected frame": lazily(file).collect(),
    }
    for name, given in made.items():
        found = csaw.partition(given, tmp_path / f"{name}.zarr", memory="32MiB", **options)
        assert found.fingerprint == expected.fingerprint, name
        assert "left_out" not in found.report
    whole = {
        "a relation": duckdb.sql(f"SELECT * FROM '{file}'"),
        "a lazy frame": polars.scan_parquet(file),
        "a frame, whose strings are views": polars.read_parquet(file),
        "categories": polars.read_parquet(file).with_columns(polars.col("kind").cast(polars.Categorical)),
        "an enumeration": duckdb.sql(f"SELECT * REPLACE (kind::ENUM ('text', 'video', 'voice') AS kind) FROM '{file}'"),
    }
    for name, given in whole.items():
        found = csaw.partition(given, tmp_path / f"whole {name}.zarr", where=WHERE, memory="32MiB", **options)
        assert found.fingerprint == expected.fingerprint, name
        assert found.report["left_out"] == COUNT - kept, name


def test_ids_that_are_words_pass_conditions(tmp_path):
    frame = polars.DataFrame({"u": ["a", "b", "c"], "v": ["é", None, "a"], "n": [1, 2, 3]})
    for form in (frame, frame.lazy(), duckdb.sql("SELECT * FROM frame")):
        store = csaw.partition(form, tmp_path / "g.zarr", where="n != 2", overwrite=True)
        assert sorted(store.original_ids(np.arange(store.vertices)).tolist()) == ["a", "c", "é"]


def test_decimals_of_duckdb_are_compared_exactly(tmp_path):
    rows = duckdb.sql("SELECT range AS u, range + 1 AS v, (range * 0.1)::DECIMAL(5, 1) AS x FROM range(10)")
    assert csaw.partition(rows, tmp_path / "g.zarr", where="x == 0.3").report["edges"] == 1
    assert csaw.partition(rows, tmp_path / "h.zarr", where="x > 0.25").report["edges"] == 7


def test_a_query_that_fails_while_it_is_read_is_an_error_and_leaves_nothing(tmp_path):
    rows = duckdb.sql("SELECT 1 AS u, error('no such call')::INT AS v FROM range(3)")
    with pytest.raises(CsawError, match="graph: duckdb DuckDBPyRelation: .*no such call"):
        csaw.partition(rows, tmp_path / "g.zarr")
    assert not (tmp_path / "g.zarr").exists()


def test_relations_are_appended(tmp_path):
    options = {"source_column": "caller", "target_column": "callee", "weights": "minutes"}
    first, rest = (duckdb.sql(f"SELECT * FROM CALLS {which} 100") for which in ("LIMIT", "OFFSET"))
    store = csaw.partition(first, tmp_path / "g.zarr", duplicates="keep", **options)
    grown = csaw.append(store, rest, where="kind == 'text'", **options)
    text = CALLS["kind"].slice(100).to_pylist().count("text")
    assert grown.edges == 100 + text
    assert grown.report["append"]["left_out"] == COUNT - 100 - text


@pytest.mark.parametrize("place", ["memory", "disk"])
def test_duckdb_and_polars_query_samples_and_graphs(tmp_path, place):
    out = None if place == "memory" else tmp_path / "s.zarr"
    hops = csaw.sample("karate", out, algo="neighbor", fanout=(3, 2), seed=5, device="cpu")
    walks = csaw.sample("karate", algo="deepwalk", walk_length=5, num_walks=3, seed=5, device="cpu")
    graph = csaw.graph([(1, 2, 0.5), (2, 3, 1.0), (1, 3, 2.0)])
    assert graph.edges == 3
    table = pa.table(hops)
    counted = duckdb.sql("SELECT depth, count(*) FROM hops WHERE dst IS NOT NULL GROUP BY depth ORDER BY depth")
    expected = table.filter(table["dst"].is_valid())["depth"].value_counts().to_pylist()
    assert dict(counted.fetchall()) == {one["values"]: one["counts"] for one in expected}
    steps = duckdb.sql("SELECT instance, unnest(walk) AS vertex FROM walks").fetchnumpy()["vertex"]
    assert sorted(steps) == sorted(walks.walks[:].ravel())
    assert duckdb.sql("SELECT source, sum(weight) FROM graph GROUP BY source ORDER BY 1").fetchall() == [
        (1, 2.5),
        (2, 1.0),
    ]
    found = polars.DataFrame(hops).lazy().filter(polars.col("depth") == 0).select(polars.len()).collect().item()
    assert found == sum(one["counts"] for one in table["depth"].value_counts().to_pylist() if one["values"] == 0)
    again = csaw.graph(duckdb.sql("SELECT src, dst FROM hops WHERE dst IS NOT NULL"))
    assert again.fingerprint == csaw.graph(table.filter(table["dst"].is_valid()).select(["src", "dst"])).fingerprint
