"""Options that are times, lengths of time or scales, in the units of a graph."""

from collections.abc import Mapping

from csaw.engine.api.option import NONE, InUnits, Option, flag_of
from csaw.partition.base.arguments import is_misread, unboxed
from csaw.partition.base.plain_data import OptionValue, Values
from csaw.partition.base.quoting import quoted
from csaw.partition.errors import OptionError


def _reading(options: Mapping[str, Option], given: Mapping[str, OptionValue], name: str) -> str:
    """Find what an option ``reads`` beside the others, as they are given or by default."""
    if (declared := options.get(name)) is None or declared.reads_beside is None:
        return declared.reads if declared else ""
    other, wanted = declared.reads_beside
    value = given[other] if other in given else getattr(options.get(other), "default", None)
    return declared.reads if value == wanted else ""


def in_units(options: Mapping[str, Option], given: Mapping[str, OptionValue], units: str | None) -> Values:
    """The options that are ``given``, with times and lengths of time in the ``units`` of a graph; None: it has none.

    OptionError for what is none in these units.
    """
    found = dict(given)
    for name, value in given.items():
        kind, flag = _reading(options, given, name), flag_of(name)
        none = value is None or (isinstance(value, str) and value == NONE)
        if isinstance(value, InUnits):
            if units is not None and value.units not in ("", units):
                raise OptionError(
                    f"{flag}: expected a time for this graph, whose times are in {units}, found {value} "
                    f"{value.units} of an algorithm that was built for another; build it anew"
                )
        elif kind and units is not None and not none:
            from csaw.partition.ingestion.time_value import length_of, scale_of, time_of

            if is_misread(value):
                raise OptionError(f"{flag}: expected a time or a length of time, found {quoted(value)}")
            value = unboxed(value)
            if kind == "scale":
                found[name] = scale_of(flag, value, units)
                continue
            read = time_of(flag, value, units) if kind == "time" else length_of(flag, value, units, least=0)
            found[name] = InUnits(read, units)
    return found
