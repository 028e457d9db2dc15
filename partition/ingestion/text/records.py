"""Text that several processes read: the span of a file that each keeps to, and what it has to say of it."""

from typing import Any, NamedTuple

COUNTED = ("comments", "blank", "edges", "skipped")


class Span(NamedTuple):
    """Bytes of a file to whose lines a reader keeps; ``end`` None is that of the file. ``lines``: those before it, where they are known."""

    begin: int = 0
    end: int | None = None
    lines: int = 0


WHOLE = Span()


class Recorded:
    """Rows of a text file whose spans other processes have read: ``add`` their records in order, then the file can be ended."""

    counts: dict[str, int]
    words: Any
    first: tuple[int, int] | None
    bad_weights: int
    bad_weight_line: int
    continued = False  # whether a record was added

    def record(self) -> dict[str, Any]:
        """What there is to say of the rows that were read, as plain data."""
        words = self.words
        return {
            "counts": dict(self.counts), "first": self.first, "bad_weights": (self.bad_weights, self.bad_weight_line),
            "bad_words": (words.bad_weights, words.bad_weight_line), "like_rows": (words.comments_like_rows, words.like_row_line),
        }  # fmt: skip

    def add(self, record: dict[str, Any]) -> None:
        """The record of the next span, whose lines count from its begin."""
        before, words = self.counts["lines"] if self.continued else 0, self.words
        self.continued, self.first = True, self.first or record["first"]
        self.bad_weights, self.bad_weight_line = _together(
            (self.bad_weights, self.bad_weight_line), record["bad_weights"], before
        )
        words.bad_weights, words.bad_weight_line = _together(
            (words.bad_weights, words.bad_weight_line), record["bad_words"], before
        )
        words.comments_like_rows, words.like_row_line = _together(
            (words.comments_like_rows, words.like_row_line), record["like_rows"], before
        )
        self.counts["lines"] = before + record["counts"]["lines"]
        for name in COUNTED:
            self.counts[name] += record["counts"][name]


def _together(so_far: tuple[int, int], found: tuple[int, int], before: int) -> tuple[int, int]:
    """How often something was found, and the line of the first, 0 where there is none; ``found`` counts from behind ``before`` lines."""
    count, line = found
    return so_far[0] + count, so_far[1] or (line and before + line)
