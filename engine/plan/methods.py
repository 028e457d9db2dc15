"""The methods that draw a neighbor by its bias."""

from enum import StrEnum
from typing import Self


class Method(StrEnum):
    """A method of selection, the cheapest first: the name that ``--select`` takes, and what plans and kernels ask of it."""

    by_edge: bool
    """Whether a pick reads single edges, however long the row is."""
    exact_number: bool
    """Whether a pick takes the same number of reads each time."""

    UNIFORM = "uniform", True, True
    """Any neighbor: all biases are equal."""
    ALIAS = "alias", True, True
    """From an alias table made beforehand (Walker 1977; Vose 1991)."""
    REJECTION = "rejection", True, False
    """A neighbor is proposed by its weight, and accepted by its bias (KnightKing, SOSP 2019)."""
    ITS = "its", False, False
    """Inverse transform sampling in the running sums of a row (C-SAW, SC 2020, section IV)."""
    KEYS = "keys", False, False
    """The smallest of exponential keys (Efraimidis and Spirakis 2006), for selections without replacement."""

    def __new__(cls, name: str, by_edge: bool, exact_number: bool) -> Self:
        made = str.__new__(cls, name)
        made._value_ = name
        made.by_edge, made.exact_number = by_edge, exact_number
        return made

    @property
    def code(self) -> int:
        """SELECT in the kernels' text."""
        return list(Method).index(self)

    @property
    def by_sums(self) -> bool:
        """Whether a pick searches in running sums of biases, and may meet a neighbor that is selected already."""
        return self is Method.ITS


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
