"""The methods that draw a neighbor by its bias."""

from enum import StrEnum
from typing import Self


class Method(StrEnum):
    """A method of selection, the cheapest first: the name that ``--select`` takes, and what plans and kernels ask of it."""

    code: int
    """SELECT in the kernels' text."""
    by_edge: bool
    """Whether a pick reads single edges, however long the row is."""
    exact_number: bool
    """Whether a pick takes the same number of reads each time."""

    UNIFORM = "uniform", 0, True, True
    """Any neighbor: all biases are equal."""
    ALIAS = "alias", 1, True, True
    """From an alias table made beforehand (Walker 1977; Vose 1991)."""
    REJECTION = "rejection", 2, True, False
    """A neighbor is proposed by its weight, and accepted by its bias (KnightKing, SOSP 2019)."""
    ITS = "its", 3, False, False
    """Inverse transform sampling in the running sums of a row (C-SAW, SC 2020, section IV)."""
    KEYS = "keys", 4, False, False
    """The smallest of exponential keys (Efraimidis and Spirakis 2006), for selections without replacement."""

    def __new__(cls, name: str, code: int, by_edge: bool, exact_number: bool) -> Self:
        made = str.__new__(cls, name)
        made._value_ = name
        made.code, made.by_edge, made.exact_number = code, by_edge, exact_number
        return made


class Collision(StrEnum):
    """What inverse transform sampling does about a neighbor that is selected already (C-SAW, SC 2020, section IV-B)."""

    BIPARTITE = "bipartite"
    """Search again in what the selected one leaves of the space, with the same random number."""
    REPEATED = "repeated"
    """Draw again."""
    UPDATED = "updated"
    """Take what is selected out of the sums beforehand, so that nothing collides."""

    @property
    def code(self) -> int:
        """COLLISION in the kernels' text."""
        return list(Collision).index(self)
