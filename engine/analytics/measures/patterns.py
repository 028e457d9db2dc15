"""Patterns: how often small connected graphs of 3 to 5 vertices occur, with labels of their vertices or without."""

import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import ClassVar

import numpy as np

from csaw.engine.analytics.evaluation.sampled import Members
from csaw.engine.analytics.measure import Findings, Measure, Number
from csaw.engine.analytics.network import Network
from csaw.engine.analytics.pattern import ANY, NOWHERE, PATTERNS, Asked, size_of
from csaw.engine.api.option import option
from csaw.engine.plan.footprint import Footprint
from csaw.engine.sources.given_columns import read_columns
from csaw.partition import GraphStore
from csaw.partition.base.quoting import quoted
from csaw.partition.errors import OptionError

ANY_LABEL, LABELS = "*", "--vertex-labels"


class Patterns(Measure):
    """The exact number of subgraphs of the simple undirected graph that form each pattern.

    Other edges among their vertices do no harm.

    A diamond, a square with one diagonal, has one square and two triangles; a clique of four has three squares and four
    triangles. Counted in memory. Vertices of a pattern may ask for labels, the numbers that --vertex-labels gives
    vertices.
    """

    directions = ("undirected",)
    KEEPS: ClassVar = {"cpu": Footprint(42, ids=3, edge_ids=1, fixed=1 << 19), "cuda": Footprint(48, fixed=1 << 19)}
    finds_columns = False
    paper = "Grochow and Kellis, RECOMB 2007"
    by_default = False
    pattern: str = option(
        "wedge,triangle,square,diamond,clique4",
        help=f"patterns to count, separated by commas: {', '.join(PATTERNS)}; optionally with a label for each "
        "vertex, such as triangle:1:1:2, or * for any label",
    )
    vertex_labels: object = option(
        None,
        help="labels of vertices for --pattern: an .npy file, or an .npz file with one array and optionally the "
        "array ids, as for csaw sample --columns [default: none]",
        kind=object,
    )

    def __init__(self, **values: object) -> None:
        super().__init__(**values)
        self.asked = {name: _parsed(name) for name in self.wanted}
        if len(self.asked) < len(self.wanted):
            twice = next(name for name in self.wanted if self.wanted.count(name) > 1)
            raise OptionError(f"--pattern: {twice} is given twice; give each pattern once")
        asks = any(labels for _, labels in self.asked.values())
        if asks and self.vertex_labels is None:
            raise OptionError(f"{LABELS}: expected labels for --pattern {self.pattern}, found none")
        if not asks and self.vertex_labels is not None:
            raise OptionError(
                f"--pattern: expected patterns with labels from {LABELS}, such as triangle:1:1:2, found {self.pattern}"
            )
        if isinstance(self.vertex_labels, str | Path):
            self.vertex_labels = str(Path(self.vertex_labels).absolute())  # workers may be in another folder
        elif isinstance(self.vertex_labels, np.ndarray):
            self.vertex_labels = {"labels": self.vertex_labels}

    def parameters(self) -> dict[str, object]:
        """Value of each option, as plain data: of labels in memory the names of the arrays."""
        given = self.vertex_labels
        return super().parameters() | {"vertex_labels": sorted(given) if isinstance(given, Mapping) else given}

    def kept_by(self) -> list[object]:
        given = self.vertex_labels
        if isinstance(given, str) and Path(given).is_file():
            return [*super().kept_by(), hashlib.sha256(Path(given).read_bytes()).hexdigest()]
        arrays = sorted(given.items()) if isinstance(given, Mapping) else []
        return [*super().kept_by(), *(hashlib.sha256(np.asarray(one).tobytes()).hexdigest() for _, one in arrays)]

    def check(self, store: GraphStore) -> None:
        if self.vertex_labels is not None:
            self._given_labels(store)

    def computes(self, directed: bool) -> tuple[str, ...]:
        return ("patterns",)

    @property
    def wanted(self) -> tuple[str, ...]:
        """The patterns as they were asked for."""
        return tuple(self.pattern.split(","))

    def findings(self, network: Network) -> Findings:
        known, labels = (np.empty(0), None) if self.vertex_labels is None else self._labels(network)
        asked = [Asked(name, tuple(_number(label, known) for label in of)) for name, of in self.asked.values()]
        counts = network.undirected.compute("patterns", asked=asked, labels=labels)
        return {name: Number(count) for name, count in zip(self.wanted, counts, strict=True)}

    def _labels(self, network: Network) -> tuple[np.ndarray, np.ndarray]:
        """The labels that occur in the graph, and int32 [V], the number of that of each vertex, of a sample too."""
        store = network.store
        given = self._given_labels(store.graph if isinstance(store, Members) else store)
        known, number = np.unique(given, return_inverse=True)
        labels = number.astype(np.int32)
        return known, labels[store.vertices] if isinstance(store, Members) else labels

    def _given_labels(self, store: GraphStore) -> np.ndarray:
        """The labels of all vertices, float64 [V], as they were given."""
        columns = read_columns(self.vertex_labels, store, LABELS)
        if columns.table is None or len(columns.names) != 1:
            raise OptionError(
                f"{LABELS}: expected one array of labels, found {len(columns.names)}: {', '.join(columns.names)}"
            )
        return columns.table[0]


def _parsed(said: str) -> tuple[str, tuple[float | None, ...]]:
    """The name of a pattern, and the labels that its vertices ask for, None for any; none where it asks for none."""
    name, *labels = said.split(":")
    if name not in PATTERNS:
        raise OptionError(f"--pattern: no pattern called {quoted(name)}; there are {', '.join(PATTERNS)}")
    if labels and len(labels) != size_of(name):
        raise OptionError(
            f"--pattern {said}: expected a label for each of the {size_of(name)} vertices of {name}, "
            f"found {len(labels)}; {ANY_LABEL} stands for any"
        )
    return name, tuple(None if label == ANY_LABEL else _label(said, label) for label in labels)


def _label(said: str, label: str) -> float:
    try:
        return float(label)
    except ValueError:
        raise OptionError(
            f"--pattern {said}: expected numbers, or {ANY_LABEL} for any label, found {quoted(label)}"
        ) from None


def _number(label: float | None, known: np.ndarray) -> int:
    """The number of a label among those that occur."""
    if label is None:
        return ANY
    place = int(np.searchsorted(known, label))
    return place if place < known.size and known[place] == label else NOWHERE
