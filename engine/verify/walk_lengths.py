"""The law of the lengths of walks that end with the same chance before every step: geometric, up to the limit if there
is one.
"""

import numpy as np

from csaw.engine.verify.checks import Checks, Subject
from csaw.engine.verify.forms import RowLaws
from csaw.engine.verify.power import ranges
from csaw.engine.verify.statistics import fit_law
from csaw.engine.verify.tables import Laws

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
