"""Bipartite region search, as C-SAW's paper prints it, draws from another law than successive selection;
docs/exactness.md says from which.
"""

import re
from bisect import bisect_right
from fractions import Fraction
from itertools import accumulate
from pathlib import Path

DOCS = Path(__file__).parents[3] / "docs" / "exactness.md"
CELLS = 45  # of [0, 1), so that no step below changes its choice within a cell


def printed(r, low, high):
    """The number that is searched next, as in the paper: the one that fell into the region of the taken candidate, made
    smaller.
    """
    return r * (1 - (high - low))


def rescaled(r, low, high):
    """The same after the number has been made uniform again: within its region it is anywhere with the same chance."""
    return (r - low) / (high - low) * (1 - (high - low))


def chances(biases, taken, again):
    """The chance of each candidate, the one at ``taken`` being selected already: a sum over all cells of the random
    number.
    """
    ends = [Fraction(end, sum(biases)) for end in accumulate(biases)]
    low, high = ends[taken - 1], ends[taken]
    found = [Fraction(0)] * len(biases)
    for cell in range(CELLS):
        r = Fraction(2 * cell + 1, 2 * CELLS)
        if low <= r < high:
            r = again(r, low, high)
            r += high - low if r >= low else 0
        found[bisect_right(ends, r)] += Fraction(1, CELLS)
    return found


def test_the_page_says_the_chances_of_the_paper_and_of_the_law():
    biases, taken = [3, 6, 2, 2, 2], 1
    paper, exact = (chances(biases, taken, again) for again in (printed, rescaled))
    assert paper == [Fraction(1, 3), 0, Fraction(16, 45), Fraction(8, 45), Fraction(2, 15)]
    assert exact == [Fraction(bias, 9) if place != taken else 0 for place, bias in enumerate(biases)]
    text = re.search(
        r"With biases ([\d, ]+) and the second already taken, "
        r"the others should have probabilities ([\d., ]+), but get ([\d., ]+)\. ",
        DOCS.read_text(),
    )
    assert [int(bias) for bias in text[1].split(", ")] == biases
    for said, found in ((text[3], paper), (text[2], exact)):
        assert said.split(", ") == [f"{float(chance):.3f}".lstrip("0") for chance in found if chance]
