"""Methods that draw a neighbor by its bias, and ways to treat collisions."""

from enum import StrEnum
from typing import Self


class Method(StrEnum):
    """A method of selection, the cheapest first, under the name that ``--select`` takes.

    It has the properties that plans and kernels read.
    """

    by_edge: bool
    """Whether a pick reads single edges, however long the row is."""
    exact_number: bool
    """Whether a pick takes the same number of reads each time."""

    UNIFORM = "uniform", True, True
    """Draw any neighbor: all biases are equal."""
    ALIAS = "alias", True, True
    """Draw from an alias table made beforehand (Walker 1977; Vose 1991)."""
    REJECTION = "rejection", True, False
    """Propose a neighbor by its weight, accept it by its bias (KnightKing, SOSP 2019)."""
    ITS = "its", False, False
    """Search the running sums of a row: inverse transform sampling (C-SAW, SC 2020, section IV)."""
    KEYS = "keys", False, False
    """Take the smallest exponential keys (Efraimidis and Spirakis 2006), for selection without replacement."""

    TIME = "time", True, False
    """Search the order of a row by time for the edges that may follow, and draw one by its place or its time."""

    def __new__(cls, name: str, by_edge: bool, exact_number: bool) -> Self:
        made = str.__new__(cls, name)
        made._value_ = name
        made.by_edge, made.exact_number = by_edge, exact_number
        return made

    @property
    def code(self) -> int:
        """Its number in the kernels, the constant SELECT."""
        return list(Method).index(self)

    @property
    def by_sums(self) -> bool:
        """Whether a pick searches in running sums of biases, and may meet a neighbor that is selected already."""
        return self is Method.ITS


class Collision(StrEnum):
    """The step to take when inverse transform sampling draws a neighbor that is already selected.

    See C-SAW, SC 2020, section IV-B.
    """

    BIPARTITE = "bipartite"
    """Remove the selected neighbor's region from the space and search again with the same random number."""
    REPEATED = "repeated"
    """Draw again with a new random number."""
    UPDATED = "updated"
    """Remove each selected neighbor from the sums, so that no later draw can hit it."""

    @property
    def code(self) -> int:
        """Its number in the kernels, the constant COLLISION."""
        return list(Collision).index(self)
