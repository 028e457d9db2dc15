"""Conditions that rows of tables must fulfill to be read: ``year >= 2023``, ``kind in ['a']``."""

import re
from collections.abc import Sequence
from decimal import Decimal
from typing import NamedTuple, Self

from csaw.partition.base.quoting import quoted
from csaw.partition.errors import OptionError
from csaw.partition.ingestion.columns import place_of, wish_of

WHERE = "--where"
EXPECTED = (
    'COLUMN OPERATOR VALUE with ==, !=, <, <=, >, >= or in, such as "year >= 2023", "kind == \'follow\'" or '
    '"year in [2023, 2024]", texts and dates in quotes; pass one --where for each condition'
)
TEXT = r"'(?:[^'\ud800-\udfff]|'')*'|\"(?:[^\"\ud800-\udfff]|\"\")*\""  # what UTF-8 can hold
NUMBER = r"[-+]?(?:[0-9]{1,40}(?:\.[0-9]{0,40})?|\.[0-9]{1,40})(?:[eE][-+]?[0-9]{1,3})?"
VALUE = f"{TEXT}|{NUMBER}|true|false"
CONDITION = re.compile(
    rf"\s*({TEXT}|[^\s=!<>'\"\[\]]+)\s*(?:(==|!=|<=|>=|<|>)\s*({VALUE})"
    rf"|(?<=[\s'\"])in\s*\[\s*((?:{VALUE})(?:\s*,\s*(?:{VALUE}))*)\s*\])\s*"
)
MOST_VALUES = 1000  # of a list

Value = int | Decimal | str | bool


class Condition(NamedTuple):
    """A comparison of ``column`` with ``values``, more than one only for ``in``; ``text``, as the user wrote it."""

    text: str
    column: str
    operator: str
    values: tuple[Value, ...]

    @classmethod
    def parsed(cls, text: str) -> Self:
        """OptionError for a text that is no condition, or of a column that no table has."""
        if (found := CONDITION.fullmatch(text)) is None:
            raise OptionError(f"{WHERE}: expected {EXPECTED}; found {quoted(text)}")
        name, operator, one, several = found.groups()
        values = tuple(_value(word) for word in ([one] if operator else re.findall(VALUE, several)))
        if len(values) > MOST_VALUES:
            raise OptionError(f"{WHERE}: expected at most {MOST_VALUES} values in a list, found {len(values):,}")
        column = wish_of(WHERE, name if name[0] not in "'\"" else str(_value(name)))
        return cls(text.strip(), str(column), operator or "in", values)

    def place(self, where: str, names: Sequence[str]) -> int:
        """The position of its column; OptionError where there is none."""
        return place_of(where, names, len(names), self.column, WHERE)


def conditions_of(given: object) -> tuple[Condition, ...]:
    """The conditions of a text, or of several. OptionError for anything else."""
    several = (given,) if isinstance(given, str) else () if given is None else given
    if not isinstance(several, list | tuple) or not all(isinstance(text, str) for text in several):
        raise OptionError(f"{WHERE}: expected a text or a list of texts, each {EXPECTED}; found {quoted(given)}")
    return tuple(map(Condition.parsed, several))


def _value(word: str) -> Value:
    """The value that a word of a condition stands for."""
    if word[0] in "'\"":
        return word[1:-1].replace(word[0] * 2, word[0])
    if word in ("true", "false"):
        return word == "true"
    return int(word) if re.fullmatch("[-+]?[0-9]+", word) else Decimal(word)
