"""Estimates from visited vertices: as they are, or corrected for how likely the algorithm visits each of them.

A vertex v that is visited with a chance in proportion to pi(v) counts 1 / pi(v) (Hansen and Hurwitz, 1943; of walks
Gjoka et al., INFOCOM 2010, section III). Means are ratios of sums; the number of vertices follows from how often
different instances meet (Katzir, Liberty and Somekh, WWW 2011, section 3). Instances are independent, so errors come
from leaving out one batch of them after the other (jackknife). Errors say nothing of walks that still depend on their
sources: of these the variance between walks is larger than that within them (Gelman and Rubin, 1992).
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np

from csaw.engine.analytics.cpu.network import HostNetwork
from csaw.engine.analytics.evaluation.distances import KINDS, d_statistic, relative_error
from csaw.engine.analytics.evaluation.options import EvaluateOptions
from csaw.engine.analytics.evaluation.sampled import visits_between
from csaw.engine.analytics.evaluation.tables import Row
from csaw.engine.analytics.measure import Column, Distribution, Findings, Number
from csaw.engine.api import registry
from csaw.engine.api.algorithm import Algorithm
from csaw.engine.api.rules import ENDS, SOURCES, STEPS
from csaw.engine.api.starts import SourceKind
from csaw.engine.samples import Samples
from csaw.engine.samples.check import Manifest
from csaw.engine.sources.digest import SourcesDigest
from csaw.partition.base.quoting import counted
from csaw.partition.errors import OptionError

BATCHES = 100
"""Into which instances are put for the jackknife, at most."""
BURN_IN_SHARE = 10  # of the longest walk
MIXED = 1.05
"""Ratio of Gelman and Rubin up to which walks count as mixed."""
FEW_STEPS = 10  # behind the burn-in: so few tell about their sources, and not whether they have mixed
Estimated = tuple[float, float | None]
"""A number and its standard error, None of fewer than two batches."""


@dataclass(frozen=True)
class Batches:
    """Sums over the visits of each batch of instances, float64 [batches].

    ``weights``: of 1 / pi; ``inverse``: of pi; ``squares``: of squared numbers of visits; ``columns`` [batches,
    columns]: of each column over pi; ``known`` [batches, columns]: of 1 / pi where the vertex has a number.
    """

    weights: np.ndarray
    inverse: np.ndarray
    squares: np.ndarray
    columns: np.ndarray
    known: np.ndarray

    def means(self) -> list[Estimated]:
        """The mean of each column, NaN where no visited vertex has a number."""
        return ratios(self.columns, self.known)

    def shares(self) -> list[Estimated]:
        """The share of the visits whose vertex has a number in each column."""
        return ratios(self.known, self.weights[:, None])


class Visits:
    """The visits of a sample to the vertices of a graph, and the means of the ``columns`` of its profile over them."""

    def __init__(self, samples: Samples, host: HostNetwork, profile: Findings, wish: EvaluateOptions) -> None:
        self.samples, self.host, self.estimate = samples, host, wish.estimate
        taken = {name: one for name, one in profile.items() if isinstance(one, Column) and one.kind != "label"}
        self.known = {name: one.known for name, one in taken.items()}
        self.columns = {
            name: np.where(self.known[name], one.values, 0).astype(np.float64) for name, one in taken.items()
        }
        if not self.columns:
            raise OptionError(
                "--as visits and --estimate need a measure with a number for each vertex, such as degree or "
                "pagerank; add one to --measures"
            )
        self.chance = chances(samples, host) if wish.estimate else np.ones(host.vertices)
        self.weight = np.divide(1.0, self.chance, out=np.zeros(host.vertices), where=self.chance > 0.0)
        self.skipped = self._burn_in(wish.burn_in) if wish.estimate else 0
        self.counts = np.zeros(host.vertices, np.int64)
        self.sums = self._sums()
        if not self.counts.any():
            raise OptionError(
                f"{samples.path}: expected visits after the first {self.skipped:,} steps, found none; lower --burn-in"
            )

    def _burn_in(self, given: int | None) -> int:
        """First steps of each walk that are left out."""
        if not (self.samples.has_walks or self.samples.manifest.get("visited") == STEPS):
            return 0
        if given is not None:
            return given
        longest = self.samples.manifest["request"]["parameters"].get("walk_length")
        return int(np.max(self.samples.lengths, initial=0) if longest is None else longest) // BURN_IN_SHARE

    def batches(self) -> Iterator[np.ndarray]:
        """The visits of batches of consecutive instances, int64."""
        samples, size = self.samples, self.samples.group_size
        cuts = np.linspace(0, samples.instances, min(samples.instances, BATCHES) + 1).astype(int).tolist()
        for low, high in pairwise(cuts):
            pieces = [
                visits_between(samples, self.host.store, at, min(at + size, high), self.skipped)
                for at in range(low, high, size)
            ]
            yield np.concatenate([np.empty(0, np.int64), *pieces])

    def _sums(self) -> Batches:
        table = np.array(list(self.columns.values())).reshape(len(self.columns), -1)
        rows, columns, known = [], [], []
        for visits in self.batches():
            here = np.bincount(visits, minlength=self.host.vertices)
            self.counts += here
            weighted = here * self.weight
            with np.errstate(over="ignore", invalid="ignore"):  # numbers near the largest float have infinite sums
                columns.append(table @ weighted)
            known.append([weighted.sum(where=one) for one in self.known.values()])
            rows.append((weighted.sum(), here @ self.chance, here.astype(np.float64) @ here))
        weights, inverse, squares = np.array(rows, np.float64).reshape(-1, 3).T
        size = (len(rows), len(table))
        return Batches(weights, inverse, squares, np.reshape(columns, size), np.reshape(known, size))

    @cached_property
    def method(self) -> str:
        """How the visits were taken, and whether walks still depend on their sources."""
        if not self.estimate:
            return "each visit counts once"
        left_out = f", after {self.skipped:,} steps of a walk" if self.skipped else ""
        if self.samples.manifest.get("visited") != SOURCES and (self.host.degrees == 0).any():
            left_out += ", among vertices with edges"
        ratio, limit, warning = self.mixing(), self.samples.walk_length if self.samples.has_walks else None, ""
        if ratio > MIXED:
            warning = f"; walks have not mixed (ratio {ratio:.4g}, expected at most {MIXED}): sample longer walks"
        elif limit is not None and limit - self.skipped < FEW_STEPS:
            warning = f"; walks of so few steps depend on their sources: sample at least {FEW_STEPS * 2} steps"
        law = f"estimated from visits with {SAID[law_of(self.samples)]}{left_out}"
        return f"{law}; errors from {counted(self.sums.weights.size, 'batch', 'batches')}{warning}"

    def mixing(self) -> float:
        """The ratio of Gelman and Rubin for the logarithm of the degree; 1 where it cannot be told.

        It is of walks of one length that did not end early.
        """
        longest = self.samples.walk_length if self.samples.layout.has_limit else None
        if longest is None or longest - self.skipped < 2:
            return 1.0
        means, variances = [], []
        degree = np.log1p(self.host.degrees)
        for start, arrays in self.samples.iter_groups():
            whole = np.flatnonzero(arrays["lengths"] == longest)
            stop = start + arrays["lengths"].size
            if not whole.size or whole.size < arrays["lengths"].size:
                continue
            steps = visits_between(self.samples, self.host.store, start, stop, self.skipped)
            values = degree[steps].reshape(whole.size, -1)
            means.append(values.mean(axis=1))
            variances.append(values.var(axis=1, ddof=1))
        if not means:
            return 1.0
        return gelman_rubin(np.concatenate(means), np.concatenate(variances), longest + 1 - self.skipped)

    def distributions(self) -> dict[str, Distribution]:
        """The distribution of each column over the visits of vertices that have a number."""
        weights = self.counts * self.weight
        return {
            name: distribution(values[known], weights[known], name)
            for (name, values), known in zip(self.columns.items(), self.known.values(), strict=True)
        }

    def rows(self) -> list[Row]:
        """A row for each column: mean and distribution over visits; of an estimate also the number of vertices.

        Of a column in which vertices of the graph have no number, also the share of the visits that have one.
        """
        rows = []
        found = zip(self.distributions().items(), self.sums.means(), self.sums.shares(), strict=True)
        for (name, mine), (mean, error), share in found:
            all_of_them = distribution(self.columns[name][self.known[name]])
            apart = d_statistic(all_of_them, mine)
            rows.append(self._row(name, all_of_them.mean, mean, None if math.isnan(apart) else apart, error))
            if not self.known[name].all():
                rows.append(self._number(f"share with {name}", float(self.known[name].mean()), *share))
        return rows + (self._vertices() if self.estimate else [])

    def _vertices(self) -> list[Row]:
        """The number of vertices from meetings of different batches; no row where none met."""
        sums, total = self.sums, float(self.counts.astype(np.float64) @ self.counts)
        shared = np.array([float(self.counts[visits].sum()) for visits in self.batches()])
        own = sums.weights * sums.inverse
        meetings = total - sums.squares.sum()
        if meetings <= 0:
            return []
        estimate = (sums.weights.sum() * sums.inverse.sum() - own.sum()) / meetings
        pairs = (sums.weights.sum() - sums.weights) * (sums.inverse.sum() - sums.inverse) - (own.sum() - own)
        with np.errstate(invalid="ignore", divide="ignore"):
            error = jackknife(pairs / (meetings - 2.0 * (shared - sums.squares)))
        return [self._number("vertices", self.host.vertices, estimate, error)]

    def _number(self, name: str, graph: float, mine: float, error: float | None) -> Row:
        row = self._row(name, graph, mine, relative_error(graph, mine), error)
        return row._replace(kind=KINDS[Number])

    def _row(self, name: str, graph: float, mine: float, apart: float | None, error: float | None) -> Row:
        of = str(self.samples.path)
        return Row(name, graph, mine, apart, KINDS[Distribution], error, method=self.method, of=of)


def ratios(above: np.ndarray, below: np.ndarray) -> list[Estimated]:
    """The ratio of two sums over batches, [batches, columns], of each column."""
    with np.errstate(all="ignore"):  # a ratio may be undefined, or infinite
        whole = above.sum(axis=0) / below.sum(axis=0)
        left_out = (above.sum(axis=0) - above) / (below.sum(axis=0) - below)
        return [(float(one), jackknife(column)) for one, column in zip(whole, left_out.T, strict=True)]


def jackknife(left_out: np.ndarray) -> float | None:
    """The standard error of an estimate, from estimates that leave out one batch each.

    None of fewer than two, or where one is not finite, or the error itself.
    """
    n = left_out.size
    if n < 2 or not np.isfinite(left_out).all():
        return None
    with np.errstate(over="ignore", invalid="ignore"):
        error = math.sqrt((n - 1) * left_out.var())
    return error if math.isfinite(error) else None


def gelman_rubin(means: np.ndarray, variances: np.ndarray, steps: int) -> float:
    """The ratio of the variance of all walks together to the variance within them; 1 of fewer than two.

    ``means`` and ``variances``: those of each walk, float64 [walks].
    """
    within = float(variances.mean())
    if means.size < 2 or within == 0.0:
        return 1.0
    return math.sqrt((steps - 1) / steps + float(means.var(ddof=1)) / within)


def distribution(values: np.ndarray, weights: np.ndarray | None = None, label: str = "") -> Distribution:
    """How often each value occurs, or with what weight."""
    found, place = np.unique(values, return_inverse=True)
    return Distribution(found, np.bincount(place, weights, minlength=found.size), label)


# How likely samples visit each vertex of a graph, where a closed form is known; an estimate divides by it.

SAID = {
    "uniform": "equal probability",
    "degree": "probability proportional to degree",
    "strength": "probability proportional to weighted degree",
}


def law_of(samples: Samples) -> str:
    """The word of the algorithm's class for how likely it visits a vertex; empty where it has none.

    A subclass may have another law than its base.
    """
    name = samples.manifest["request"]["algorithm"]
    return str(vars(registry.find(name)).get("visits", "")) if name in registry.names() else ""


def require_law(samples: Samples, directed: bool) -> None:
    """OptionError where no closed form is known of how likely a sample of a graph visits each vertex."""
    request = samples.manifest["request"]
    if reason := _obstacle(samples.manifest, law_of(samples), directed):
        known = ", ".join(name for name in registry.names() if _has_law(registry.find(name)))
        raise OptionError(
            f"--estimate: {samples.path}: the probability that {request['algorithm']} visits a vertex {reason}; "
            f"estimate from samples of {known}"
        )


def chances(samples: Samples, host: HostNetwork) -> np.ndarray:
    """float64 [V]: numbers in proportion to the chance of a visit to each vertex.

    OptionError where no closed form is known.
    """
    require_law(samples, host.directed)
    request, law = samples.manifest["request"], law_of(samples)
    if law == "uniform":
        return np.ones(host.vertices)
    if samples.manifest.get("visited") == ENDS:
        return host.degrees + _loops(host)
    return _strengths(host) if law == "strength" and request["weighted"] else host.degrees.astype(np.float64)


def _has_law(algorithm: type[Algorithm]) -> bool:
    return bool(vars(algorithm).get("visits"))


def _obstacle(manifest: Manifest, law: str, directed: bool) -> str:
    """The reason why nothing is known of the chances; empty if they are known."""
    request, by_edges = manifest["request"], manifest.get("visited") != SOURCES
    if not law:
        return "has no closed form"
    if request.get("edge_bias") is not None:
        return "has no closed form with --edge-bias"
    if request.get("induced"):
        return "has no closed form with --induced, which keeps each vertex of an instance once"
    if not by_edges:
        is_list = SourcesDigest.parse(str(request["sources"])).kind is SourceKind.LIST
        return "has no closed form with --sources of a list, which are its vertices" if is_list else ""
    if request.get("target"):
        return "has no closed form with --target, which ends an instance by what it has visited"
    if directed:
        return "has no closed form on a directed graph"
    if law == "degree" and request["weighted"] and manifest.get("visited") != ENDS:
        return "has no closed form with weights (sample with --unweighted)"
    return ""


def _loops(host: HostNetwork) -> np.ndarray:
    """Number of self loops of each vertex, float64: an edge that is drawn visits both of its ends, a loop one twice."""
    out = np.zeros(host.vertices)
    for block in host.blocks():
        rows = np.repeat(np.arange(block.first, block.last), np.diff(block.indptr))
        out += np.bincount(rows[block.indices == rows], minlength=host.vertices)
    host.forget_blocks()
    return out


def _strengths(host: HostNetwork) -> np.ndarray:
    """Sum of the weights of each vertex's edges: row by row, as running sums lose light rows after heavy ones."""
    out = np.zeros(host.vertices)
    for block in host.blocks(weights=True):
        assert block.weights is not None
        size = block.last - block.first
        rows = np.repeat(np.arange(size), np.diff(block.indptr))
        out[block.first : block.last] = np.bincount(rows, block.weights, minlength=size)
    host.forget_blocks()
    return out
