"""Options: a default, a help text, a type and a range.

Declared once, an option is there on the command line, as a keyword in Python, and in the manifest.
"""

import math
from collections.abc import Callable, Iterable, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from decimal import Decimal
from numbers import Real
from typing import Self, TypeVar, cast

from csaw.partition.base.arguments import BYTES, flag, maybe, real, text, texts, unboxed
from csaw.partition.base.plain_data import OptionValue, Values
from csaw.partition.base.quoting import quoted, real_of, whole_of
from csaw.partition.errors import OptionError

T = TypeVar("T")
LARGEST = 2**63 - 1  # value of an option that is an integer
NONE = "none"  # the word for None
OF_NAMES = ";"  # between the numbers of relations, or of types


class Bytes(int):
    """The type of an option that is a number of bytes: an integer, or text such as ``4GiB``."""


class InUnits(int):
    """A time, or a length of time, in ``units`` of a graph already; empty: those of the graph of the request."""

    units: str

    def __new__(cls, value: int, units: str = "") -> Self:
        made = super().__new__(cls, value)
        made.units = units
        return made


class Fanout(tuple[int, ...]):
    """The type of an option that is how many neighbors a vertex selects at each hop: integers, or, as a
    :class:`ByRelation`, for each relation of a graph.
    """


class ByRelation(dict[str, tuple[int, ...]]):
    """How many neighbors a vertex selects of each relation at each hop."""

    @property
    def widths(self) -> tuple[int, ...]:
        """The most neighbors of a vertex at each hop, by the full names of relations, which begin with the type that
        they leave; -1: all of a relation.
        """
        types = [name.partition("-")[0] for name in self]
        found = list[int]()
        for hop in zip(*self.values(), strict=True):
            of_type = dict.fromkeys(types, 0)
            for one, size in zip(types, hop, strict=True):
                of_type[one] += size
            found.append(-1 if min(hop) < 0 else max(of_type.values()))
        return tuple(found)

    @property
    def largest(self) -> int:
        """The most neighbors that a vertex selects of one relation."""
        return max((size for sizes in self.values() for size in sizes), default=0)


class PerType(tuple[int, ...]):
    """The type of an option that is how many vertices a layer draws: integers, one for each layer, or, as a
    :class:`ByType`, for each type of vertices of a graph.
    """


class ByType(dict[str, tuple[int, ...]]):
    """How many vertices of each type are drawn at each layer."""

    @property
    def sums(self) -> tuple[int, ...]:
        """The vertices of all types together at each layer."""
        return tuple(map(sum, zip(*self.values(), strict=True)))


class Bias(str):
    """The type of an option that is a bias: an expression over ``e``, or a function of ``e`` that returns one."""


KINDS = {
    float: "a number",
    int: "an integer",
    bool: "true or false",
    str: "a word",
    tuple: "integers such as 25,10",
    Fanout: "integers such as 25,10, or for each relation, such as writes=25,10",
    PerType: "integers such as 512,512, or for each type, such as paper=512,512",
    Bytes: "a size such as 4GiB",
    Bias: "an expression such as 'e.weight * 2', or a function such as lambda e: e.weight * 2",
    object: "anything",
}


def flag_of(name: str) -> str:
    """The option of a parameter's name, such as ``--walk-length``."""
    return "--" + name.strip("_").replace("_", "-")


def _single(value: OptionValue) -> OptionValue:
    """A number or a text.

    TypeError for anything else, such as bytes, arrays and complex numbers, of which Python or NumPy would make another
    number.
    """
    value = unboxed(value)
    if not isinstance(value, str | Real | Decimal):
        raise TypeError
    return value


def _number(value: object) -> float:
    single = _single(value)
    return real_of(single) if isinstance(single, str) else float(single)


def _whole(value: OptionValue) -> int:
    """An integer from text, or from a number that is one."""
    value = _single(value)
    number = whole_of(value) if isinstance(value, str) else int(value)
    if not isinstance(value, str) and number != value:
        raise ValueError
    return number


def _integer(value: OptionValue) -> int:
    """Return what ``_whole`` does; TypeError for a truth, which Python would take for 0 or 1."""
    single = _single(value)
    if isinstance(single, bool):
        raise TypeError
    return _whole(single)


def _whole_numbers(value: OptionValue) -> tuple[int, ...]:
    if isinstance(value, Real) or getattr(value, "ndim", None) == 0:
        return (_integer(value),)  # one number stands for a list of it
    packed = isinstance(value, BYTES | Mapping | AbstractSet) or hasattr(value, "mask")
    if packed or not hasattr(value, "__len__"):
        raise TypeError
    return tuple(_whole(one) for one in (value.split(",") if isinstance(value, str) else value))


def _fanout(value: OptionValue) -> tuple[int, ...] | ByRelation:
    found = _by_name(value, "relation", "hops")
    return found if isinstance(found, tuple) else ByRelation(found)


def _per_type(value: OptionValue) -> tuple[int, ...] | ByType:
    found = _by_name(value, "type", "layers")
    return found if isinstance(found, tuple) else ByType(found)


def _by_name(value: OptionValue, kind: str, columns: str) -> tuple[int, ...] | dict[str, tuple[int, ...]]:
    """Integers, or integers for each name, as a mapping or as text. ``kind``: what is named; ``columns``: what has a
    number each.
    """
    if isinstance(value, str) and "=" in value:
        parts = [part.partition("=") for part in value.split(OF_NAMES)]
        names = [name.strip() for name, *_ in parts]
        if twice := sorted({name for name in names if names.count(name) > 1}):
            raise OptionError(f"the {kind} {quoted(twice[0])} is there twice; give all its {columns} at once")
        value = dict(zip(names, (numbers for *_, numbers in parts), strict=True))
    if not isinstance(value, Mapping):
        return _whole_numbers(value)
    if not value:
        raise TypeError
    found = {_name(name): _whole_numbers(sizes) for name, sizes in value.items()}
    if len(counts := {len(sizes) for sizes in found.values()}) > 1:
        said = " and ".join(map(str, sorted(counts)))
        raise OptionError(f"expected as many {columns} for each {kind}, found {said}")
    return found


def _name(name: object) -> str:
    """The name of a type or a relation, or of a relation its type, name and type in one."""
    named = "-".join(map(_word, name)) if isinstance(name, tuple) else _word(name)
    if not named:
        raise TypeError
    return named


def _truth(value: object) -> bool:
    known = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}
    return known[value.lower()] if isinstance(value, str) and value.lower() in known else bool(_whole(value))


def _size(value: object) -> int:
    from csaw.partition.base.quoting import parse_size

    return parse_size(value) if isinstance(value, str) else _whole(value)


def _word(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError
    return value


def _bias(value: object) -> str:
    from csaw.engine.api.written import expression_of

    return expression_of(value)


TYPED: dict[type, Callable[..., object]] = {
    float: _number,
    int: _integer,
    tuple: _whole_numbers,
    Fanout: _fanout,
    PerType: _per_type,
    bool: _truth,
    Bytes: _size,
    str: _word,
    Bias: _bias,
    object: lambda value: value,
}


LIMITS = {
    **dict.fromkeys(("help", "reason", "none", "reads"), text),
    **dict.fromkeys(("low", "high"), maybe(real)),
    **dict.fromkeys(("open_low", "open_high"), flag),
    "choices": texts,
}
"""Readers of what a declaration says beside its default."""


@dataclass(frozen=True)
class Option:
    """A parameter of an algorithm (``self.NAME`` in its hooks) or of a run."""

    default: object
    help: str
    # float, int, bool, str (with choices), tuple (integers, comma-separated), Bytes, Bias, or object, which is checked
    # elsewhere
    kind: type = float
    low: float | None = None
    high: float | None = None
    open_low: bool = False  # whether ``low`` itself is refused
    open_high: bool = False
    choices: tuple[str, ...] = ()
    reason: str = ""  # reason for the limits, for the error
    none: str = (
        ""  # what the value None means, which is ``none`` on the command line; where it is empty, None is refused
    )
    group: str = "Algorithm"  # the heading of the option in the help
    alias: str = ""  # an earlier name, which still works
    # Of an integer: "time", or "length" of time, which a graph's input has in another form. Of a float: "scale", a
    # number of the graph's units, or a length such as 12h, where another option has a value
    reads: str = ""
    reads_beside: tuple[str, object] | None = None  # the name and the value of that option
    is_later: bool = (
        False  # samples were stored before there was this option: requests leave out its default, as theirs do
    )

    def check(self, name: str, value: OptionValue) -> OptionValue:
        """``value`` in the type of the option, which is called ``name``.

        OptionError when it has another type or is outside the range.
        """
        flag = flag_of(name)
        if self.none and (value is None or (isinstance(value, str) and value == NONE)):
            return None
        try:
            value = TYPED[self.kind](value)
        except OptionError as error:
            raise OptionError(f"{flag}: {error}") from error
        except (TypeError, ValueError, OverflowError) as error:
            other = f", or {NONE} for {self.none}" if self.none else ""
            if self.kind is tuple and name == "fanout" and (isinstance(value, Mapping) or "=" in str(value)):
                other += " (only labor, minibatch and neighbor have fanouts by relation)"
            raise OptionError(f"{flag}: expected {KINDS[self.kind]}{other}, found {quoted(value)}") from error
        if self.choices:
            if value not in self.choices:
                raise OptionError(f"{flag}: expected one of {', '.join(self.choices)}, found {quoted(value)}")
            return self.choices[self.choices.index(value)]  # which may be of an enum
        for one in _numbers_of(value) if self.kind in (tuple, Fanout, PerType, int, float, Bytes) else ():
            self._in_range(flag, one)
        return value

    def _in_range(self, flag: str, value: float) -> None:
        low, high = self.low, self.high
        if self.kind is not float:
            low, high = -LARGEST if low is None else low, LARGEST if high is None else high
        inside = isinstance(value, int) or math.isfinite(value)
        if low is not None:
            inside = inside and (value > low if self.open_low else value >= low)
        if high is not None:
            inside = inside and (value < high if self.open_high else value <= high)
        if not inside:
            reason = f"; {self.reason}" if self.reason else ""
            kind = "a finite number" + ", " * bool(self.interval) if self.kind is float else ""
            raise OptionError(f"{flag}: expected {kind}{_interval(self, low, high)}, found {quoted(value)}{reason}")

    @property
    def interval(self) -> str:
        """The range of a number, such as ``0 to less than 1``; empty where there is none."""
        return "" if self.low is None and self.high is None else _interval(self, self.low, self.high)


def _numbers_of(value: OptionValue) -> Iterable[float]:
    """The numbers of an option's value."""
    if isinstance(value, ByRelation | ByType):
        return (size for sizes in value.values() for size in sizes)
    return value if isinstance(value, tuple) else (value,)


def _interval(one: Option, low: float | None, high: float | None) -> str:
    above = None if low is None else f"more than {_plain(low)}" if one.open_low else f"at least {_plain(low)}"
    below = None if high is None else f"less than {_plain(high)}" if one.open_high else f"at most {_plain(high)}"
    if low is not None and high is not None and not one.open_low:
        return f"{_plain(low)} to {'less than ' * one.open_high}{_plain(high)}"
    return ", ".join(filter(None, (above, below)))


def _plain(number: float) -> str:
    powers = {2**63 - 1: "2^63 - 1", 2**64 - 1: "2^64 - 1"}
    return powers.get(number, str(number)) if isinstance(number, int) else f"{number:g}"


def option(default: T, *, help: str, **limits: OptionValue) -> T:
    """Declare a parameter of an algorithm, as a class attribute.

        strength: float = option(1.0, help="how much the walk prefers hubs", low=0)

    In hooks, ``self.strength`` is its value.

    Args:
        default: the default value; its type (float, int, bool, str, or tuple for integers separated by commas) is the
            type of the option, unless ``kind`` is given.
        help: what the option changes, for ``csaw sample --help``.
        **limits: ``low`` and ``high``, the range of a number, both ends included, which ``open_low=True`` and
            ``open_high=True`` exclude; ``choices``, the allowed values of a str; ``reason``, why there are limits, for
            the error; ``none``, the meaning of None, if it is allowed; ``reads``, for an integer ``time``, or
            ``length`` of time, if it is given in the notation of the graph's input, such as a date or ``7d``; for a
            float ``scale``, and ``reads_beside`` names an option and its value; ``is_later``, whether unfinished
            samples may be older than the option, so that requests leave out its default.

    Returns:
        The declaration, which stands for the value.

    Raises:
        OptionError: the default has another type, or a limit is not valid.
    """
    for name, value in {"help": help, **limits}.items():
        if name in LIMITS:
            LIMITS[name](name, value)
    kind = limits.pop("kind", type(default))
    if kind not in KINDS:
        raise OptionError(f"option({quoted(default)}): expected a default that is {', '.join(KINDS.values())}")
    return cast("T", Option(default, help, kind, **limits))  # hooks read the value, not its declaration


def options_of(cls: type) -> dict[str, Option]:
    """The options that a class declares, those of its base classes first.

    One that a class overrides by something else is none of them.
    """
    return {
        name: value
        for base in reversed(cls.__mro__)
        for name, value in vars(base).items()
        if isinstance(value, Option) and isinstance(getattr(cls, name), Option)
    }


def checked(cls: type, given: Mapping[str, OptionValue]) -> Values:
    """The values of all options of a class, those that are ``given`` and the defaults of others.

    OptionError names an option whose value, or whose default, it does not take.
    """
    found = {}
    for name, declared in options_of(cls).items():
        try:
            found[name] = declared.check(name, given.get(name, declared.default))
        except OptionError as error:
            if name in given:
                raise
            said = str(error).removeprefix(f"{flag_of(name)}: ")
            raise OptionError(f"{cls.__name__}.{name}: its default: {said}") from error
    return found
