"""Random graphs with hostile ids and weights, exported in each format and read again: the same graph, or a refusal when
it is written that names an id.

What csaw reads again, ``csaw partition`` reads; GraphML and .npz are read by Python's own means.
"""

import json
import re
import shutil
import struct
import xml.etree.ElementTree as ET
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

from fuzz import child, meant, warm
from fuzz.judge import Failure, innermost

FORMATS = ["txt", "txt.gz", "csv", "csv", "csv.gz", "parquet", "arrow", "mtx", "mtx.gz", "npz", "graphml", "sample.csv"]
HOLD_ALONE = ("npz", "graphml")  # vertices without an edge
PIECES = [
    *"ab01+-.e,;'#%\\_",
    " ",
    " ",
    "\t",
    "\n",
    "\r",
    "\0",
    '"',
    '"',
    "\v",
    "\x1c",
    "\u00e9",
    "\u2028",
    "\ufeff",
    "\ufffe",
    "\udcff",
    "\udc80",
    "source",
    "target",
    "weight",
    "src",
    "dst",
    "FromNodeId",
    "ToNodeId",
    "u",
    "v",
    "w",
    "nan",
    "inf",
    "null",
    "Nodes: 5 Edges: 5",
    "instance",
    "depth",
    "x" * 300,
]
TAME = [
    "ann",
    "bob",
    "Q42",
    "n\u00e9e",
    "source",
    "target",
    "src",
    "dst",
    "FromNodeId",
    "ToNodeId",
    "u",
    "v",
    "1a",
    "007",
    "7",
    "-1",
    "1.0",
    "1e5",
    "1;2;3",
    "5;a",
    "weight",
    "A/B",
    "a'b",
    "nan",
]
WEIGHTS = [0.0, -0.0, 1.0, 0.1, 1e-45, 1.1754944e-38, 3.4028234663852886e38, 16777217.0, 123456789.0, 1e15]
SECONDS = 30.0


@dataclass(frozen=True)
class Drawn:
    """A graph: original ids, edges between places among them, and the file it goes to."""

    ids: list[int | str]
    edges: list[tuple[int, int, float]]
    directed: bool
    weighted: bool
    suffix: str

    def meant(self) -> meant.Graph:
        """What must come back."""
        ids = [one.encode("utf-8", "surrogateescape") if isinstance(one, str) else one for one in self.ids]
        if self.suffix.startswith("mtx"):
            ids = [sorted(ids).index(one) + 1 for one in ids]
        edges = [(ids[a], ids[b], weight) for a, b, weight in self.edges]
        if self.suffix == "sample.csv":
            both = [] if self.directed else [(b, a, weight) for a, b, weight in edges if a != b]
            return meant.build([*edges, *both], directed=True, weighted=False)
        alone = ids if self.suffix in HOLD_ALONE else ()
        return meant.build(edges, directed=self.directed, weighted=self.weighted, duplicates="keep", vertices=alone)


class Roundtrips:
    """Kernels are compiled once; ``case`` draws a graph and a format."""

    def __init__(self, folder: Path) -> None:
        warm.small_chunks()
        place = folder / "whole" / "roundtrips"
        place.mkdir(parents=True)
        for number, ids in enumerate(([0, 1, 2], [-1, 5, 9], [1, 2, 1 << 63], ["a", "b", "c;d"])):
            for weighted in (False, True):
                for suffix in sorted(set(FORMATS)):
                    drawn = Drawn(ids, [(0, 1, 0.5), (1, 2, 1e-40), (2, 0, 1.0)], bool(number % 2), weighted, suffix)
                    again(drawn, place)

    def case(self, random: Random, place: Path) -> list[Failure]:
        """One graph in one format."""
        shutil.rmtree(place, ignore_errors=True)
        place.mkdir()
        drawn = draw(random)
        out, error = place / ".stdout", place / ".stderr"
        code = child.forked(lambda: print(json.dumps(told(drawn, place))), out, error, SECONDS)
        command = f"export {drawn.suffix}: {drawn}"[:300]
        if code is None or code < 0:
            return [Failure("hang" if code is None else "signal", drawn.suffix, command, f"{code}")]
        if code:
            trace = error.read_text()
            return [Failure("traceback", innermost(trace), command, trace[-600:])]
        said = json.loads(out.read_text())
        return [Failure(said["kind"], f"{drawn.suffix}: {said['where']}", command, said["detail"])] if said else []


def draw(random: Random) -> Drawn:
    """A graph whose ids are strange in three of four cases of words."""
    kind = random.choice(["small", "signed", "wide", "tame", "hostile", "hostile", "hostile"])
    ids: list[Any] = sorted(
        {_id(kind, random) for _ in range(random.randrange(2, 12))}, key=lambda one: random.random()
    )
    suffix = random.choice(FORMATS)
    if suffix.startswith("mtx"):
        ids = ids if len(ids) > 1 else [1, 2]
    ends = [random.randrange(len(ids)) for _ in range(2 * random.randrange(1, 30))]
    weight = [_weight(random) for _ in ends]
    edges = list(zip(ends[::2], ends[1::2], weight, strict=False))
    if random.random() < 0.3:
        edges += edges[: random.randrange(1, 4)]
    return Drawn(ids, edges, random.random() < 0.5, random.random() < 0.5, suffix)


def _id(kind: str, random: Random) -> int | str:
    if kind in ("tame", "hostile"):
        strange = kind == "hostile" and random.random() < 0.5
        return "".join(random.choices(PIECES, k=random.choice([0, 1, 1, 2, 3, 5]))) if strange else random.choice(TAME)
    return {
        "small": random.randrange(12),
        "signed": random.randrange(-(1 << 63), 1 << 62),
        "wide": random.randrange(1 << 64),
    }[kind]


def _weight(random: Random) -> float:
    if random.random() < 0.3:
        return random.choice(WEIGHTS)
    return float(struct.unpack("<f", struct.pack("<I", random.randrange(0x7F800000)))[0])


def told(drawn: Drawn, place: Path) -> dict[str, str]:
    """What is wrong, by ``kind``, ``where`` and ``detail``; nothing where all is well.

    A refusal must name what is refused, and be of a graph that the format need not hold.
    """
    from csaw.partition.errors import CsawError, OptionError

    try:
        found = again(drawn, place)
    except OptionError as error:
        if not re.match(r"vertex id '|vertex id \"|vertices have the names", str(error)) or "; export to " not in str(
            error
        ):
            return {"kind": "names nothing", "where": str(error)[:60], "detail": str(error)[:500]}
        return {"kind": "refused", "where": "what it holds", "detail": str(error)[:500]} if must_hold(drawn) else {}
    except CsawError as error:
        return {
            "kind": "unreadable",
            "where": re.sub(r"\S*/\S*|'.*|\d+", "", str(error))[:80],
            "detail": str(error)[:500],
        }
    wanted = drawn.meant()
    return (
        {}
        if found == wanted
        else {"kind": "wrong result", "where": "another graph", "detail": f"found {found}, meant {wanted}"[:600]}
    )


def must_hold(drawn: Drawn) -> bool:
    """Whether the format has room for all ids of the graph, by what its definition says."""
    words = [one for one in drawn.ids if isinstance(one, str)]
    return all(HOLDS[drawn.suffix.removesuffix(".gz")](word) for word in words)


def _in_csv(word: str) -> bool:
    return word != "" and not re.search("[\0\r\n]", word)


def _is_utf8(word: str) -> bool:
    return not re.search("[\ud800-\udfff]", word)


HOLDS: dict[str, Callable[[str], bool]] = {
    "txt": lambda word: re.fullmatch(r'[^\s",;#%\0][^\s"\0]*', word, re.ASCII) is not None,
    "csv": _in_csv,
    "sample.csv": _in_csv,
    "parquet": _is_utf8,
    "arrow": _is_utf8,
    "graphml": lambda word: re.fullmatch("[\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]*", word) is not None,
    "mtx": lambda word: True,
    "npz": lambda word: True,
}


def again(drawn: Drawn, place: Path) -> meant.Graph:
    """The graph that the file becomes."""
    import csaw
    from csaw.partition.ingestion.objects import Edges

    weights = [weight for *_, weight in drawn.edges] if drawn.weighted else None
    edges = Edges("edges", [a for a, *_ in drawn.edges], [b for _, b, _ in drawn.edges], weights, drawn.ids)
    graph = csaw.graph(edges, directed=drawn.directed, duplicates="keep")
    file, data = place / f"graph.{drawn.suffix}", graph
    if drawn.suffix == "sample.csv":
        degrees = np.diff(graph.load().indptr)
        begin = graph.original_ids(np.flatnonzero(degrees)).tolist()
        most = max(int(graph.attributes["max_degree"]), 1)
        data = csaw.sample(graph, algo="neighbor", fanout=(most,), sources=begin, weighted=False, device="cpu")
    said = csaw.export(data, file, overwrite=True)
    if drawn.suffix in HOLD_ALONE:
        return {"npz": _from_npz, "graphml": _from_graphml}[drawn.suffix](file, drawn)
    how: dict[str, Any] = (
        {"id_type": "string"}
        if "names" in said["left_out"] or (drawn.suffix == "sample.csv" and isinstance(drawn.ids[0], str))
        else {}
    )
    how |= {"directed": False} if "direction" in said["left_out"] else {}
    how |= {"duplicates": "first" if drawn.suffix == "sample.csv" else "keep"}
    csaw.partition(file, place / "again.zarr", overwrite=True, threads=2, **how)
    return meant.read(place / "again.zarr")


def _from_npz(file: Path, drawn: Drawn) -> meant.Graph:
    with np.load(file) as held:
        weights = held["data"].tolist() if drawn.weighted else [1.0] * held["indices"].size
        entries = list(zip(held["indices"].tolist(), weights, strict=True))
        rows = tuple(tuple(entries[a:b]) for a, b in pairwise(held["indptr"].tolist()))
        ids: tuple[Any, ...] = tuple(range(len(rows)))
        if "original_id_text" in held:
            text = held["original_id_text"].tobytes()
            ids = tuple(text[a:b] for a, b in pairwise(held["original_id_offsets"].tolist()))
        elif "vertex_ids" in held:
            ids = tuple(held["vertex_ids"].tolist())
        return meant.Graph(ids, rows, bool(held["directed"]), held["data"].dtype != bool)


def _from_graphml(file: Path, drawn: Drawn) -> meant.Graph:
    space = "{http://graphml.graphdrawing.org/xmlns}"
    [graph] = ET.parse(file).getroot().iter(f"{space}graph")

    def original(text: str) -> int | bytes:
        return text.encode() if isinstance(drawn.ids[0], str) else int(text)

    edges = [
        (
            original(edge.attrib["source"]),
            original(edge.attrib["target"]),
            float(edge[0].text or "") if drawn.weighted else 1.0,
        )
        for edge in graph.iter(f"{space}edge")
    ]
    nodes = [original(node.attrib["id"]) for node in graph.iter(f"{space}node")]
    return meant.build(
        edges,
        directed=graph.attrib["edgedefault"] == "directed",
        weighted=drawn.weighted,
        duplicates="keep",
        vertices=nodes,
    )
