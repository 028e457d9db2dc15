"""Folders of parts as Spark, polars and Dask write them: some have a header and no rows, some are of another kind."""

import gzip
import io
from collections.abc import Callable
from random import Random

from fuzz.readings import Drawn, File, Reading, draw

MARKS = {"_SUCCESS": b"", ".part-00000.csv.crc": b"crc\0\x01\x02", "._SUCCESS.crc": b"crc\0"}


def of_csv(random: Random) -> File:
    """Parts with a header each, of which some have no rows."""
    graph = draw(random, loops=True)
    names = random.choice([["source", "target"], ["src", "dst"], ["from", "to"]]) + (
        ["weight"] if graph.weights else []
    )
    between, count = random.choice([",", ",", "\t", ";"]), random.choice([2, 3, 5])
    shares = _shares(random, graph, count)
    empty = random.choice(["header", "header", "header", "nothing", "newline", "comment"])
    alone = {"header": between.join(names) + "\n", "nothing": "", "newline": "\n", "comment": "# no rows\n"}[empty]
    texts = [
        "\n".join([between.join(names), *(between.join(row) for row in rows)]) + "\n" if rows else alone
        for rows in shares
    ]
    file = File("", f"parts, some with {empty} alone", [Reading(graph.pairs())], must=True)
    return _folder(random, file, texts, ".csv")


def of_rows(random: Random) -> File:
    """Parts without headers, of which some are empty."""
    graph = draw(random, loops=True)
    between = random.choice([" ", "\t", ","])
    alone = random.choice(["", "\n", "# a comment\n", "\n\n"])
    texts = [
        "".join(between.join(row) + "\n" for row in rows) or alone
        for rows in _shares(random, graph, random.choice([2, 3, 5]))
    ]
    return _folder(
        random,
        File("", f"parts of rows, some {alone!r}", [Reading(graph.pairs())], must=True),
        texts,
        random.choice([".txt", "", ".edges"]),
    )


def of_tables(random: Random) -> File:
    """Parquet or Arrow files, some without rows."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    graph = draw(random, loops=True)
    names = ["source", "target", *(["weight"] if graph.weights else [])]
    whole = graph.ids[0].isdigit()
    types = [pa.int64() if whole else pa.string()] * 2 + [pa.float64()]
    data = {}
    for number, rows in enumerate(_shares(random, graph, 3)):
        columns = [
            pa.array(
                [(int(row[k]) if whole and k < 2 else float(row[k]) if k == 2 else row[k]) for row in rows], types[k]
            )
            for k in range(len(names))
        ]
        out = io.BytesIO()
        pq.write_table(pa.table(columns, names=names), out)
        data[f"part-{number:05d}.parquet"] = out.getvalue()
    return File("", "parts of Parquet, some without rows", [Reading(graph.pairs())], must=True, others=data)


def mixed(random: Random) -> File:
    """Parts that do not agree: columns in another order, another separator, other names, words among numbers."""
    graph = draw(random, "numbers", weighted=False)
    first, second = _shares(random, graph, 2, hollow=False)
    header = "source,target\n"
    kind = random.choice(
        ["order", "separator", "names", "no header", "weight", "one column", "words", "METIS", "direction"]
    )
    rows = "".join(f"{a},{b}\n" for a, b in second)
    texts = {
        "order": "target,source\n" + "".join(f"{b},{a}\n" for a, b in second),
        "separator": "source;target\n" + rows.replace(",", ";"),
        "names": "src,dst\n" + rows,
        "no header": rows,
        "weight": "source,target,weight\n" + "".join(f"{a},{b},3\n" for a, b in second),
        "one column": "source\n" + "".join(f"{a}\n" for a, _ in second),
        "words": header + rows + "x,y\n",
        "METIS": "3 2\n2\n1 3\n2\n",
        "direction": "# Undirected graph\n" + header + rows,
    }[kind]
    pairs = graph.pairs()
    reads = [Reading(pairs)] if kind not in ("weight", "one column", "words", "METIS", "direction") else []
    if kind == "words":
        reads = [Reading([*pairs, ("x", "y", 1.0)], says=r"\bids|string|word")]
    if kind == "direction":
        reads = [Reading(pairs, directed, r"\b(un)?directed") for directed in (True, False)]
    if kind == "weight":
        reads = [Reading([*pairs[: len(first)], *((a, b, 3.0) for a, b, _ in pairs[len(first) :])], says="weight")]
    file = File(
        "", f"parts of two kinds: {kind}", reads, r"\bids\b|column|header|names|separator|METIS|weight|kind|direct"
    )
    return _folder(random, file, [header + "".join(f"{a},{b}\n" for a, b in first), texts], ".csv", shuffle=False)


def _shares(random: Random, graph: Drawn, count: int, *, hollow: bool = True) -> list[list[list[str]]]:
    """The rows of each part in order, some of them none if ``hollow``."""
    rows = graph.rows()
    cuts = sorted(random.randrange(len(rows) + 1) for _ in range(count - 1))
    if not hollow:
        cuts = [random.randrange(1, len(rows))] if len(rows) > 1 else [1]
    elif random.random() < 0.5:
        cuts[0] = 0  # the first part has no rows
    return [rows[a:b] for a, b in zip([0, *cuts], [*cuts, len(rows)], strict=True)]


def _folder(random: Random, file: File, texts: list[str], suffix: str, *, shuffle: bool = True) -> File:
    packed = random.random() < 0.15
    if random.random() < 0.2:
        texts = [text.replace("\n", random.choice(["\n", "\r\n"])) for text in texts]
    if random.random() < 0.1:
        texts = [random.choice(["", "\ufeff"]) + text for text in texts]
    file.others = {
        f"part-{k:05d}{suffix}{'.gz' * packed}": gzip.compress(text.encode(), mtime=0) if packed else text.encode()
        for k, text in enumerate(texts)
    }
    if shuffle and random.random() < 0.4:
        file.others |= dict(random.sample(sorted(MARKS.items()), random.choice([1, 2])))
    return file


WRITERS: dict[str, Callable[[Random], File]] = {
    "parts of CSV": of_csv,
    "parts of rows": of_rows,
    "parts of tables": of_tables,
    "mixed parts": mixed,
}
