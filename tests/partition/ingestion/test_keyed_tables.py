"""Tables with keys as graphs: every row, key and time against a join by dicts, and what is refused."""

import json

import numpy as np
import pytest
from click.testing import CliRunner
from helpers.machine import need_package

import csaw
from csaw.cli.main import cli
from csaw.partition.errors import CsawError, FormatError, OptionError
from csaw.partition.graph.types import RELATION

pandas = need_package("pandas")
need_package("pyarrow")

EARLY = -(2**63) + 1
SHOP = {
    "customer": {"file": "customers.csv", "key": "id"},
    "product": {"file": "products.parquet", "key": "sku", "time": "listed"},
    "order": {
        "file": "orders.parquet",
        "key": "id",
        "time": "placed",
        "references": {"customer_id": "customer", "sku": {"table": "product", "name": "holds"}},
    },
    "visit": {"file": "visits.csv", "time": "at", "references": {"who": "customer"}},
}


def described(folder, tables, **more):
    (folder / "shop.json").write_text(json.dumps({"tables": tables} | more))
    return folder / "shop.json"


def shop(folder, orders=200, dangling=False):
    """Random tables: keys of customers are texts, those of products integers, half of which pandas makes floats."""
    draw = np.random.default_rng(3)
    names = [f"c {k}" for k in draw.permutation(40)]
    skus = draw.permutation(1000)[:30]
    dates = [np.datetime64("2026-01-01") + int(day) for day in draw.integers(0, 90, 30)]
    customers = pandas.DataFrame({"name": "x", "id": names})
    products = pandas.DataFrame({"sku": skus, "listed": np.array(dates, "datetime64[us]")})
    of_customer = [names[k] if k < 30 else None for k in draw.integers(0, 34, orders)]
    of_product = [float(skus[k]) if k < 25 else np.nan for k in draw.integers(0, 28, orders)]
    placed = np.datetime64("2026-02-01T00:00:00") + draw.integers(0, 10**7, orders).astype("timedelta64[s]")
    if dangling:
        of_customer[5], of_customer[9], of_product[5] = "nobody", "no one", 1001.0
    ids = np.arange(orders) * 3
    held = {"id": ids, "placed": placed, "customer_id": of_customer, "sku": of_product}
    visits = pandas.DataFrame({"who": [names[k] for k in draw.integers(0, 40, 50)], "at": placed[:50]})
    customers.to_csv(folder / "customers.csv", index=False)
    products.to_parquet(folder / "products.parquet")
    pandas.DataFrame(held).to_parquet(folder / "orders.parquet")
    visits.to_csv(folder / "visits.csv", index=False, date_format="%Y-%m-%dT%H:%M:%S")
    return customers, products, pandas.DataFrame(held), visits


def seconds(times):
    return np.asarray(times, "datetime64[s]").astype(np.int64).tolist()


def edges_of(store):
    graph = store.load([RELATION, store.time])
    names = store.original_ids(np.arange(store.vertices))
    source = np.repeat(np.arange(store.vertices), np.diff(graph.indptr))
    relation = [str(store.types.relations[k]) for k in graph.columns["relation"]]
    return sorted(zip(names[source], relation, names[graph.indices], graph.columns["time"].tolist(), strict=True))


def expected(customers, products, orders, visits):
    """The same by dicts."""
    listed = dict(zip(products["sku"].tolist(), seconds(products["listed"]), strict=True))
    found, known = [], set(customers["id"])
    for key, placed, who, sku in zip(*(orders[n] for n in ("id", "placed", "customer_id", "sku")), strict=True):
        (at,) = seconds([placed])
        if who in known:
            found += [
                (f"order:{key}", "order-customer_id-customer", f"customer:{who}", EARLY),
                (f"customer:{who}", "customer-rev_customer_id-order", f"order:{key}", at),
            ]
        if sku in listed:
            found += [
                (f"order:{key}", "order-holds-product", f"product:{int(sku)}", listed[int(sku)]),
                (f"product:{int(sku)}", "product-rev_holds-order", f"order:{key}", at),
            ]
    for row, (who, at) in enumerate(zip(visits["who"], seconds(visits["at"]), strict=True)):
        found += [
            (f"visit:{row}", "visit-who-customer", f"customer:{who}", EARLY),
            (f"customer:{who}", "customer-rev_who-visit", f"visit:{row}", at),
        ]
    return sorted(found)


@pytest.mark.parametrize("dangling", [False, True])
def test_rows_are_vertices_and_keys_are_edges(tmp_path, dangling):
    tables = shop(tmp_path, dangling=dangling)
    path = described(tmp_path, SHOP)
    if dangling:
        with pytest.raises(FormatError, match=r"orders.parquet: row 6, column customer_id: expected a key of customer"):
            csaw.partition(path, tmp_path / "g.zarr", progress=False)
    options = {"on_error": "skip"} if dangling else {}
    store = csaw.partition(path, tmp_path / "g.zarr", reverse_relations=True, progress=False, **options)
    assert edges_of(store) == expected(*tables)
    assert store.types.names == ("customer", "order", "product", "visit")
    for name, table, key in zip(("customer", "product", "order"), tables, ("id", "sku", "id"), strict=False):
        first, last = store.types.span(name)
        ids = store.original_ids(np.arange(first, last)).tolist()
        assert ids == [f"{name}:{one}" for one in table[key]], "vertices have the order of the rows"
    assert store.report["skipped"] == 3 * dangling
    assert store.report["isolated"] > 0
    assert store.time.units == "seconds since 1970-01-01"
    done = CliRunner().invoke(cli, ["info", str(tmp_path / "g.zarr"), "--full"])
    assert done.exit_code == 0, done.output


def test_the_command_line_makes_the_same_store(tmp_path):
    shop(tmp_path, dangling=True)
    path = described(tmp_path, SHOP)
    store = csaw.partition(path, tmp_path / "g.zarr", on_error="skip", progress=False)
    line = ["partition", str(path), str(tmp_path / "h.zarr"), "--on-error", "skip", "--no-progress"]
    done = CliRunner().invoke(cli, line)
    assert done.exit_code == 0, done.output
    assert "order-holds-product: " in done.output
    assert "3 malformed rows skipped" in done.output
    assert csaw.open_graph(tmp_path / "h.zarr").fingerprint == store.fingerprint
    done = CliRunner().invoke(cli, [*line, "--dry-run"])
    assert "The first 5 edges; nothing was written." in done.output


def test_a_row_is_drawn_only_when_it_is_there(tmp_path):
    """LAWS E1: a user at several times, whose orders are at 5 and 8."""
    (tmp_path / "users.csv").write_text("id\n0\n")
    (tmp_path / "orders.csv").write_text("id,user,time\n1,0,5\n2,0,8\n")
    tables = {
        "user": {"file": "users.csv", "key": "id"},
        "order": {
            "file": "orders.csv",
            "key": "id",
            "time": "time",
            "references": {"user": {"table": "user", "name": "of"}},
        },
    }
    store = csaw.partition(described(tmp_path, tables), tmp_path / "g.zarr", reverse_relations=True, progress=False)
    seeds = {"ids": ["user:0"] * 3, "time": [6, 9, 8]}
    options = {"sources": seeds, "fanout": {"*": (9, 9)}, "shuffle": False, "disjoint": True, "device": "cpu"}
    for order, wanted in (("monotone", [1, 2, 2]), ("strict", [1, 2, 1])):
        timed = {"time_strategy": "uniform", "time_order": order}
        sample = csaw.sample(store, algo="minibatch", seeds_per_batch=3, progress=False, **options | timed)
        one = sample.group(0, 1)
        names = sample.names(np.arange(store.vertices))[one["n_id"]]
        orders = np.char.startswith(names.astype(str), "order")
        assert np.bincount(one["batch"][orders], minlength=3).tolist() == wanted


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"order": {"file": "orders.csv"}}, "expected references of at least one table, found none"),
        ({"order": {"file": "none.csv", "references": {"id": "user"}}}, "none.csv does not exist or is not a file"),
        ({"order": {"file": "orders.csv", "references": {"who": "user"}}}, "expected one column 'who', found id, user"),
        ({"order": {"file": "orders.csv", "references": {"id": "item"}}}, "expected one of the tables user, order"),
        ({"order": {"file": "orders.csv", "references": {"user": "user"}}}, "user is the name of a type and of a rel"),
        ({"order": {"file": "orders.csv", "references": {"no way": "user"}}}, "give the relation another name"),
        ({"order": {"file": 3, "references": {"id": "user"}}}, "expected an object with file, such as users.csv"),
        ({"order": {"file": "orders.csv", "keys": "id"}}, "expected an object with file"),
        ({"order": {"file": "orders.csv", "references": ["user"]}}, "expected tables by the names of columns"),
        (
            {"order": {"file": "orders.csv", "time": 3, "references": {"id": "user"}}},
            "time: expected the name of a col",
        ),
        ({"no name": {"file": "users.csv"}}, "expected names of a letter and up to 63 letters, digits and underscores"),
        ({"user": {"file": "users.csv"}}, "user: expected a key, because order refers to it"),
        ({"user": {"file": "twice.csv", "key": "id"}}, "twice.csv: row 2, column id: expected a primary key that no"),
        (
            {"user": {"file": "empty.csv", "key": "id"}},
            "empty.csv: row 2, column id: expected a primary key, found none",
        ),
        ({"order": {"file": "late.csv", "time": "at", "references": {"of": "user"}}}, "late.csv: row 2, column at"),
        ({"user": {"file": "users.csv", "key": "id", "time": "name"}}, "row 1, column name: expected a date of ISO"),
        ({"user": {"file": "broken.parquet", "key": "id"}}, "broken.parquet: the file is damaged, or its type differs"),
    ],
)
def test_what_is_no_table_is_refused(tmp_path, change, said):
    files = {
        "users.csv": "id,name\n1,ann\n2,bob\n",
        "orders.csv": "id,user,at\n1,1,5\n2,,6\n",
        "twice.csv": "id,name\n1,ann\n1,bob\n",
        "empty.csv": "id,name\n1,ann\n,bob\n",
        "late.csv": "id,of,at\n1,1,5\n2,2,\n",
        "broken.parquet": "no parquet",
    }
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    orders = {"file": "orders.csv", "references": {"user": {"table": "user", "name": "of"}}}
    tables = {"user": {"file": "users.csv", "key": "id"}, "order": orders} | change
    with pytest.raises(CsawError) as error:
        csaw.partition(described(tmp_path, tables), tmp_path / "g.zarr", progress=False)
    assert said in str(error.value)
    assert not (tmp_path / "g.zarr").exists()


def test_rows_of_edges_are_read_whatever_their_file_is_called(tmp_path):
    (tmp_path / "edges.json").write_text("1\t2\n2\t3\n")
    assert csaw.partition(tmp_path / "edges.json", tmp_path / "g.zarr", progress=False).edges == 2


def test_other_json_and_options_of_edges_are_refused(tmp_path):
    shop(tmp_path)
    path = described(tmp_path, SHOP)
    with pytest.raises(OptionError, match="weight_column: not possible for tables with keys"):
        csaw.partition(path, tmp_path / "g.zarr", weight_column="none", progress=False)
    with pytest.raises(OptionError, match="directed=False: not possible for tables with keys"):
        csaw.partition(path, tmp_path / "g.zarr", directed=False, progress=False)
    with pytest.raises(FormatError, match="time_format of numbers, iso"):
        csaw.partition(described(tmp_path, SHOP, time_format="years"), tmp_path / "g.zarr", progress=False)
    with pytest.raises(FormatError, match="expected tables and maybe time_format and time_decimals, found 'other'"):
        csaw.partition(described(tmp_path, SHOP, other=1), tmp_path / "g.zarr", progress=False)
    path.write_text('{"tables": ' + "[" * 100_000)
    with pytest.raises(FormatError, match="expected JSON, found none"):
        csaw.partition(path, tmp_path / "g.zarr", progress=False)
    path.write_text("{")
    with pytest.raises(FormatError, match="expected JSON, found none"):
        csaw.partition(path, tmp_path / "g.zarr", progress=False)
    path.write_text('[{"source": 1}]')
    with pytest.raises(FormatError, match="this is JSON, not rows of edges"):
        csaw.partition(path, tmp_path / "g.zarr", progress=False)


def test_tables_without_rows_and_without_references_are_types_too(tmp_path):
    (tmp_path / "users.csv").write_text("id\n1\n")
    (tmp_path / "orders.csv").write_text("of,at\n")
    (tmp_path / "notes.csv").write_text("text\na\nb\n")
    orders = {"file": "orders.csv", "time": "at", "references": {"of": "user"}}
    tables = {"user": {"file": "users.csv", "key": "id"}, "order": orders, "note": {"file": "notes.csv"}}
    store = csaw.partition(described(tmp_path, tables), tmp_path / "g.zarr", progress=False)
    assert store.types.attributes["vertices"] == {"note": 2, "order": 0, "user": 1}
    assert (store.edges, store.report["isolated"]) == (0, 3)
    assert csaw.open_graph(tmp_path / "g.zarr").types == store.types


def test_decimals_of_times_are_kept_where_they_are_asked_for(tmp_path):
    (tmp_path / "users.csv").write_text("id\n1\n")
    (tmp_path / "orders.csv").write_text("of,at\n1,2026-01-01T00:00:00.125\n")
    tables = {
        "user": {"file": "users.csv", "key": "id"},
        "order": {"file": "orders.csv", "time": "at", "references": {"of": "user"}},
    }
    with pytest.raises(FormatError, match=r"orders.csv: row 1, column at: expected a date of ISO 8601"):
        csaw.partition(described(tmp_path, tables), tmp_path / "g.zarr", progress=False)
    path = described(tmp_path, tables, time_format="iso", time_decimals=3)
    store = csaw.partition(path, tmp_path / "g.zarr", reverse_relations=True, progress=False)
    assert store.time.units == "milliseconds since 1970-01-01"
    assert max(one[3] for one in edges_of(store)) == 1767225600125


def two(folder, users, orders, **more):
    """The JSON file of two tables, whose files are text, bytes or Arrow tables; an order refers to its user."""
    from pyarrow import parquet

    tables = {"user": {"key": "id"}, "order": {"references": {"of": "user"}}}
    for name, held in (("user", users), ("order", orders)):
        tables[name]["file"] = f"{name}.csv" if isinstance(held, str | bytes) else f"{name}.parquet"
        if isinstance(held, str | bytes):
            (folder / f"{name}.csv").write_bytes(held if isinstance(held, bytes) else held.encode())
        else:
            parquet.write_table(held, folder / f"{name}.parquet")
        tables[name] |= more.pop(name, {})
    return described(folder, tables, **more)


def ends_of(store):
    graph = store.load()
    names = store.original_ids(np.arange(store.vertices))
    return list(zip(names.repeat(np.diff(graph.indptr)).tolist(), names[graph.indices].tolist(), strict=True))


LARGE = 2.0**53
FLOATS = [
    (np.array([1, np.nan, 3], np.float16), ["user:1", "user:3"]),
    (np.array([1e7, 1.5, -0.0]), ["user:10000000", "user:1.5", "user:0"]),
    (np.array([LARGE - 1, 1.0]), [f"user:{2**53 - 1}", "user:1"]),
]


@pytest.mark.parametrize(("keys", "found"), FLOATS)
def test_floats_are_the_integers_that_they_are(tmp_path, keys, found):
    import pyarrow

    users = pyarrow.table({"id": pyarrow.array([1, 3, 0, 10**7, 2**53 - 1])})
    if 1.5 in keys:
        users = pyarrow.table({"id": ["10000000", "1.5", "0"]})
    path = two(tmp_path, users, pyarrow.table({"of": pyarrow.array(keys)}))
    store = csaw.partition(path, tmp_path / "g.zarr", progress=False)
    assert [user for _, user in ends_of(store)] == found


def test_a_float_that_may_have_been_another_key_is_refused(tmp_path):
    """A join by floats would find 2^53 for 2^53 + 1."""
    import pyarrow

    keys = pandas.DataFrame({"of": [2**53 + 1, None]})["of"]
    users = pyarrow.table({"id": [2**53, 2**53 + 1]})
    for dtype, large in (("float64", keys), ("float32", keys), ("float64", [1.0, np.inf])):
        orders = pyarrow.table({"of": pyarrow.array(np.array(large, dtype))})
        with pytest.raises(FormatError, match=r"order.parquet: row \d, column of: expected a key, found the float"):
            csaw.partition(two(tmp_path, users, orders), tmp_path / "g.zarr", on_error="skip", progress=False)
    orders = pyarrow.table({"of": pyarrow.array([2**53 + 1, None])})
    store = csaw.partition(two(tmp_path, users, orders), tmp_path / "g.zarr", progress=False)
    assert ends_of(store) == [("order:0", f"user:{2**53 + 1}")]


@pytest.mark.parametrize("cells", [[[1], [2]], [{"a": 1}, {"a": 2}], [b"1", b"\xff"]])
def test_cells_that_are_no_keys_are_refused(tmp_path, cells):
    import pyarrow

    held = pyarrow.table({"id": pyarrow.array(cells), "of": pyarrow.array(cells)})
    for users, orders, where in ((held, "of\n1\n", "user.*column id"), ("id\n1\n", held, "order.*column of")):
        with pytest.raises(FormatError, match=f"{where} holds .*, expected keys that are integers or UTF-8 text"):
            csaw.partition(two(tmp_path, users, orders), tmp_path / "g.zarr", progress=False)


def test_a_key_may_be_the_time_too(tmp_path):
    path = two(tmp_path, "id\n007\n010\n", "of\n010\n007\n", user={"time": "id"})
    store = csaw.partition(path, tmp_path / "g.zarr", progress=False)
    assert ends_of(store) == [("order:0", "user:010"), ("order:1", "user:007")]
    assert store.load([store.time]).columns["time"].tolist() == [10, 7]


def test_text_of_several_lines_large_letters_and_columns_without_names_are_read(tmp_path):
    users = ",note\n" + "".join(f'{k},"first {"x" * 60}\nsecond"\n' for k in range(20_000))  # blocks have 1 MiB
    path = two(tmp_path, users, "of\n19999\n0\n", user={"key": "", "file": "USER.CSV"})
    (tmp_path / "user.csv").rename(tmp_path / "USER.CSV")
    path = path.rename(tmp_path / "SHOP.JSON")
    store = csaw.partition(path, tmp_path / "g.zarr", progress=False)
    assert ends_of(store) == [("order:0", "user:19999"), ("order:1", "user:0")]


WRONG_JSON = [
    ('{"tables": {"user": {"file": "user.csv"}, "user": {"file": "user.csv"}}}', "different names .* 'user' twice"),
    ('{"tables": {"a": {"file": "a.csv", "references": {"x": "a", "x": "b"}}}}', "different names .* 'x' twice"),
    ('{"tables": [1]}', r"tables: expected tables by their names, found \[1\]"),
    ('{"tables": {"a": {"file": "\\ud800"}}}', "expected JSON, found none"),
    ('{"tables": {"a": {"file": "a.csv", "references": {"x": {"table": ["a"]}}}}}', "expected one of the tables a"),
    ('{"time_format": "unix-ms", "time_decimals": 3, "tables": {}}', "time_decimals: expected 0 with"),
]


@pytest.mark.parametrize(("text", "said"), WRONG_JSON)
def test_wrong_json_is_refused(tmp_path, text, said):
    (tmp_path / "shop.json").write_text(text)
    with pytest.raises(FormatError, match=f"shop.json: .*{said}"):
        csaw.partition(tmp_path / "shop.json", tmp_path / "g.zarr", progress=False)


def test_a_file_of_other_letters_is_refused(tmp_path):
    with pytest.raises(FormatError, match="user.csv: the file is damaged"):
        csaw.partition(two(tmp_path, "id\n1\n".encode("utf-16"), "of\n1\n"), tmp_path / "g.zarr", progress=False)


def test_reverse_relations_are_named_before_anything_is_read(tmp_path):
    for name, column, said in (("rev_of", "of", "rev_of is the name of"), ("a", "x" * 65, "up to 67 letters")):
        path = described(tmp_path, {name: {"file": "none", "key": "id", "references": {column: name}}})
        with pytest.raises(FormatError, match=rf"shop.json: .*{said}"):
            csaw.partition(path, tmp_path / "g.zarr", reverse_relations=True, progress=False)
        done = CliRunner().invoke(cli, ["partition", str(path), str(tmp_path / "g.zarr"), "--reverse-relations"])
        assert said in str(done.exception)
