"""Checks that walks are walks of this algorithm on this graph: lengths, sources, edges, ends, and the law of every step."""

import numpy as np

from csaw.engine.algorithm import Walk
from csaw.engine.law import next_law
from csaw.engine.samples import NOTHING
from csaw.engine.verify.checks import Checks, Subject, statistics
from csaw.engine.verify.kernels import multiplicity
from csaw.engine.verify.statistics import Choices
from csaw.engine.verify.tables import Laws

TRANSITIONS = 2_000_000  # steps that the statistics use


def verify_walks(subject: Subject, checks: Checks) -> None:
    walk = subject.algorithm
    assert isinstance(walk, Walk)
    lawful = type(walk).law is not Walk.law or (
        type(walk).update is Walk.update and type(walk).dead_end is Walk.dead_end
    )
    seen = _Seen(subject, lawful)
    for start, arrays in subject.samples.iter_groups():
        seen.group(start, subject.dense(arrays["walks"]), arrays["lengths"].astype(np.int64))
    checks.count("lengths", seen.wrong_length, "walks whose vertices do not match their length")
    checks.count("sources", seen.wrong_source, "walks that start at another vertex than asked for")
    if not lawful:
        why = f"{walk.name()} defines update or dead_end without law"
        checks.not_tested("edges", f"{seen.off_edge:,} steps off the edges and {seen.early:,} ends: {why}")
        checks.not_tested("transitions", why)
        return
    laws = subject.laws(seen.law)
    _exceptions(checks, "edges", "steps along no edge", seen.jumps, laws, seen.steps)
    _exceptions(checks, "ends", "walks that end where they could go on", seen.ends, laws, subject.samples.instances)
    statistics(checks, _choices(subject, seen.kept), laws, subject.degree, of=seen.steps + seen.early)


class _Seen:
    """The findings of one pass over the walks."""

    def __init__(self, subject: Subject, lawful: bool) -> None:
        self.subject, self.lawful = subject, lawful
        self.wrong_length = self.wrong_source = self.off_edge = self.early = self.steps = 0
        self.jumps: dict[tuple[int, ...], int] = {}  # (situation, next vertex): times
        self.ends: dict[tuple[int, ...], int] = {}
        self.kept: list[tuple[np.ndarray, ...]] = []
        samples = subject.samples
        every = max(1, -(-samples.instances * max(samples.walk_length, 1) // TRANSITIONS))
        self.every = every  # statistics use one walk of this many

    def law(self, *situation: int) -> dict[int, float]:
        named = dict(zip(self.subject.columns, situation, strict=True))
        return next_law(self.subject.view, self.subject.algorithm, named.pop("v"), **named)  # type: ignore[arg-type]

    def group(self, start: int, walks: np.ndarray, lengths: np.ndarray) -> None:
        rows, width = walks.shape
        step = np.arange(width)
        whole = (lengths >= 0) & (lengths < width)
        matching = np.where(step <= lengths[:, None], walks >= 0, walks == NOTHING).all(axis=1) & whole
        self.wrong_length += int((~matching).sum())
        instances = start + np.arange(rows)
        if self.subject.starts_at_all:
            self.wrong_source += int((walks[:, 0] != instances % self.subject.view.vertices).sum())
        took = (step[:-1] < lengths[:, None]) & matching[:, None]
        self.steps += int(took.sum())
        self._off_edges(walks, took, instances)
        early = matching & (lengths < width - 1)
        self.early += int(early.sum())
        dead = self.subject.degree[np.where(early, walks[np.arange(rows), np.clip(lengths, 0, width - 1)], 0)] == 0
        ended = early if self.subject.revives else early & ~dead
        at = np.flatnonzero(ended)
        self._note(self.ends, walks, at, lengths[at], np.full(at.size, NOTHING), instances)
        self._keep(walks, took | (early[:, None] & (step[:-1] == lengths[:, None])), instances)

    def _off_edges(self, walks: np.ndarray, took: np.ndarray, instances: np.ndarray) -> None:
        row, step = np.nonzero(took)
        src, dst = walks[row, step], walks[row, step + 1]
        copies = np.empty(src.size, np.int64)
        multiplicity(self.subject.view.indptr, self.subject.view.indices, src, dst, copies)
        off = copies == 0
        self.off_edge += int(off.sum())
        self._note(self.jumps, walks, row[off], step[off], dst[off], instances)

    def _note(
        self, notes: dict, walks: np.ndarray, row: np.ndarray, step: np.ndarray, dst: np.ndarray, instances: np.ndarray
    ) -> None:
        """Count distinct (situation, dst); only the first hundred thousand are judged one by one."""
        if self.lawful and row.size and len(notes) < 100_000:
            table = np.column_stack([self._situations(walks, row, step, instances), dst])
            values, times = np.unique(table, axis=0, return_counts=True)
            for key, count in zip(map(tuple, values.tolist()), times.tolist(), strict=True):
                notes[key] = notes.get(key, 0) + count

    def _situations(self, walks: np.ndarray, row: np.ndarray, step: np.ndarray, instances: np.ndarray) -> np.ndarray:
        known = {
            "v": lambda: walks[row, step],
            "prev": lambda: np.where(step > 0, walks[row, np.maximum(step - 1, 0)], NOTHING),
            "source": lambda: walks[row, 0],
            "depth": lambda: step,
            "instance": lambda: instances[row],
        }
        return np.column_stack([known[name]() for name in self.subject.columns]).astype(np.int64)

    def _keep(self, walks: np.ndarray, chosen: np.ndarray, instances: np.ndarray) -> None:
        row, step = np.nonzero(chosen & one_in(self.every, instances)[:, None])
        self.kept.append((self._situations(walks, row, step, instances), walks[row, step + 1], step))


def one_in(every: int, instances: np.ndarray) -> np.ndarray:
    """Whether each instance is used: one in ``every``, scattered, because sources recur periodically."""
    mixed = instances.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    return (mixed >> np.uint64(32)) % np.uint64(every) == 0


def _choices(subject: Subject, kept: list[tuple[np.ndarray, ...]]) -> Choices:
    if not kept:
        return Choices(np.zeros((0, len(subject.columns)), np.int64), np.zeros(0, np.int64), subject.columns)
    situations, chosen, depth = (np.concatenate(arrays) for arrays in zip(*kept, strict=True))
    return Choices(situations, chosen, subject.columns, depth, subject.degree)


def _exceptions(checks: Checks, name: str, what: str, notes: dict[tuple[int, ...], int], laws: Laws, of: int) -> None:
    """Check steps that no edge explains: each needs a positive chance in the law of the algorithm. The budget bounds their number."""
    wrong, judged, first = 0, 0, ""
    floor = laws.left * 3 // 4
    for looked, key in enumerate(sorted(notes, key=lambda one: -notes[one])):
        if laws.left < floor and looked >= 16:
            break
        judged += notes[key]
        if laws.of(np.array(key[:-1])).get(key[-1], 0.0) <= 0.0:
            wrong += notes[key]
            first = first or f"; first: {key[0]} -> {key[-1]} (dense ids)"
    excused = f", {judged - wrong:,} others that the algorithm allows" if judged > wrong else ""
    unseen = sum(notes.values()) - judged
    checks.count(name, wrong, f"of {of:,} {what}{excused}{f', {unseen:,} not looked at' if unseen else ''}{first}")
