"""Specifications of generated graphs, such as ``rmat:scale=20,edge_factor=16,seed=1`` and ``mag:scale=0.01``."""

from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import NamedTuple

from csaw.partition.base.quoting import shown
from csaw.partition.errors import OptionError

SWITCHES = ("undirected", "dedup", "self_loops", "scramble")
FLOATS = {"a", "b", "c", "d", "noise"}
LARGEST_WEIGHT = 2**24 - 1  # float32 holds every integer up to here


MOST_TIMES = 2**32  # in a range of times
LARGEST_MAG = 100  # times the size of ogbn-mag


class Integers(NamedTuple):
    """Weights or times that are integers from ``low`` to ``high``, each as likely as another."""

    low: int
    high: int

    def __str__(self) -> str:
        return f"{self.low}..{self.high}"


@dataclass(frozen=True)
class Rmat:
    """An R-MAT graph: edge_factor * 2^scale draws among 2^scale vertices.

    Vertices without an edge are left out, as in an edge list. With times, repeats of an edge are kept unless ``dedup``
    says otherwise: they are edges at other times.
    """

    scale: int = 16
    edge_factor: int = 16
    seed: int = 1
    a: float = 0.57
    b: float = 0.19
    c: float = 0.19
    d: float = 0.05
    undirected: int = 1
    # 1: multiples of 1/256 in (0, 1]; 5: of 1/64 in [1, 5), as NextDoor gives its graphs; or integers of a range
    weights: int | Integers = 0
    dedup: int | None = None  # whether repeats of an edge are merged; None: unless edges have times
    self_loops: int = 0  # kept
    scramble: int = 0  # hubs get ids from all over the range instead of small ones
    noise: float = 0.0  # most that a level of an edge changes each chance by, as a share of it; GTgraph has 0.05
    times: Integers | None = None  # of edges

    def __post_init__(self) -> None:
        self._check("scale", 1 <= self.scale <= 31, "1 to 31")
        self._check("edge_factor", 1 <= self.edge_factor < 2**20, "1 to 2^20 - 1")
        self._check("seed", 0 <= self.seed < 2**64, "0 to 2^64 - 1")
        for name in "abcd":
            self._check(name, 0 <= getattr(self, name) <= 1, "a chance from 0 to 1")
        if abs(self.a + self.b + self.c + self.d - 1) > 1e-9:
            raise OptionError(f"rmat: expected a + b + c + d = 1, found {self.a + self.b + self.c + self.d:.6g}")
        if isinstance(self.weights, Integers):
            is_range = 0 <= self.weights.low <= self.weights.high <= LARGEST_WEIGHT and self.weights.high > 0
            self._check("weights", is_range, "a range of integers LOW..HIGH from 0 to 2^24 - 1, not 0 alone")
        else:
            self._check("weights", self.weights in (0, 1, 5), "0, 1, 5 or a range of integers such as 0..64")
        self._check("noise", 0 <= self.noise < 1, "a share from 0 to below 1")
        if self.times is not None:
            low, high = self.times
            is_range = 0 <= low <= high < 2**63 and high - low < MOST_TIMES
            self._check("times", is_range, "a range of at most 2^32 integers LOW..HIGH from 0 to 2^63 - 1")
        if self.dedup is None:
            object.__setattr__(self, "dedup", int(self.times is None))
        for name in SWITCHES:
            self._check(name, getattr(self, name) in (0, 1), "0 or 1")

    def _check(self, name: str, fits: bool, expected: str) -> None:
        if not fits:
            raise OptionError(f"rmat: {name}: expected {expected}, found {shown(str(getattr(self, name)))}")

    @property
    def draws(self) -> int:
        return self.edge_factor << self.scale

    def __str__(self) -> str:
        """The shortest spec of this graph: equal graphs have equal specs."""
        usual = {f.name: f.default for f in fields(self)} | {"dedup": int(self.times is None)}
        named = [f"{name}={getattr(self, name)}" for name, value in usual.items() if getattr(self, name) != value]
        return f"rmat:scale={self.scale}" + "".join(f",{item}" for item in named if not item.startswith("scale="))


@dataclass(frozen=True)
class Mag:
    """A graph of several types of the shape of ogbn-mag, ``scale`` times as large; see mag.py."""

    scale: float = 1.0
    seed: int = 1
    reverse: int = 1  # whether there is a relation rev_NAME for each, with the same edges turned round

    def __post_init__(self) -> None:
        self._check("scale", 0 < self.scale <= LARGEST_MAG, f"a number above 0, at most {LARGEST_MAG}")
        self._check("seed", 0 <= self.seed < 2**64, "0 to 2^64 - 1")
        self._check("reverse", self.reverse in (0, 1), "0 or 1")

    def _check(self, name: str, fits: bool, expected: str) -> None:
        if not fits:
            raise OptionError(f"mag: {name}: expected {expected}, found {shown(str(getattr(self, name)))}")

    def __str__(self) -> str:
        """The shortest spec of this graph: equal graphs have equal specs."""
        named = [f"{f.name}={getattr(self, f.name)}" for f in fields(self) if getattr(self, f.name) != f.default]
        scale = str(int(self.scale)) if self.scale == int(self.scale) else repr(self.scale)
        return f"mag:scale={scale}" + "".join(f",{item}" for item in named if not item.startswith("scale="))


def is_mag(spec: str) -> bool:
    """Whether a specification is of a :class:`Mag`."""
    return spec.partition(":")[0] == "mag"


def parse_spec(spec: str) -> Rmat:
    """Parse a specification such as ``rmat:scale=20,seed=1``. Raises OptionError."""
    if spec.partition(":")[0] != "rmat":
        said = "expected karate, rmat:scale=S,edge_factor=F,seed=N or mag:scale=S,seed=N"
        raise OptionError(f"{shown(spec) or 'SPEC is empty'}: {said}")
    known: dict[str, Callable[[str], object]] = {f.name: float if f.name in FLOATS else int for f in fields(Rmat)}
    made: Callable[..., Rmat] = Rmat
    return made(**_values(spec, known | {"weights": _weights, "times": _range}))


def parse_mag(spec: str) -> Mag:
    """Parse a specification such as ``mag:scale=0.01,seed=1``. Raises OptionError."""
    made: Callable[..., Mag] = Mag
    return made(**_values(spec, {"scale": float, "seed": int, "reverse": int}))


def canonical(spec: str) -> str:
    """The shortest specification of the same graph. Raises OptionError."""
    return spec if spec == "karate" else str(parse_mag(spec) if is_mag(spec) else parse_spec(spec))


def _values(spec: str, known: dict[str, Callable[[str], object]]) -> dict[str, object]:
    """The values of the parameters in a specification, each read by the function that is ``known`` for it."""
    values: dict[str, object] = {}
    for item in filter(None, spec.partition(":")[2].split(",")):
        name, _, text = item.partition("=")
        if name not in known:
            raise OptionError(f"{shown(spec)}: no parameter {shown(repr(name))}; there are {', '.join(known)}")
        if name in values:
            raise OptionError(f"{shown(spec)}: {name} is given twice; expected it once")
        try:
            values[name] = known[name](text)
        except ValueError as error:
            expected = "a range of integers such as 0..1000000" if name == "times" else "a number"
            raise OptionError(f"{shown(spec)}: {name}: expected {expected}, found {shown(repr(text))}") from error
    return values


def _weights(text: str) -> int | Integers:
    """The value of ``weights``: a number, or a range LOW..HIGH."""
    return _range(text) if ".." in text else int(text)


def _range(text: str) -> Integers:
    """A range LOW..HIGH; ValueError for anything else."""
    low, _, high = text.partition("..")
    return Integers(int(low), int(high))


def with_options(spec: str, options: dict[str, object]) -> str:
    """``spec`` with the ``options`` that are not None; they replace the values in it."""
    given = {name: f"{name}={int(v) if isinstance(v, bool) else v}" for name, v in options.items() if v is not None}
    head, _, listed = spec.partition(":")
    kept = [item for item in listed.split(",") if item and item.partition("=")[0] not in given]
    return f"{head}:{','.join([*kept, *given.values()])}" if given else spec
