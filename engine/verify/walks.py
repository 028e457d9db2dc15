"""Checks that walks are walks of this algorithm on this graph: lengths, sources, edges, ends, and the law of every
step.
"""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from csaw.engine.api.algorithm import Walk
from csaw.engine.api.law import next_law
from csaw.engine.api.termination import cut_by, may_end
from csaw.engine.verify.checks import Check, Checks, SingleChoices, Subject, single_choices, statistics
from csaw.engine.verify.contexts import Counter
from csaw.engine.verify.course import CHOICES, TRANSITIONS
from csaw.engine.verify.forms import RowLaws
from csaw.engine.verify.power import ranges
from csaw.engine.verify.statistics import Choices, fit_law
from csaw.engine.verify.tables import Laws
from csaw.engine.verify.walk_pass import Found, Notes, WalkPass
from csaw.partition.base.interruptible import go_on, heeding
from csaw.partition.base.stages import stage, unseen


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
    with stage(CHOICES):
        counter = Counter.of(choices, laws, subject.degree, walks.every) if choices else None
    found, single = _looked_at(walks, counter, choices, laws)
    checks.count("lengths", found.counts["lengths"], "walks whose vertices do not match their length")
    checks.count("sources", found.counts["sources"], "walks that start at another vertex than asked for")
    limit = subject.samples.walk_length
    if limit is not None and may_end(walk):
        checks.add(
            Check(
                "limit",
                True,
                None,
                cut_by(limit, subject.samples.instances - found.counts["early"], subject.samples.instances),
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
        _exceptions(checks, "edges", "steps along no edge", found.jumps, laws, steps)
        _exceptions(checks, "ends", "walks that end where they could go on", found.ends, laws, instances)
        counted = counter.counted() if counter else None
        of = steps + found.counts["early"]
        statistics(checks, choices, laws, subject.degree, of=of, counted=counted, single=single)


def _looked_at(
    walks: WalkPass, counter: Counter | None, choices: Choices | None, laws: Laws
) -> tuple[Found, SingleChoices | None]:
    """The findings in all walks; and meanwhile, as half of that work is one thread's, what ``choices`` tell, where the
    laws have a closed form: others share a budget, so their work has an order.
    """
    if choices is None or not isinstance(laws, RowLaws):
        return walks.run(counter), None
    with ThreadPoolExecutor(1) as aside:
        single = aside.submit(heeding(unseen(single_choices)), choices, laws)
        found = walks.run(counter)
        with stage(TRANSITIONS):
            return found, single.result()


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
