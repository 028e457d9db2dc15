"""Patterns: how often small connected graphs of 3 to 5 vertices occur."""

from typing import ClassVar

from csaw.engine.analytics.kept import Kept
from csaw.engine.analytics.measure import Findings, Measure, Number
from csaw.engine.analytics.network import Network
from csaw.engine.analytics.pattern import PATTERNS
from csaw.engine.api.option import option
from csaw.partition.base.quoting import quoted
from csaw.partition.errors import OptionError


class Patterns(Measure):
    """Number of subgraphs of the simple undirected graph that form each pattern, exact.

    Other edges among their vertices do no harm.

    A diamond, a square with one diagonal, has one square and two triangles; a clique of four has three squares and four
    triangles. Counted on the CPU, in memory.
    """

    KEEPS: ClassVar = {"cpu": Kept(42, ids=3, entries=1, fixed=1 << 19)}
    paper = "Grochow and Kellis, RECOMB 2007"
    by_default = False
    pattern: str = option(
        "wedge,triangle,square,diamond,clique4", help=f"patterns to count, separated by commas: {', '.join(PATTERNS)}"
    )

    def __init__(self, **values: object) -> None:
        super().__init__(**values)
        for name in self.wanted:
            if name not in PATTERNS:
                raise OptionError(f"--pattern: no pattern called {quoted(name)}; there are {', '.join(PATTERNS)}")

    def computes(self, directed: bool) -> tuple[str, ...]:
        return ("patterns",)

    @property
    def wanted(self) -> tuple[str, ...]:
        """Names of the patterns."""
        return tuple(self.pattern.split(","))

    def findings(self, network: Network) -> Findings:
        counts = network.undirected.compute("patterns", names=self.wanted)
        return {name: Number(count) for name, count in zip(self.wanted, counts, strict=True)}
