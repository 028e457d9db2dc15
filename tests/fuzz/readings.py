"""A file in some format, what readers of that format find in it, and whether csaw has found one of these."""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from random import Random

from fuzz import meant

Pair = tuple[str, str, float]
WORDS = ["alice", "bob", "carol", "Q42", "n\u00e9e", "x_1", "a.b", "dave", "eve", "\u5317\u4eac", "TP53", "m-3", "zoe"]
WEIGHTS = ["1", "2", "3", "0.5", "2.5", "7", "1e-3", "12"]


@dataclass
class Reading:
    """Edges that a file may become; ``says`` is what csaw must print if it reads them so, as a regular expression."""

    edges: Sequence[Pair]
    directed: bool = True
    says: str = ""


@dataclass
class File:
    """Its content, the names that it may have, and the readings that are right; none if it must be refused."""

    text: str | bytes
    told: str
    readings: list[Reading] = field(default_factory=list)
    names: str = ""  # of the format, as a regular expression: a refusal has one of them, or the number of a line
    suffixes: tuple[str, ...] = (".txt",)
    must: bool = False  # be read
    options: list[str] = field(default_factory=list)
    others: dict[str, bytes] = field(default_factory=dict)  # further files: all are parts of a folder then
    newlines: bool = True  # may have other ends of lines
    encodings: bool = True  # may have a byte order mark
    as_words: Sequence[Pair] = ()  # what it is if a user says that all ids are words


@dataclass
class Drawn:
    """A graph: its ids as a file has them, edges between places among these, and weights as a file has them."""

    ids: list[str]
    edges: list[tuple[int, int]]
    weights: list[str] | None

    def pairs(self) -> list[Pair]:
        weights = self.weights or ["1"] * len(self.edges)
        return [(self.ids[a], self.ids[b], float(w)) for (a, b), w in zip(self.edges, weights, strict=True)]

    def rows(self) -> list[list[str]]:
        """Cells of the ends, and of the weight if there is one."""
        weights = [[one] for one in self.weights] if self.weights else [[] for _ in self.edges]
        return [[self.ids[a], self.ids[b], *w] for (a, b), w in zip(self.edges, weights, strict=True)]

    def neighbors(self) -> list[list[int]]:
        """Places in the edges, by the place of the first end."""
        return [[k for k, (a, _) in enumerate(self.edges) if a == vertex] for vertex in range(len(self.ids))]


def draw(
    random: Random, ids: str = "any", weighted: bool | None = None, loops: bool = False, both: bool = True
) -> Drawn:
    """A small graph without repeated edges; with ``both`` false, no edge is there in the other direction."""
    size = random.choice([3, 4, 5, 6, 8, 11])
    names = draw_ids(random, ids, size)
    size = len(names)
    ways = {"cycle": [(k, (k + 1) % size) for k in range(size)], "path": [(k, k + 1) for k in range(size - 1)]}
    ways |= {"twice": [(k, (k + step) % size) for k in range(size) for step in (1, 2)]} if size > 4 else {}
    ways |= {"pairs": [(k, k + 1) for k in range(0, size - 1, 2)]}
    chosen = random.choice([*ways, "random", "random", "random"])
    edges = ways.get(chosen) or [
        (random.randrange(size), random.randrange(size)) for _ in range(random.randrange(3, 3 * size))
    ]
    edges = list(dict.fromkeys((a, b) for a, b in edges if loops or a != b)) or [(0, 1)]
    if not both:
        edges = list({frozenset(edge): edge for edge in edges}.values())
    is_weighted = random.random() < 0.4 if weighted is None else weighted
    return Drawn(names, edges, [random.choice(WEIGHTS) for _ in edges] if is_weighted else None)


def draw_ids(random: Random, kind: str, size: int) -> list[str]:
    """Different ids: numbers from 1 or from 0, any numbers, or words."""
    kind = random.choice(["from 1", "from 1", "from 0", "sparse", "words"]) if kind == "any" else kind
    kind = random.choice(["from 1", "from 0", "sparse"]) if kind == "numbers" else kind
    if kind == "words":
        return random.sample(WORDS, size)
    if kind == "sparse":
        return [str(one) for one in random.sample(range(10**6), size)]
    begin = int(kind == "from 1")
    return [str(one) for one in range(begin, begin + size)]


def undirected(pairs: Sequence[Pair], *, assumed: bool) -> list[Reading]:
    """Edges without a direction; where the file does not say so itself, csaw may take the direction of the rows if it
    prints that.
    """
    return [Reading(pairs, directed=False)] + ([Reading(pairs, says=r"\bdirected")] if assumed else [])


def agree(found: list[Pair], wanted: list[Pair], told: str, *, ends_alone: bool = False) -> None:
    """AssertionError where an independent reader finds other edges than were written."""
    found, wanted = (
        ([(*sorted(pair[:2]), pair[2]) for pair in pairs] for pairs in (found, wanted))
        if ends_alone
        else (found, wanted)
    )
    if sorted(found) != sorted(wanted):
        raise AssertionError(f"{told}: an independent reader finds {sorted(found)}, written were {sorted(wanted)}")


def as_rows(text: str) -> list[Pair]:
    """The edges of rows between blanks, the third cell as weight."""
    rows = [line.split() for line in text.split("\n") if line.strip() and line[0] not in "%#"]
    return [(row[0], row[1], float(row[2]) if len(row) > 2 else 1.0) for row in rows]


def of(edges: Iterable[meant.Edge], directed: bool, duplicates: str) -> Counter[Pair]:
    """The stored edges: in both directions if they have none, each of its id as text."""
    texts = [(_text(a), _text(b), float(weight)) for a, b, weight in edges]
    return flat(meant.build(texts, directed=directed, weighted=True, duplicates=duplicates))


def flat(graph: meant.Graph) -> Counter[Pair]:
    """The entries of the rows of a graph, by ids as text."""
    ids = [_text(one) for one in graph.ids]
    return Counter((ids[a].decode(), ids[b].decode(), weight) for a, row in enumerate(graph.rows) for b, weight in row)


def _text(one: object) -> bytes:
    return one if isinstance(one, bytes) else str(one).encode()


def verdict(file: File, found: Counter[Pair], told: str, options: Sequence[str]) -> str:
    """What is wrong with the edges found; nothing if they are those of a reading, or some of them where rows may be
    skipped.
    """
    part, duplicates = "--on-error" in options, "keep" if "--duplicates" in options else "first"
    wanted: list[Counter[Pair]] = []
    told, silent = f"{told} {' '.join(options)}", ""  # what the user says needs no word of csaw
    for reading in file.readings:
        edges = [(a, b, 1.0) for a, b, _ in reading.edges] if "--weight-column" in options else reading.edges
        wanted.append(of(edges, reading.directed, duplicates))
        if found == wanted[-1] or (part and found <= wanted[-1]):
            if not reading.says or re.search(reading.says, told, re.IGNORECASE):
                return ""
            silent = silent or f"read with an assumption that is not printed: /{reading.says}/ in {told[:300]!r}"
    shown = sorted((found - wanted[0]).items() if wanted else found.items())[:5]
    lost = sorted((wanted[0] - found).items())[:5] if wanted else "none"
    return silent or f"other edges: {shown}, and the file has {lost}"
