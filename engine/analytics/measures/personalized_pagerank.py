"""Personalized PageRank: how often a walk that jumps back to chosen vertices is at each vertex (Haveliwala 2002)."""

import os
from pathlib import Path

import numpy as np

from csaw.engine.analytics.evaluation.start import start_vertex
from csaw.engine.analytics.measure import Findings
from csaw.engine.analytics.network import Network
from csaw.engine.analytics.rank_measure import RankMeasure, found
from csaw.engine.api.option import option
from csaw.partition.errors import FormatError, OptionError
from csaw.partition.graph.attributes import STRING


class PersonalizedPagerank(RankMeasure):
    """PageRank from the sources alone: jumps, and steps at a vertex without edges, go to each of them as often."""

    paper = "Haveliwala 2002"
    by_default = False
    rank_sources: str | None = option(
        None,
        kind=str,
        help="ids of the vertices that a personalized PageRank jumps to, separated by commas, or a file with "
        "one in each line",
        none="the vertex of largest degree",
    )

    def __init__(self, **values: object) -> None:
        super().__init__(**values)
        if self.rank_sources is not None:
            self.rank_sources = "\n".join(_ids(self.rank_sources))  # a file may change, what was read of it does not

    def computes(self, directed: bool) -> tuple[str, ...]:
        return ("pagerank", "arriving_sums", "neighbor_sums")

    def findings(self, network: Network) -> Findings:
        sources = network.xp.asarray(_dense(network, self.rank_sources))
        ranks = network.compute("pagerank", damping=self.damping, tolerance=self.tolerance, sources=sources)
        return found("personalized pagerank", ranks)


def _ids(given: str) -> list[str]:
    """The ids of an option: of a file, a line each; of text, between commas, or a line each."""
    if os.path.isfile(given):
        try:
            given = Path(given).read_text("utf-8") + "\n"
        except UnicodeDecodeError as error:
            raise FormatError(f"--rank-sources: {given}: expected vertex ids in UTF-8: {error}") from error
    found = given.splitlines() if "\n" in given else given.split(",")
    return [word for word in map(str.strip, found) if word]


def _dense(network: Network, given: str | None) -> np.ndarray:
    """int64: the vertices of an option, each once, rising."""
    store = network.store
    if given is None:
        return np.array([start_vertex(network, None, "--rank-sources")])
    if not given:
        raise OptionError("--rank-sources: expected at least one vertex id, found none")
    ids: list = given.split("\n")
    if store.id_kind != STRING:
        try:
            ids = [int(word) for word in ids]
        except ValueError as error:
            raise OptionError(f"--rank-sources: expected integers, which ids of {store.path} are: {error}") from error
    return np.unique(np.asarray(store.dense_ids(ids), np.int64))
