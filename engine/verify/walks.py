"""Checks that walks are walks of this algorithm on this graph: lengths, sources, edges, ends, and the law of every
step.
"""

from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field

import numpy as np

from csaw.engine.api.algorithm import Walk
from csaw.engine.api.law import next_law
from csaw.engine.api.termination import cut_by, may_end
from csaw.engine.samples import NOTHING, Samples
from csaw.engine.samples.layouts import RAGGED_WALKS, Arrays
from csaw.engine.verify.checks import Check, Checks, SingleChoices, Subject, single_choices, statistics
from csaw.engine.verify.choices import Counter
from csaw.engine.verify.course import CHOICES, EDGES, TRANSITIONS, in_order
from csaw.engine.verify.forms import RowLaws
from csaw.engine.verify.statistics import Choices, Laws, fit_law, import_scipy, ranges
from csaw.engine.verify.steps import Lines, check_walks
from csaw.partition.base.parallel import go_on, heeding, processors
from csaw.partition.base.stages import stage, unseen

# One pass over all walks of a sample in threads: whether they are walks, the steps and ends to explain, and the
# choices that tests use.

STEPS_KEPT = 2_000_000  # steps of which each is kept; of the others, those in chosen situations are counted
SCATTERED = 1 << 16  # walks that are kept of those of a range of instances
NOTED = 100_000  # distinct steps or ends to explain that are judged one by one

Notes = dict[tuple[int, ...], int]
Counting = Future[Counter | None]
"""Brings the counter of choices; None where nothing is counted."""


@dataclass
class Piece:
    """Some walks in dense ids."""

    instances: np.ndarray  # int64 [walks]
    walks: np.ndarray  # int64 [walks, walk_length + 1]; walks without a limit have a column more than the longest
    lengths: np.ndarray  # int64 [walks]
    fits: np.ndarray  # bool [walks]: as many vertices as its length says
    off: np.ndarray  # bool [walks, walk_length]: steps along no edge
    wrong: int  # number of these

    @property
    def took(self) -> np.ndarray:
        """The steps of walks that are walks, bool [walks, walk_length]."""
        return (np.arange(self.off.shape[1]) < self.lengths[:, None]) & self.fits[:, None]

    @property
    def early(self) -> np.ndarray:
        """Walks that ended before their last step."""
        return self.fits & (self.lengths < self.walks.shape[1] - 1)


@dataclass
class Found:
    """The findings in the walks so far, by name in ``counts``: lengths, sources, steps, off, early."""

    counts: dict[str, int] = field(
        default_factory=lambda: dict.fromkeys(("lengths", "sources", "steps", "off", "early"), 0)
    )
    jumps: Notes = field(default_factory=dict)  # (situation, next vertex): times
    ends: Notes = field(default_factory=dict)

    def add(self, counts: dict[str, int], jumps: np.ndarray, ends: np.ndarray) -> None:
        for name, count in counts.items():
            self.counts[name] += count
        _note(self.jumps, jumps)
        _note(self.ends, ends)


def _note(notes: Notes, table: np.ndarray) -> None:
    if len(table) and len(notes) < NOTED:
        values, times = np.unique(table, axis=0, return_counts=True)
        for key, count in zip(map(tuple, values.tolist()), times.tolist(), strict=True):
            notes[key] = notes.get(key, 0) + count


class WalkPass:
    """Reads the walks of ``subject``; ``lawful``: steps and ends that no edge explains are
    noted, for the law to judge.
    """

    def __init__(self, subject: Subject, lawful: bool) -> None:
        self.subject, self.lawful, self.found = subject, lawful, Found()
        self.tables, self.lines = WalkTables(subject.samples, subject.watch), Lines.of(subject.view.indices)
        self.every = max(1, -(-max(self.tables.steps, subject.samples.instances) // STEPS_KEPT))
        """One walk of this many is kept."""
        self.uncounted: list[Piece] = []  # looked at before the counter was there: one for each thread
        self.paths: dict[int, np.ndarray] = {}
        """By instance, the vertices of walks whose choices are judged, where the law reads them."""

    def kept(self) -> Choices:
        """The choices of some walks, scattered over the whole sample."""
        samples, columns = self.subject.samples, self.subject.columns
        some = []
        with stage(CHOICES, min(self.tables.steps, STEPS_KEPT), "steps") as seen:
            for one in in_order(self._choices, self._scattered()) if samples.walk_length != 0 else ():
                some.append(one)
                seen(seen.done + one[1].size)
        if not some:
            return Choices(np.zeros((0, len(columns)), np.int64), np.zeros(0, np.int64), columns)
        situations, chosen, depth = (np.concatenate(arrays) for arrays in zip(*some, strict=True))
        return Choices(situations, chosen, columns, depth, self.subject.degree, self.subject.other_weights)

    def run(self, counter: Counting) -> Found:
        """Look at all walks; ``counter`` counts the choices of those that are not kept."""
        ranges = self.tables.ranges()
        with stage(EDGES, self.subject.samples.instances, "walks") as shown:
            looks = in_order(self._look, ((a, b, counter) for a, b in ranges))
            for (_, stop), seen in zip(ranges, looks, strict=True):
                self.found.add(*seen)
                shown(stop)
            for _ in in_order(self._count, ((piece, counter) for piece in self.uncounted)):
                pass
        return self.found

    def _scattered(self) -> Iterator[tuple[np.ndarray]]:
        """The instances that are kept, ascending, as many at a time as a thread takes in hand."""
        samples = self.subject.samples
        for start in range(0, samples.instances, SCATTERED * self.every):
            part = np.arange(start, min(start + SCATTERED * self.every, samples.instances))
            yield from self.tables.scattered(part[one_in(self.every, part)])

    def _piece(self, instances: np.ndarray, stored: np.ndarray, steps: np.ndarray) -> Piece:
        walks, lengths = self.subject.dense(stored), steps.astype(np.int64)
        fits, off = np.zeros(len(walks), np.bool_), np.zeros((len(walks), walks.shape[1] - 1), np.bool_)
        both = not self.subject.store.directed
        wrong = check_walks(self.subject.view.indptr, *self.lines, both, walks, lengths, fits, off)
        return Piece(instances, walks, lengths, fits, off, wrong)

    def _choices(self, instances: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        piece = self._piece(instances, *self.tables.of(instances))
        ended = piece.early[:, None] & (np.arange(piece.off.shape[1]) == piece.lengths[:, None])
        row, step = np.nonzero(piece.took | ended)
        return self._situations(piece, row, step), piece.walks[row, step + 1], step

    def _look(self, start: int, stop: int, counting: Counting) -> tuple[dict[str, int], np.ndarray, np.ndarray]:
        subject = self.subject
        piece = self._piece(np.arange(start, stop), *self.tables.between(start, stop))
        sources = subject.all_sources(piece.instances) if subject.starts_at_all else piece.walks[:, 0]
        at = np.flatnonzero(piece.early)
        dead = subject.degree[piece.walks[at, piece.lengths[at]]] == 0
        counts = {
            "lengths": int((~piece.fits).sum()),
            "sources": int((piece.walks[:, 0] != sources).sum()),
            "steps": int(piece.lengths[piece.fits].sum()),
            "off": piece.wrong,
            "early": at.size,
        }
        if counting.done() or len(self.uncounted) >= processors():
            self._count(piece, counting)
        else:
            self.uncounted.append(piece)
        row, step = np.nonzero(piece.off) if piece.wrong and len(self.found.jumps) < NOTED else (at[:0], at[:0])
        ended = (at if subject.revives else at[~dead]) if len(self.found.ends) < NOTED else at[:0]
        jumps, ends = self._table(piece, row, step), self._table(piece, ended, piece.lengths[ended])
        return counts, jumps, ends

    def _count(self, piece: Piece, counting: Counting) -> None:
        if (counter := counting.result()) is not None:
            counter.count(piece.walks, piece.lengths, piece.fits, ~one_in(self.every, piece.instances))

    def _table(self, piece: Piece, row: np.ndarray, step: np.ndarray) -> np.ndarray:
        """(situation, next vertex) of these choices, if the law can judge them."""
        if not self.lawful:
            row, step = row[:0], step[:0]
        return np.column_stack([self._situations(piece, row, step), piece.walks[row, step + 1]])

    def _situations(self, piece: Piece, row: np.ndarray, step: np.ndarray) -> np.ndarray:
        walks = piece.walks
        for walk in np.unique(row).tolist() if self.subject.reads_path else ():
            self.paths[int(piece.instances[walk])] = walks[walk, : piece.lengths[walk] + 1].copy()
        known = {
            "v": lambda: walks[row, step],
            "prev": lambda: np.where(step > 0, walks[row, np.maximum(step - 1, 0)], NOTHING),
            "source": lambda: walks[row, 0],
            "depth": lambda: step,
            "instance": lambda: piece.instances[row],
        }
        return np.column_stack([known[name]() for name in self.subject.columns]).astype(np.int64)


def one_in(every: int, instances: np.ndarray) -> np.ndarray:
    """Whether each instance is used: one in ``every``, scattered, because sources recur periodically."""
    mixed = instances.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    return (mixed >> np.uint64(32)) % np.uint64(every) == 0


# Walks of a sample as tables, some at a time: those without a limit have as many columns as the longest of them
# needs, and one more for its end.

ENTRIES = 1 << 19  # entries of walks that a thread has in hand, and up to MORE times as many of a large sample,
MORE = 4  # so that threads meet less often: each asks for the interpreter some twenty times for a table
TABLES = 8  # at least for each thread, where they are larger


class WalkTables:
    """Reads the walks of ``samples``, and tells ``watch`` of those that are read in turn.

    ``steps`` is the number of steps of all of them, or the most that they can have.
    """

    def __init__(self, samples: Samples, watch: Callable[[int, Arrays], None]) -> None:
        self.samples, self.ragged, self.watch = samples, not samples.layout.has_limit, watch
        if self.ragged:
            self.lengths = np.asarray(samples.lengths)
            self.steps = int(self.lengths.sum())
        else:
            self.steps = samples.instances * (samples.walks.shape[1] - 1)

    def ranges(self) -> list[tuple[int, int]]:
        """First and last instance, the last one exclusive, of tables that together have all walks."""
        every = range(self.samples.instances)
        most = min(max(self.steps // (TABLES * processors()), ENTRIES), MORE * ENTRIES)
        return [(part[0], part[-1] + 1) for part in self._parts(np.arange(every.stop), most)]

    def scattered(self, instances: np.ndarray) -> Iterator[tuple[np.ndarray]]:
        """Some instances, as many at a time as a table takes."""
        return ((part,) for part in self._parts(instances, ENTRIES // MORE))

    def between(self, start: int, stop: int) -> tuple[np.ndarray, np.ndarray]:
        """The walks start .. stop - 1 [walks, columns] with the ids of the store, and their lengths."""
        arrays = self.samples.group(start, stop)
        self.watch(start, arrays)
        return (self._padded(arrays) if self.ragged else arrays["walks"]), arrays["lengths"]

    def of(self, instances: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The same of some instances."""
        if not self.ragged:
            return self.samples.walks[instances], self.samples.lengths[instances]
        sizes = self.lengths[instances] + 1
        begins = self.samples.walk_ptr[instances]
        places = np.repeat(begins - np.cumsum(sizes) + sizes, sizes) + np.arange(int(sizes.sum()))
        arrays = {"walks": self.samples.walks[places], "lengths": self.lengths[instances]}
        return self._padded(arrays), arrays["lengths"]

    def _padded(self, arrays: dict[str, np.ndarray]) -> np.ndarray:
        return RAGGED_WALKS.table(arrays, self.samples.fill, int(arrays["lengths"].max(initial=0)) + 2)

    def _parts(self, instances: np.ndarray, most: int) -> Iterator[np.ndarray]:
        """Cut instances so that no table has more than ``most`` entries, unless a single walk has."""
        columns = self.steps // max(self.samples.instances, 1) + 1
        rows = max(1, most // columns)
        waiting = [instances[a : a + rows] for a in range(0, instances.size, rows)][::-1]
        while waiting:
            part = waiting.pop()
            if self.ragged and part.size > 1 and part.size * (int(self.lengths[part].max()) + 2) > most:
                waiting += [part[part.size // 2 :], part[: part.size // 2]]
            else:
                yield part


# Checks of walks.


def verify_walks(subject: Subject, checks: Checks) -> None:
    """Check all walks by the rules, then the choices of some and the counts of all others against the law."""
    walk = subject.algorithm
    assert isinstance(walk, Walk)
    lawful = type(walk).law is not Walk.law or (
        type(walk).update is Walk.update and type(walk).dead_end is Walk.dead_end
    )
    walks = WalkPass(subject, lawful)
    laws = subject.laws(_law_of(subject, walk, walks.paths))
    choices = walks.kept() if lawful else None
    found, counter, single = _looked_at(walks, choices, laws)
    checks.count("lengths", found.counts["lengths"], "walks whose vertices do not match their length")
    checks.count("sources", found.counts["sources"], "walks that do not start at the requested vertex")
    limit = subject.samples.walk_length
    if limit is not None and may_end(walk):
        checks.add(
            Check(
                "limit",
                True,
                None,
                cut_by(walk, subject.samples.instances - found.counts["early"], subject.samples.instances),
            )
        )
    if choices is None:
        why = f"{walk.name()} defines update or dead_end without law, and not every way through them can be followed"
        off, early = found.counts["off"], found.counts["early"]
        checks.not_tested("edges", f"{off:,} steps off the edges and {early:,} ends: {why}")
        checks.not_tested("transitions", why)
        return
    with stage(TRANSITIONS):
        verify_lengths(subject, laws, checks)
        steps, instances = found.counts["steps"], subject.samples.instances
        _exceptions(checks, "edges", "steps that follow no edge", found.jumps, laws, steps)
        _exceptions(checks, "ends", "walks that end where they could continue", found.ends, laws, instances)
        counted = counter.counted() if counter else None
        of = steps + found.counts["early"]
        statistics(checks, choices, laws, subject.degree, of=of, counted=counted, single=single)


def _looked_at(
    walks: WalkPass, choices: Choices | None, laws: Laws
) -> tuple[Found, Counter | None, SingleChoices | None]:
    """The findings in all walks, what counted their choices, and meanwhile, as half of that work is one thread's, what
    ``choices`` tell, where the laws have a closed form: others share a budget, so their work has an order.
    """

    def counter() -> Counter | None:
        return Counter.of(choices, laws, walks.subject.degree, walks.every) if choices else None

    if choices is None or not isinstance(laws, RowLaws):
        coming: Counting = Future()
        with stage(CHOICES):
            coming.set_result(counter())
        return walks.run(coming), coming.result(), None
    with ThreadPoolExecutor(3) as aside:
        coming = aside.submit(heeding(unseen(counter)))
        single = aside.submit(heeding(unseen(single_choices)), choices, laws)
        aside.submit(import_scipy)
        found = walks.run(coming)
        with stage(TRANSITIONS):
            return found, coming.result(), single.result()


def _law_of(subject: Subject, walk: Walk, paths: dict[int, np.ndarray]) -> Callable[..., dict[int, float]]:
    """Return the law of a situation; ``paths`` [steps + 1] by instance are read where hooks read them."""

    def law(*situation: int) -> dict[int, float]:
        named = dict(zip(subject.columns, situation, strict=True))
        path = paths[named["instance"]][: named["depth"] + 1].tolist() if subject.reads_path else ()
        return next_law(subject.view, walk, named.pop("v"), path=path, **named)

    return law


def _exceptions(checks: Checks, name: str, what: str, notes: Notes, laws: Laws, of: int) -> None:
    """Check steps that no edge explains: each needs a positive chance in the law of the algorithm.

    The budget bounds their number.
    """
    wrong, judged, first = 0, 0, ""
    floor = laws.left * 3 // 4
    for looked, key in enumerate(sorted(notes, key=lambda one: -notes[one])):
        if laws.left < floor and looked >= 16:
            break
        go_on()
        judged += notes[key]
        if laws.of(np.array(key[:-1])).get(key[-1], 0.0) <= 0.0:
            wrong += notes[key]
            first = first or f"; first: {key[0]} -> {key[-1]} (dense ids)"
    excused = f", {judged - wrong:,} others that the algorithm allows" if judged > wrong else ""
    unseen = sum(notes.values()) - judged
    checks.count(name, wrong, f"of {of:,} {what}{excused}{f', {unseen:,} not looked at' if unseen else ''}{first}")


# The law of the lengths of walks that end with the same chance before every step: geometric, up to the limit if there
# is one.

CELLS = 64  # ranges of lengths, about equally likely
DEVIATION = "walks moved to one range of lengths"


def verify_lengths(subject: Subject, laws: Laws, checks: Checks) -> None:
    """Add a test of all lengths together, where no walk can meet a dead end: there lengths are independent and
    geometric.
    """
    form = laws.form if isinstance(laws, RowLaws) else None
    if form is None or form.goes != "end" or not 0.0 < form.share < 1.0:
        return
    if (subject.degree == 0).any() or not (form.bias > 0.0).all():
        return
    lengths = np.asarray(subject.samples.lengths[:])
    begins, chances = geometric(form.share, subject.samples.walk_length)
    found = np.bincount(np.searchsorted(begins, lengths, "right") - 1, minlength=begins.size).astype(np.float64)
    p, cells = fit_law(found, chances)
    results = [ranges(p, lengths.size, cells, DEVIATION)] if p is not None and cells > 1 else []
    mean = float(lengths.mean()) if lengths.size else 0.0
    checks.results("lengths, law", results, f"{lengths.size:,} walks, {mean:.4g} steps on average", "too few walks")


def geometric(chance: float, limit: int | None) -> tuple[np.ndarray, np.ndarray]:
    """Ranges of the number of steps before an end that comes with this ``chance`` before each: where they begin,
    float64, and how likely each is.
    """
    begins = np.unique(np.ceil(np.log1p(-np.arange(CELLS) / CELLS) / np.log1p(-chance)))
    if limit is not None:
        begins = np.append(begins[begins < limit], float(limit))
    survive = np.exp(begins * np.log1p(-chance))
    return begins, survive - np.append(survive[1:], 0.0)
