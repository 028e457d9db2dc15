"""Measures of a graph in one window of time after another: a table with a line for each."""

import csv
import io
from dataclasses import dataclass, field
from functools import partial
from itertools import pairwise
from pathlib import Path

from csaw.engine.analytics.evaluation import tables
from csaw.engine.analytics.evaluation.evaluate import Evaluation, evaluate
from csaw.engine.analytics.evaluation.in_window import range_of, record_of, with_times
from csaw.engine.analytics.evaluation.measuring import Measuring, Progress
from csaw.engine.analytics.evaluation.options import MOST_WINDOWS, EvaluateOptions
from csaw.engine.analytics.evaluation.tables import Row, as_plain
from csaw.engine.analytics.measure import Number
from csaw.partition import GraphStore
from csaw.partition.base.plain_data import Values
from csaw.partition.base.quoting import counted
from csaw.partition.base.stages import course, step
from csaw.partition.errors import OptionError
from csaw.partition.graph.views import LEAST_TIME, Window
from csaw.partition.ingestion.time_value import length_of, text_of

ENDS = ("first", "last")
LAST_TIME = 2**63 - 1
ONE: Values = {"windows": None, "every": None, "cumulative": False, "until": None}
"""The options of each window."""


@dataclass(repr=False)
class OverTime(Evaluation):
    """The results for a graph in time windows, in order.

    Attributes:
        windows: the evaluation of each window. Columns keep only their ends, not their values, so that memory does not
            grow with vertices in each window; ``profile`` and ``by_measure`` are empty.
    """

    windows: list[Evaluation] = field(default_factory=list)

    @property
    def title(self) -> str:
        return f"{self.named or self.graph} in {counted(len(self.windows), 'window')} of time"

    def rows(self) -> list[Row]:
        """Return the findings of all windows.

        Returns:
            A row for each number, with the window that it belongs to.
        """
        return [row._replace(of=one.title) for one in self.windows for row in one.rows()]

    @property
    def findings(self) -> list[str]:
        """Names of the numbers that stand in the table."""
        each = (name for one in self.windows for name, found in one.profile.items() if isinstance(found, Number))
        return list(dict.fromkeys(each))

    @property
    def shown(self) -> tables.Table:
        rows = [
            [*ends, f"{one.store.edges:,}", *(tables.number(value) for value in values)]
            for one, ends, values in zip(self.windows, self._ends(), self._values(), strict=True)
        ]
        return tables.Table([self.title], self._names, rows, self._names)

    @property
    def _names(self) -> list[str]:
        return ["from", "to", "edges", *self.findings]

    def _ends(self) -> list[tuple[str, str]]:
        """The first and the last time of each window; empty for a first one that is the least there is."""
        said = [record_of(one.store)["window"] for one in self.windows]
        texts = [[("" if one[end] is None else text_of(one[end], one["units"])) for end in ENDS] for one in said]
        return [(first, last) for first, last in texts]

    def _values(self) -> list[list[float | None]]:
        found = [[one.profile.get(name) for name in self.findings] for one in self.windows]
        return [[one.value if isinstance(one, Number) else None for one in values] for values in found]

    def table(self, format: str = "text") -> str:
        if format != "csv":
            return super().table(format)
        out = io.StringIO()
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(self._names)
        for one, ends, values in zip(self.windows, self._ends(), self._values(), strict=True):
            writer.writerow([*ends, one.store.edges, *values])
        return out.getvalue()

    def as_dict(self) -> dict[str, object]:
        each = [
            {
                **record_of(one.store)["window"],
                "profile": {name: as_plain(found) for name, found in one.profile.items()},
            }
            for one in self.windows
        ]
        measures = {one.name(): one.parameters() for one in self.measures}
        return {"graph": self.graph, "measures": measures, "windows": each}

    def plot(self, folder: str | Path, **how: object) -> list[Path]:
        """Raise OptionError: there is no plot of several windows."""
        raise OptionError("plot: expected one window, found several; plot each window separately")


def evaluate_windows(store: GraphStore, wish: EvaluateOptions, progress: Progress, options: Values) -> OverTime:
    """Measure a graph in several windows of time, as ``options`` ask for them, which are those of ``wish``.

    OptionError: the windows are not possible, and as for :func:`evaluate`.
    """
    found, each = OverTime(store, {}, [], []), _cut(store, wish)
    measuring = partial(Measuring, columns=False)
    with course(of=len(each)):
        for number, one in enumerate(each, 1):
            step(number)
            say = partial(say_of, progress, f"window {number} of {len(each)}")
            here = evaluate(store, progress=say, measuring=measuring, **(options | ONE | {"between": one}))
            here.store.release()
            found.windows.append(here)
    found.measures = found.windows[0].measures
    return found


def say_of(progress: Progress, which: str, doing: str) -> None:
    """Say what is done, and of which of several."""
    progress(f"{doing}, {which}")


def _cut(store: GraphStore, wish: EvaluateOptions) -> list[Window]:
    """The windows of a graph, by their number or by the length of each."""
    if wish.windows is not None:
        each = _equal(*range_of(store, wish), wish.windows)
    else:
        length = length_of("--every", wish.every, with_times(store, "--every").units)
        first, last = range_of(store, wish)
        begin = first - first % length if wish.between is None else first
        end = LAST_TIME if wish.between is None and wish.until is None else last
        each = [Window(max(one.first, LEAST_TIME), min(one.last, end)) for one in _long(begin, last, length)]
    return [Window(each[0].first, one.last) for one in each] if wish.cumulative else each


def _equal(first: int, last: int, count: int) -> list[Window]:
    """Cut the times from ``first`` to ``last`` into so many windows; OptionError where there are fewer times."""
    times = last - first + 1
    if count > times:
        raise OptionError(
            f"--windows: expected at most {times:,}, the number of times from the first to the last, found {count:,}"
        )
    cuts = [first + k * times // count for k in range(count + 1)]
    return [Window(low, high - 1) for low, high in pairwise(cuts)]


def _long(begin: int, last: int, length: int) -> list[Window]:
    """Windows of this length from ``begin`` on, up to the one that has ``last``; OptionError for too many."""
    count = (last - begin) // length + 1
    if count > MOST_WINDOWS:
        raise OptionError(f"--every: expected at most {MOST_WINDOWS:,} windows, found {count:,}; give a longer window")
    lows = (begin + k * length for k in range(count))
    return [Window(low, low + length - 1) for low in lows]
