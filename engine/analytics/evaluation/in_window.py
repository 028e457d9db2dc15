"""The graph of the edges in a window of time, as the options --until and --between ask for it."""

from collections.abc import Iterable

from csaw.engine.analytics.evaluation.options import EvaluateOptions
from csaw.partition import GraphStore
from csaw.partition.base.plain_data import Record
from csaw.partition.base.quoting import counted, quoted
from csaw.partition.errors import OptionError
from csaw.partition.graph.edge_columns import EdgeColumn, instead_of_times
from csaw.partition.graph.views import LEAST_TIME, Window, Windowed, span_of
from csaw.partition.ingestion.time_value import text_of, time_of

UNTIL, BETWEEN = "--until", "--between"


def in_window(store: GraphStore, wish: EvaluateOptions, samples: int = 0, *, beside: str = "--cluster") -> GraphStore:
    """Return the graph that is to be measured: ``store``, or a view of its edges in the window that is wanted.

    Args:
        store: the whole graph.
        wish: the options of the evaluation.
        samples: number of samples that are compared with the graph.
        beside: the option of a command that takes one window alone.

    Raises:
        OptionError: the graph has no times, a time is none, the first is after the last, there are samples, which are
            of the whole graph, or several windows are wanted.
        StoreError: a file of the store has changed.
    """
    if wish.several:
        what = ("versions", "version with --version") if wish.versions else ("windows", f"window with {BETWEEN}")
        raise OptionError(
            f"{wish.several} cannot be combined with {beside}, because several {what[0]} are measured one after the "
            f"other in this process; leave one out, or give one {what[1]}"
        )
    if wish.until is None and wish.between is None:
        return store
    flag = _flag(wish)
    column = with_times(store, flag, samples)
    return Windowed(store, _window(flag, wish, column.units))


def with_times(store: GraphStore, flag: str, samples: int = 0) -> EdgeColumn:
    """Return the column of a graph's times, which the option ``flag`` needs.

    OptionError where there are none, in a window that was made before, or with ``samples``.
    """
    if samples:
        raise OptionError(
            f"{flag}: expected only the graph, found {counted(samples, 'sample')}, of the whole graph; leave out "
            f"{flag} or the samples"
        )
    if isinstance(store, Windowed):
        raise OptionError(
            f"{flag}: {store.path}: expected a whole graph, found a window of it already; open the graph again, by its "
            "path or the object that it was made of"
        )
    if store.time is None:
        way = (
            "make the graph with csaw.graph(data, time=times)"
            if store.in_memory
            else "make the store with csaw partition FILE OUT --time-column COLUMN, or in Python with time="
        )
        raise OptionError(
            f"{flag}: {store.path}: expected times of the edges, found {instead_of_times(store.hook_columns)}; {way}"
        )
    return store.time


def _flag(wish: EvaluateOptions) -> str:
    """The option that says the window. OptionError where two do."""
    if wish.until is not None and wish.between is not None:
        raise OptionError(f"{UNTIL}: expected {UNTIL} or {BETWEEN}, found both; leave one out")
    return UNTIL if wish.between is None else BETWEEN


def range_of(store: GraphStore, wish: EvaluateOptions) -> tuple[int, int]:
    """The first and the last time of several windows: of all edges, or as ``wish`` says.

    OptionError where there are no edges, or none so early.
    """
    units = with_times(store, wish.several).units
    if _flag(wish) == BETWEEN:
        return _window(BETWEEN, wish, units)
    found = span_of(store)
    if found is None:
        raise OptionError(
            f"{wish.several}: {store.path} has no edges and therefore no first time; give it with {BETWEEN}"
        )
    last = found[1] if wish.until is None else _window(UNTIL, wish, units).last
    if last < found[0]:
        raise OptionError(
            f"{UNTIL}: expected a time not before the first, {text_of(found[0], units)}, found an earlier one"
        )
    return found[0], last


def _window(flag: str, wish: EvaluateOptions, units: str) -> Window:
    if isinstance(wish.between, Window):
        return wish.between
    if wish.between is None:
        return Window(LEAST_TIME, time_of(flag, wish.until, units))
    first, last = (time_of(flag, one, units) for one in _ends(wish.between))
    if first > last:
        raise OptionError(
            f"{BETWEEN}: expected two times, the first not after the last, found {text_of(first, units)} and "
            f"{text_of(last, units)}; swap them"
        )
    return Window(first, last)


def _ends(given: object) -> tuple[object, object]:
    """The two times of ``A,B`` or of a pair."""
    ends = given.split(",") if isinstance(given, str) else list(given) if isinstance(given, Iterable) else []
    if len(ends) != 2:
        raise OptionError(f"{BETWEEN}: expected two times, such as 2026-11-01,2026-11-30, found {quoted(given)}")
    return ends[0], ends[1]


def words_of(store: GraphStore) -> str:
    """The window of a graph in words that follow its name; empty where it has none."""
    if not isinstance(store, Windowed) or (column := store.store.time) is None:
        return ""
    first, last = (text_of(one, column.units) for one in store.window)
    when = f"until {last}" if store.window.first == LEAST_TIME else f"from {first} to {last}"
    return f" {when}, {store.edges:,} of {store.store.edges:,} stored edges"


def record_of(store: GraphStore) -> Record:
    """The window of a graph as plain data: its ``first`` and ``last`` time and their ``units``; empty for none."""
    if not isinstance(store, Windowed) or (column := store.store.time) is None:
        return {}
    first = None if store.window.first == LEAST_TIME else store.window.first
    counts = {"edges": store.edges, "of": store.store.edges}
    return {"window": {"first": first, "last": store.window.last, "units": column.units, **counts}}
