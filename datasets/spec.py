"""Specifications of generated graphs, such as ``rmat:scale=20,edge_factor=16,seed=1`` and ``road:shape=1400x1400``.

A generator is a class of :data:`MODELS` and a function of generate.py or models.py. The fields of its class are the
parameters of its specification and options of ``csaw datasets generate``.
"""

import itertools
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, fields
from typing import Any, ClassVar, NamedTuple

from csaw.partition.base.quoting import shown
from csaw.partition.errors import OptionError

LARGEST_WEIGHT = 2**24 - 1  # float32 holds every integer up to here
MOST_VERTICES = 2**32
MOST_TIMES = 2**32  # in a range of times
LARGEST_MAG = 100  # times the size of ogbn-mag


class Integers(NamedTuple):
    """Weights or times that are integers from ``low`` to ``high``, each as likely as another."""

    low: int
    high: int

    def __str__(self) -> str:
        return f"{self.low}..{self.high}"


class Shape(tuple[int, ...]):
    """The sizes of a lattice, such as 1000x1000 or 100x100x100."""

    __slots__ = ()

    def __str__(self) -> str:
        return "x".join(map(str, self))


def _parameter(default: Any, help: str, switch: bool = False) -> Any:
    """A field of a specification. ``switch``: its values are 0 and 1, and its option is a flag."""
    return field(default=default, metadata={"help": help, "switch": switch})


@dataclass(frozen=True)
class Spec:
    """A generated graph: its first field is always part of the text, and others if they differ from their defaults."""

    kind: ClassVar[str]
    order: ClassVar[tuple[str, ...]] = ()  # of fields in the text; empty: those of the class, then those of its base

    def _check(self, name: str, fits: bool, expected: str) -> None:
        if not fits:
            raise OptionError(f"{self.kind}: {name}: expected {expected}, found {shown(str(getattr(self, name)))}")

    def _usual(self) -> dict[str, object]:
        return {f.name: f.default for f in fields(self)}

    @classmethod
    def names(cls) -> tuple[str, ...]:
        """The names of all parameters, in the order of the text."""
        base = {f.name for f in fields(Model)} if issubclass(cls, Model) else ()
        return cls.order or tuple(sorted((f.name for f in fields(cls)), key=lambda name: name in base))

    def __str__(self) -> str:
        """The shortest spec of this graph: equal graphs have equal specs."""
        first, *others = self.names()
        said = [first, *(name for name in others if getattr(self, name) != self._usual()[name])]
        return f"{self.kind}:" + ",".join(f"{name}={_text(getattr(self, name))}" for name in said)


@dataclass(frozen=True)
class Model(Spec):
    """A generated graph of one type: its edges are functions of the seed, in ``units`` that are made independently."""

    seed: int = _parameter(1, "Seed; the same seed gives the same graph on any machine.")
    undirected: int = _parameter(1, "Whether an edge goes in both directions or in one.", switch=True)
    # 1: multiples of 1/256 in (0, 1]; 5: of 1/64 in [1, 5), as NextDoor gives its graphs; or integers of a range
    weights: int | Integers = _parameter(
        0,
        "Draw weights, multiples of 1/256 in (0, 1]; in SPEC, weights=5 draws multiples of 1/64 in [1, 5), and "
        "weights=0..64 draws integers from 0 to 64.",
        switch=True,
    )
    times: Integers | None = _parameter(
        None, "Range of integers from which to draw the times of edges, such as 0..1000000."
    )

    def __post_init__(self) -> None:
        self._check("seed", 0 <= self.seed < 2**64, "0 to 2^64 - 1")
        if isinstance(self.weights, Integers):
            is_range = 0 <= self.weights.low <= self.weights.high <= LARGEST_WEIGHT and self.weights.high > 0
            self._check("weights", is_range, "a range of integers LOW..HIGH from 0 to 2^24 - 1, not 0 alone")
        else:
            self._check("weights", self.weights in (0, 1, 5), "0, 1, 5 or a range of integers such as 0..64")
        if self.times is not None:
            low, high = self.times
            is_range = 0 <= low <= high < 2**63 and high - low < MOST_TIMES
            self._check("times", is_range, "a range of at most 2^32 integers LOW..HIGH from 0 to 2^63 - 1")
        for one in fields(self):
            if one.metadata["switch"] and one.name != "weights":
                self._check(one.name, getattr(self, one.name) in (0, 1, None), "0 or 1")

    @property
    def draws(self) -> int:
        """The number of edges that are drawn, or its mean."""
        raise NotImplementedError

    @property
    def units(self) -> int:
        """The number of units that edges are made from."""
        return self.draws


@dataclass(frozen=True)
class Rmat(Model):
    """An R-MAT graph: edge_factor * 2^scale draws among 2^scale vertices.

    Vertices without an edge are left out, as in an edge list. With times, repeats of an edge are kept unless ``dedup``
    says otherwise: they are edges at other times.
    """

    kind = "rmat"
    order = (
        *("scale", "edge_factor", "seed", "a", "b", "c", "d", "undirected", "weights", "dedup", "self_loops"),
        *("scramble", "noise", "times"),
    )
    scale: int = _parameter(16, "draw ids from 2^scale vertices.")
    edge_factor: int = _parameter(16, "number of edges to draw for each vertex.")
    a: float = _parameter(0.57, "probability of the upper left quadrant.")
    b: float = _parameter(0.19, "probability of the upper right quadrant.")
    c: float = _parameter(0.19, "probability of the lower left quadrant.")
    d: float = _parameter(0.05, "probability of the lower right quadrant.")
    noise: float = _parameter(
        0.0,
        "largest relative change of each of the four probabilities at a level of an edge; GTgraph uses 0.05, with "
        "probabilities of 0.45, 0.15, 0.15 and 0.25.",
    )
    dedup: int | None = _parameter(
        None, "merge repeated edges [default: merged, unless they have times].", switch=True
    )  # None: unless edges have times
    self_loops: int = _parameter(0, "keep edges from a vertex to itself.", switch=True)
    scramble: int = _parameter(0, "give hubs random ids instead of low ids.", switch=True)

    def __post_init__(self) -> None:
        self._check("scale", 1 <= self.scale <= 31, "1 to 31")
        self._check("edge_factor", 1 <= self.edge_factor < 2**20, "1 to 2^20 - 1")
        for name in "abcd":
            self._check(name, 0 <= getattr(self, name) <= 1, "a chance from 0 to 1")
        if abs(self.a + self.b + self.c + self.d - 1) > 1e-9:
            raise OptionError(f"rmat: expected a + b + c + d = 1, found {self.a + self.b + self.c + self.d:.6g}")
        self._check("noise", 0 <= self.noise < 1, "a share from 0 to below 1")
        super().__post_init__()
        if self.dedup is None:
            object.__setattr__(self, "dedup", int(self.times is None))

    def _usual(self) -> dict[str, object]:
        return super()._usual() | {"dedup": int(self.times is None)}

    @property
    def draws(self) -> int:
        return self.edge_factor << self.scale


@dataclass(frozen=True)
class Grid(Model):
    """A lattice of two or three dimensions. Vertex (z, y, x) has the id (z h + y) w + x, as in C."""

    kind = "grid"
    shape: Shape = _parameter(Shape((256, 256)), "sizes of the lattice, such as 1000x1000; of grid also 100x100x100.")
    diagonals: int = _parameter(
        0, "0, none; 1, those that cut squares into triangles and cubes into tetrahedra; 2, all."
    )
    periodic: int = _parameter(0, "join opposite borders.", switch=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        self._check("diagonals", self.diagonals in (0, 1, 2), "0, 1 or 2")
        least = 3 if self.periodic else 1
        fits = len(self.shape) in (2, 3) and min(self.shape) >= least and 2 <= math.prod(self.shape) <= MOST_VERTICES
        self._check("shape", fits, f"two or three sizes of at least {least}, such as 256x256, of 2 to 2^32 vertices")

    @property
    def steps(self) -> list[tuple[int, ...]]:
        """The steps from a vertex to its neighbors, one of each two that are opposite to each other."""
        of_all = itertools.product((-1, 0, 1), repeat=len(self.shape))
        found = [one for one in of_all if one > (0,) * len(one)]
        allowed: Callable[[tuple[int, ...]], bool] = [
            lambda one: sum(map(abs, one)) == 1,
            lambda one: min(one) >= 0,
            lambda one: True,
        ][self.diagonals]
        return [one for one in found if allowed(one)]

    @property
    def draws(self) -> int:
        return sum(
            math.prod(n if self.periodic else n - abs(s) for n, s in zip(self.shape, step, strict=True))
            for step in self.steps
        )

    @property
    def units(self) -> int:
        return math.prod(self.shape)


@dataclass(frozen=True)
class Road(Model):
    """A planar, connected graph of long diameter, with the degrees of a road network.

    A crossing (y, x) of a lattice has the id y w + x. It has a road to its northern or its western neighbor, either as
    likely (a binary tree maze, in which all are connected), and one to the other of the two with chance degree / 2 - 1.
    Away from the borders the degree is 1 + X + Y + Z, where X is 1 with that chance e, and Y and Z each with the chance
    (1 + e) / 2. So degrees of 1, 2, 3 and 4 have the shares .13, .42, .38, .07 if their mean is 2.4, as in
    road_central, and .05, .29, .46, .20 if it is 2.8, as in roadNet-CA. The diameter is at least w + h - 2 and at
    most twice that. With sides of sqrt(V) it is about 2 sqrt(V), longer than that of most road networks: SNAP gives 849
    for roadNet-CA, whose stand-in has 2,802.
    """

    kind = "road"
    shape: Shape = _parameter(Shape((256, 256)), "sizes of the lattice, such as 1000x1000; of grid also 100x100x100.")
    degree: float = _parameter(2.8, "mean degree, without the effect of borders.")

    def __post_init__(self) -> None:
        super().__post_init__()
        fits = len(self.shape) == 2 and min(self.shape) >= 1 and 2 <= math.prod(self.shape) <= MOST_VERTICES
        self._check("shape", fits, "two sizes of at least 1, such as 256x256, of 2 to 2^32 vertices")
        self._check("degree", 2 <= self.degree <= 4, "2 (a tree) to 4 (a lattice)")

    @property
    def draws(self) -> int:
        height, width = self.shape
        return height * width - 1 + round((self.degree / 2 - 1) * (height - 1) * (width - 1))

    @property
    def units(self) -> int:
        return math.prod(self.shape)


@dataclass(frozen=True)
class Rgg(Model):
    """A random geometric graph: points of the unit square or cube, joined if they are nearer than ``radius``.

    By default the radius is 0.55 sqrt(ln V / V), as in the graphs rgg_n_2 of DIMACS10. ``degree`` chooses the radius
    that has this mean away from the borders. Points are numbered by the cells of a grid, row after row.
    """

    kind = "rgg"
    vertices: int = _parameter(1 << 16, "number of vertices.")
    radius: float | None = _parameter(
        None, "distance within which points are joined [default: 0.55 sqrt(ln V / V), as in rgg_n_2 of DIMACS10]."
    )
    degree: float | None = _parameter(None, "mean degree, without the effect of borders.")
    dimensions: int = _parameter(2, "2, points of a square; 3, of a cube.")

    def __post_init__(self) -> None:
        super().__post_init__()
        self._check("vertices", 2 <= self.vertices <= MOST_VERTICES, "2 to 2^32")
        self._check("dimensions", self.dimensions in (2, 3), "2 or 3")
        self._check("radius", self.radius is None or 0 < self.radius <= 2, "a number above 0, at most 2")
        self._check("degree", self.degree is None or 1e-6 <= self.degree < self.vertices, "1e-6 to vertices - 1")
        self._check("radius", None in (self.radius, self.degree), "a radius or a degree, and not both")

    @property
    def reach(self) -> float:
        """The radius, rounded where it is computed, so that it is the same on any machine."""
        if self.radius is not None:
            return self.radius
        if self.degree is not None:
            unit = math.pi if self.dimensions == 2 else 4 / 3 * math.pi  # volume of a ball of radius 1
            found = (self.degree / unit / (self.vertices - 1)) ** (1 / self.dimensions)
        else:
            found = 0.55 * math.sqrt(math.log(self.vertices) / self.vertices)
        return float(f"{found:.9g}")

    @property
    def level(self) -> int:
        """Cells are cubes of side 2^-level: none is narrower than the radius, and there are no more than vertices."""
        most = (self.vertices.bit_length() - 1) // self.dimensions
        fraction, exponent = math.frexp(self.reach)
        return max(0, min(most, (fraction == 0.5) - exponent))

    @property
    def draws(self) -> int:
        near = min(1.0, self.reach**2 * math.pi if self.dimensions == 2 else self.reach**3 * 4 / 3 * math.pi)
        return max(1, int(self.vertices * (self.vertices - 1) / 2 * near))

    @property
    def units(self) -> int:
        return 1 << self.level * self.dimensions


@dataclass(frozen=True)
class Ba(Model):
    """A graph of Barabasi and Albert (Science 286, 1999): each vertex comes with ``edge_factor`` edges to vertices that
    are there, each drawn by their degrees.

    It begins with vertices 0 and 1, joined by ``edge_factor`` edges. Draws may repeat, and repeats are merged.
    """

    kind = "ba"
    vertices: int = _parameter(1 << 16, "number of vertices.")
    edge_factor: int = _parameter(8, "number of edges to draw for each vertex.")

    def __post_init__(self) -> None:
        super().__post_init__()
        self._check("vertices", 2 <= self.vertices <= MOST_VERTICES, "2 to 2^32")
        self._check("edge_factor", 1 <= self.edge_factor < 2**8, "1 to 255")

    @property
    def draws(self) -> int:
        return (self.vertices - 1) * self.edge_factor


@dataclass(frozen=True)
class Sbm(Model):
    """A stochastic block model (Holland et al., Social Networks 5, 1983): vertices of ``blocks`` of equal size.

    Each two vertices of a block are joined with the chance that gives a vertex ``inside`` neighbors there, and others
    with the chance that gives it ``outside`` neighbors. Vertex v is in block floor(v blocks / vertices), which is its
    cluster in a graph store. With one block it is the random graph G(n, p).
    """

    kind = "sbm"
    vertices: int = _parameter(1 << 16, "number of vertices.")
    blocks: int = _parameter(16, "number of blocks, which become the clusters of the store.")
    inside: float = _parameter(12.0, "mean number of neighbors in a vertex's block.")
    outside: float = _parameter(4.0, "mean number of neighbors in other blocks.")

    def __post_init__(self) -> None:
        super().__post_init__()
        self._check("vertices", 2 <= self.vertices <= MOST_VERTICES, "2 to 2^32")
        self._check("blocks", 1 <= self.blocks <= min(self.vertices, 2**31 - 1), "1 to the number of vertices")
        each = self.vertices / self.blocks
        self._check("inside", 0 <= self.inside <= each - 1, f"0 to {each - 1:g}, the others of a block")
        self._check("outside", 0 <= self.outside <= self.vertices - each, f"0 to {self.vertices - each:g}, the others")

    @property
    def chances(self) -> tuple[float, float]:
        """The chance of an edge between two vertices of a block, and between others."""
        each = self.vertices / self.blocks
        return (
            self.inside / (each - 1) if self.inside else 0.0,
            self.outside / (self.vertices - each) if self.outside else 0.0,
        )

    @property
    def draws(self) -> int:
        return max(1, int(self.vertices * (self.inside + self.outside) / 2))

    @property
    def units(self) -> int:
        return self.vertices


@dataclass(frozen=True)
class Mag(Spec):
    """A graph of several types of the shape of ogbn-mag, ``scale`` times as large; see mag.py."""

    kind = "mag"
    scale: float = 1.0
    seed: int = 1
    reverse: int = 1  # whether there is a relation rev_NAME for each, with the same edges turned round

    def __post_init__(self) -> None:
        self._check("scale", 0 < self.scale <= LARGEST_MAG, f"a number above 0, at most {LARGEST_MAG}")
        self._check("seed", 0 <= self.seed < 2**64, "0 to 2^64 - 1")
        self._check("reverse", self.reverse in (0, 1), "0 or 1")


MODELS: dict[str, type[Model]] = {one.kind: one for one in (Rmat, Ba, Grid, Rgg, Road, Sbm)}
EXAMPLES = {  # of each generator, for lists of them
    "karate": "karate",
    "rmat": "rmat:scale=S,edge_factor=F,seed=N",
    "ba": "ba:vertices=N,edge_factor=F",
    "grid": "grid:shape=HxW",
    "rgg": "rgg:vertices=N",
    "road": "road:shape=HxW",
    "sbm": "sbm:vertices=N,blocks=B",
    "mag": "mag:scale=S,seed=N",
}
KNOWN = ", ".join(list(EXAMPLES.values())[:-1]) + f" or {EXAMPLES['mag']}"


def is_made(name: str) -> bool:
    """Whether a name is of a graph that csaw makes itself."""
    kind, colon, _ = name.partition(":")
    return name == "karate" or (bool(colon) and kind in EXAMPLES and kind != "karate")


def is_mag(spec: str) -> bool:
    """Whether a specification is of a :class:`Mag`."""
    return spec.partition(":")[0] == "mag"


def parse_spec(spec: str) -> Model:
    """Parse a specification such as ``rmat:scale=20,seed=1``. Raises OptionError."""
    model = MODELS.get(spec.partition(":")[0])
    if model is None:
        raise OptionError(f"{shown(spec) or 'SPEC is empty'}: expected {KNOWN}")
    return model(**_values(spec, model))


def parse_rmat(spec: str) -> Rmat:
    """Parse a specification of an R-MAT graph. Raises OptionError."""
    found = parse_spec(spec)
    if not isinstance(found, Rmat):
        raise OptionError(f"{shown(spec)}: expected {EXAMPLES['rmat']}")
    return found


def parse_mag(spec: str) -> Mag:
    """Parse a specification such as ``mag:scale=0.01,seed=1``. Raises OptionError."""
    return Mag(**_values(spec, Mag))


def canonical(spec: str) -> str:
    """The shortest specification of the same graph. Raises OptionError."""
    return spec if spec == "karate" else str(parse_mag(spec) if is_mag(spec) else parse_spec(spec))


class Parameter(NamedTuple):
    """A parameter as an option: its reader, the kinds of graphs that have it (empty: all), and its help."""

    name: str
    read: Callable[[str], object]
    switch: bool
    kinds: list[str]
    help: str


def parameters() -> Iterator[Parameter]:
    """Yield the parameters of all models, each once: those of some kinds first."""
    every = [f.name for f in fields(Model)]
    own = {f.name: f for model in MODELS.values() for f in fields(model) if f.name not in every}
    for one in [*own.values(), *fields(Model)]:
        having = [kind for kind, model in MODELS.items() if one.name in {f.name for f in fields(model)}]
        kinds = [] if one.name in every else having
        yield Parameter(one.name, _reader(one.type), one.metadata["switch"], kinds, one.metadata["help"])


def _reader(kind: object) -> Callable[[str], object]:
    """The function that reads a value of a field of this type."""
    readers: list[tuple[object, Callable[[str], object]]] = [
        (float, float),
        (float | None, float),
        (int | Integers, _weights),
        (Integers | None, _range),
        (Shape, _shape),
    ]
    return next((read for one, read in readers if one == kind), int)


def _values(spec: str, model: type[Spec]) -> dict[str, Any]:
    """The values of the parameters in a specification."""
    kinds = {f.name: f.type for f in fields(model)}
    known = {name: _reader(kinds[name]) for name in model.names()}
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
            expected = {"times": "a range of integers such as 0..1000000", "shape": "sizes such as 256x256"}
            said = expected.get(name, "a number")
            raise OptionError(f"{shown(spec)}: {name}: expected {said}, found {shown(repr(text))}") from error
    return values


def _weights(text: str) -> int | Integers:
    """The value of ``weights``: a number, or a range LOW..HIGH."""
    return _range(text) if ".." in text else int(text)


def _range(text: str) -> Integers:
    """A range LOW..HIGH; ValueError for anything else."""
    low, _, high = text.partition("..")
    return Integers(int(low), int(high))


def _shape(text: str) -> Shape:
    return Shape(map(int, text.split("x")))


def _text(value: object) -> str:
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


def with_options(spec: str, options: dict[str, object]) -> str:
    """``spec`` with the ``options`` that are not None; they replace the values in it."""
    given = {name: f"{name}={int(v) if isinstance(v, bool) else v}" for name, v in options.items() if v is not None}
    head, _, listed = spec.partition(":")
    kept = [item for item in listed.split(",") if item and item.partition("=")[0] not in given]
    return f"{head}:{','.join([*kept, *given.values()])}" if given else spec
