"""Personalized PageRank: how often a walk that jumps back to chosen vertices is at each vertex (Haveliwala 2002)."""

import os
import re
from contextlib import suppress
from pathlib import Path

import numpy as np

from csaw.engine.analytics.evaluation.start import LARGEST, begun, start_vertex, vertices_of
from csaw.engine.analytics.iterations import RankMeasure, found
from csaw.engine.analytics.measure import Findings
from csaw.engine.analytics.network import Network
from csaw.engine.api.option import option
from csaw.engine.sources.source_rows import text_of
from csaw.partition import GraphStore
from csaw.partition.base.quoting import WHOLE, quoted, whole_of
from csaw.partition.errors import OptionError
from csaw.partition.graph.attributes import STRING

FLAG = "--rank-sources"
WORD = re.compile(r'(?:"(?:[^"]|"")*"|[^,])+')  # between commas, but for those within quotation marks


class PersonalizedPagerank(RankMeasure):
    """PageRank from the sources: jumps, and steps from a vertex without edges, go to a uniformly random source."""

    paper = "Haveliwala 2002"
    by_default = False
    rank_sources: str | None = option(
        None,
        kind=str,
        help="ids of the vertices that a personalized PageRank jumps to, separated by commas, or a file with one "
        f"id per line [default: {LARGEST}]",
        none=LARGEST,
    )

    def __init__(self, **values: object) -> None:
        super().__init__(**values)
        if self.rank_sources is not None:
            self.rank_sources = "\n".join(_ids(self.rank_sources))  # a file may change, what was read of it does not

    def check(self, store: GraphStore) -> None:
        if self.rank_sources is not None:
            _dense(store, self.rank_sources)

    def computes(self, directed: bool) -> tuple[str, ...]:
        return ("pagerank", "arriving_sums", "neighbor_sums")

    def findings(self, network: Network) -> Findings:
        given = self.rank_sources
        first = np.array([start_vertex(network, None, FLAG)]) if given is None else _dense(network.store, given)
        sources = network.xp.asarray(first)
        ranks = network.compute("pagerank", damping=self.damping, tolerance=self.tolerance, sources=sources)
        return found("personalized pagerank", ranks, begun(network, int(first[0])) if first.size == 1 else "")


def _ids(given: str) -> list[str]:
    """The ids of an option: of a file, a line each; of text, between commas, or a line each."""
    if os.path.isfile(given):
        given = text_of(Path(given)).decode() + "\n"
    found = given.splitlines() if "\n" in given else WORD.findall(given)
    return [_unquoted(word) for word in found if word.strip()]


def _unquoted(word: str) -> str:
    """An id without the quotation marks around it, within which its blanks count."""
    inner = word.strip()
    is_quoted = len(inner) > 1 and inner[0] == inner[-1] == '"'
    return inner[1:-1].replace('""', '"') if is_quoted else word


def _is_id(store: GraphStore, word: str) -> bool:
    with suppress(OptionError):
        return bool(store.dense_ids([word]).size)
    return False


def _dense(store: GraphStore, given: str) -> np.ndarray:
    """int64: the vertices of an option, each once, rising."""
    if not given:
        raise OptionError(f"{FLAG}: expected at least one vertex id, found none")
    words = given.split("\n")
    ids: list[int | str]
    if store.id_kind == STRING:  # blanks around one do not count, unless they are part of an id
        ids = [word if word != word.strip() and _is_id(store, word) else word.strip() for word in words]
    else:
        if wrong := [word for word in words if not WHOLE.fullmatch(word)]:
            raise OptionError(
                f"{FLAG}: expected integers, which ids of {store.path} are, found {quoted(wrong[0].strip())}"
            )
        ids = list(map(whole_of, words))
    return np.unique(np.asarray(vertices_of(store, ids, FLAG), np.int64))
