"""Random objects of other libraries, some of them spoilt, as graphs; and option values of odd types: the edges that
plain Python reads of them, or a csaw error.

Never another exception, and never the end of the process: each case is a fork. A library that is not installed has no
cases.
"""

import json
import shutil
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from random import Random
from typing import Any

from fuzz import child, matrices, meant, warm
from fuzz.columns import (
    WEIGHTS,
    Column,
    arrow_column,
    draw_ids,
    pandas_column,
    polars_column,
    spoilt_ids,
    spoilt_weights,
    usual,
)
from fuzz.grammar import MAY, MUST, NEVER
from fuzz.judge import Failure, innermost
from fuzz.odd import odd_values

SECONDS = 30.0
GRAPH = [(0, 1, 1.0), (1, 2, 2.0), (2, 0, 1.0)]
OPTIONS = {
    "neighbor": [
        "fanout",
        "seed",
        "instances",
        "sources",
        "threads",
        "memory",
        "device",
        "target",
        "columns",
        "edge_bias",
        "weighted",
        "in_flight",
        "ids",
        "select",
        "residency",
        "layout",
        "checksums",
        "induced",
        "transit_parallel",
        "algo",
        "nonsense",
    ],
    "node2vec": ["p", "walk_length", "num_walks"],
}
HOW = [
    "directed",
    "duplicates",
    "self_loops",
    "reverse",
    "vertex_ids",
    "source_column",
    "target_column",
    "weights",
    "data",
    "indptr",
    "indices",
]


@dataclass
class Given:
    """What csaw is asked (``ask`` returns the graph), and the graph that is meant, None where there is nothing to
    compare.
    """

    ask: Callable[[], Any]
    meant: meant.Graph | None
    verdict: str
    told: str


class Objects:
    """``case`` makes an object in a fork, and compares what csaw reads of it."""

    def __init__(self, folder: Path) -> None:
        import csaw

        (folder / "whole").mkdir(parents=True, exist_ok=True)
        self.forms = [form for form, library in FORMS.items() if library is None or find_spec(library)]
        for form in self.forms:
            if library := FORMS[form]:
                __import__(library)
            for number in range(12):
                told(Random(f"{form} {number}"), form)
        csaw.sample(GRAPH, algo="neighbor", fanout="2", device="cpu")
        csaw.sample(GRAPH, algo="node2vec", walk_length=2, device="cpu")
        warm.small_chunks()

    def case(self, random: Random, place: Path) -> list[Failure]:
        """One object."""
        shutil.rmtree(place, ignore_errors=True)
        place.mkdir()
        form, out, error = random.choice(self.forms), place / ".stdout", place / ".stderr"
        code = child.forked(lambda: print(json.dumps(told(random, form))), out, error, SECONDS)
        if code is None or code < 0:
            return [Failure("hang" if code is None else "signal", form, f"graph of {form}", f"{code}")]
        if code:
            trace = error.read_text()
            return [Failure("traceback", f"{form}: {innermost(trace)}", f"graph of {form}", trace[-900:])]
        said = json.loads(out.read_text())
        return [Failure(said["kind"], f"{form}: {said['where']}", f"graph of {form}", said["detail"])] if said else []


def told(random: Random, form: str) -> dict[str, str]:
    """What is wrong with what csaw makes of an object, nothing where all is well."""
    from csaw.partition.errors import CsawError

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of other libraries, about what is odd
        given = MAKERS[form](random)
        try:
            found = given.ask()
        except CsawError as error:
            wrong = given.verdict == MUST or len(str(error)) < 12 or "\n" in str(error)
            return {"kind": "refused", "where": given.told, "detail": str(error)[:500]} if wrong else {}
    if given.verdict == NEVER:
        return {"kind": "read", "where": f"although {given.told}", "detail": f"{found!r}"[:300]}
    if given.meant is None or (seen := read(found)) == sorted_rows(given.meant):
        return {}
    return {"kind": "wrong result", "where": given.told, "detail": f"found {seen}, meant {given.meant}"[:900]}


def read(graph: Any) -> meant.Graph:
    """What csaw holds of a graph in memory."""
    held, ids = graph.load(), graph.vertex_ids()
    weights = [1.0] * held.indices.size if held.weights is None else held.weights.tolist()
    entries = list(zip(held.indices.tolist(), weights, strict=True))
    rows = tuple(tuple(entries[a:b]) for a, b in zip(held.indptr[:-1].tolist(), held.indptr[1:].tolist(), strict=True))
    names = range(len(rows)) if ids is None else [_stored(one) for one in ids]
    return sorted_rows(meant.Graph(tuple(names), rows, graph.directed, graph.weighted))


def sorted_rows(graph: meant.Graph) -> meant.Graph:
    """The graph with repeats in the order of their weights: not every library keeps theirs."""
    return meant.Graph(graph.ids, tuple(tuple(sorted(row)) for row in graph.rows), graph.directed, graph.weighted)


def _stored(one: Any) -> Any:
    return one.encode("utf-8", "surrogateescape") if isinstance(one, str) else int(one)


def built(sources: Sequence[Any], targets: Sequence[Any], weights: Sequence[float] | None, **how: Any) -> meant.Graph:
    """The graph of columns."""
    ends = [[_stored(one) for one in column] for column in (sources, targets)]
    edges = list(zip(*ends, weights or [1.0] * len(ends[0]), strict=True))
    how["vertices"] = [_stored(one) for one in how.get("vertices", ())]
    return meant.build(edges, weighted=weights is not None, **({"directed": True} | how))


def values(random: Random) -> tuple[list[Any], list[Any], list[float] | None]:
    """Sources, targets and, in half the cases, weights."""
    ids, size = draw_ids(random), random.randrange(1, 14)
    ends = [random.choices(ids, k=size) for _ in range(2)]
    return ends[0], ends[1], random.choices(WEIGHTS, k=size) if random.random() < 0.5 else None


def columns(random: Random, make: Callable[[Random, list[Any]], Column] = usual) -> list[Column]:
    """Two or three columns, of which one is spoilt in a third of the cases."""
    said = [column for column in values(random) if column is not None]
    found = [make(random, column) for column in said]
    if make is usual and random.random() < 0.35:
        place = random.randrange(len(said))
        found[place] = (spoilt_weights if place == 2 else spoilt_ids)(random, said[place])
    return found


def verdict_of(found: Sequence[Column]) -> tuple[str, str]:
    worst = max(found, key=lambda column: (MUST, MAY, NEVER).index(column.verdict))
    return worst.verdict, worst.told


def of_columns(random: Random) -> Given:
    """A tuple of columns, a list of rows, or an array."""
    import numpy as np

    import csaw

    found = columns(random)
    verdict, told_ = verdict_of(found)
    said = [column.values for column in found]
    form = random.choice(["tuple", "list", "array"]) if verdict == MUST else "tuple"
    data: Any = tuple(column.held for column in found)
    if form == "list":
        data = list(zip(*said, strict=True))
    elif form == "array":
        verdict, data = MAY, np.array([list(row) for row in zip(*said, strict=True)], object)
    given = {} if random.random() < 0.7 else {"directed": random.random() < 0.5}
    return Given(
        lambda: csaw.graph(data, **given),
        built(*said[:2], said[2] if len(said) > 2 else None, **given),
        verdict,
        f"{form}, {told_}",
    )


NAMES = [
    (["source", "target", "weight"], MUST),
    (["a", "b", "c"], MUST),
    (["from", "to", "w"], MUST),
    (["source", "source", "target"], NEVER),
    (["target", "x", "y"], NEVER),
    (["target", "target", "weight"], NEVER),
    (["x", "source", "y"], NEVER),
]


def of_table(random: Random, library: str) -> Given:
    """A table with two or three columns, whose names say which is which, say nothing, or contradict each other."""
    import csaw

    make = {"pandas": pandas_column, "polars": polars_column, "pyarrow": arrow_column}[library]
    found = columns(random, make)
    names, named = random.choice(NAMES if len(found) == 3 and library != "polars" else NAMES[:3])
    verdict, told_ = verdict_of([*found, Column([], None, named, f"the names {names}")])
    order = (
        random.sample(range(len(found)), len(found))
        if names[0] in ("source", "from") and named == MUST
        else list(range(len(found)))
    )
    pairs = [(names[k], found[k].held) for k in order]
    data = TABLE[library](pairs)
    said = [column.values for column in found]
    return Given(lambda: csaw.graph(data), built(*said[:2], said[2] if len(said) > 2 else None), verdict, told_)


def _pandas(pairs: list[tuple[str, Any]]) -> Any:
    import pandas

    table = pandas.concat([pandas.Series(held).reset_index(drop=True) for _, held in pairs], axis=1)
    table.columns = [name for name, _ in pairs]
    return table


def _polars(pairs: list[tuple[str, Any]]) -> Any:
    import polars

    return polars.DataFrame([polars.Series(name, held) for name, held in pairs])


def _arrow(pairs: list[tuple[str, Any]]) -> Any:
    import pyarrow

    return pyarrow.Table.from_arrays(
        [pyarrow.array(held) if isinstance(held, list) else held for _, held in pairs],
        names=[name for name, _ in pairs],
    )


TABLE = {"pandas": _pandas, "polars": _polars, "pyarrow": _arrow}


def of_option(random: Random) -> Given:
    """An option of a graph or of a run that has a value of an odd type."""
    import csaw

    value = random.choice(odd_values())
    told_ = f"{type(value).__module__}.{type(value).__name__}"
    if random.random() < 0.4:
        name = random.choice(HOW)
        given = {name: value} | ({} if name in ("data", "indptr", "indices") else {"data": GRAPH})
        if name in ("indptr", "indices"):
            given |= {"indptr": [0, 1], "indices": [0]} | {name: value}
        return Given(lambda: csaw.graph(**given), None, MAY, f"{name} is {told_}")
    algo = random.choice(list(OPTIONS))
    name = random.choice(OPTIONS[algo])
    asked = {
        "algo": algo,
        "device": "cpu",
        **({"fanout": "2"} if algo == "neighbor" else {"walk_length": 2}),
        name: value,
    }
    return Given(lambda: csaw.sample(GRAPH, **asked), None, MAY, f"{name} is {told_}")


MAKERS: dict[str, Callable[[Random], Given]] = {
    "columns": of_columns,
    "pandas": lambda random: of_table(random, "pandas"),
    "polars": lambda random: of_table(random, "polars"),
    "pyarrow": lambda random: of_table(random, "pyarrow"),
    "option": of_option,
    **{form: (lambda random, make=make: Given(*make(random, built, values))) for form, make in matrices.MAKERS.items()},
}
FORMS: dict[str, str | None] = {
    "columns": None,
    "option": None,
    "csr": None,
    "scipy": "scipy",
    "pandas": "pandas",
    "polars": "polars",
    "pyarrow": "pyarrow",
    "networkx": "networkx",
    "igraph": "igraph",
    "torch": "torch",
    "pyg": "torch_geometric",
}
