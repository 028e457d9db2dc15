"""The places of a metapath, and how their vertices are numbered: see staged.py."""

from dataclasses import dataclass
from typing import Self

import numpy as np


@dataclass(frozen=True)
class Stages:
    """The numbers of the vertices of stages: those of stage i are bases[i] and up, for the vertices firsts[i] and up of
    the graph. ``cyclic``: whether the last stage leads back to the first.
    """

    bases: tuple[int, ...]
    firsts: tuple[int, ...]
    cyclic: bool
    id_dtype: np.dtype
    """Of the vertices of the graph."""

    @classmethod
    def of(cls, spans: list[tuple[int, int]], cyclic: bool, id_dtype: np.dtype) -> Self:
        """The stages whose vertices are these ranges of the graph's."""
        bases = np.cumsum([0, *(last - first for first, last in spans)]).tolist()
        return cls(tuple(bases), tuple(first for first, _ in spans), cyclic, id_dtype)

    def away(self, depth: int) -> int:
        """The number to add to a vertex that a walk meets after ``depth`` steps, for its number in the graph."""
        stage = depth % len(self.firsts) if self.cyclic else min(depth, len(self.firsts) - 1)
        return self.firsts[stage] - self.bases[stage]

    @property
    def first(self) -> int:
        """The first vertex of the graph in the first stage, whose vertices are numbered from 0 there."""
        return self.firsts[0]
