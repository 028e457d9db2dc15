"""Types of values by name, as JSON objects and the options of a run have them."""

from pathlib import PurePath
from typing import Any, TypeAlias

Record: TypeAlias = dict[str, Any]
"""An object of JSON: of a manifest, a report, a summary."""
OptionValue: TypeAlias = Any
"""A value of an option, of the type that the option declares."""
Values: TypeAlias = dict[str, Any]
"""Values of options, by the names of the options."""


def json_value(value: object) -> bool | int | float | str:
    """The value that JSON has for a scalar of NumPy and for a path, as ``default`` of ``json.dumps``.

    TypeError for anything else.
    """
    if isinstance(value, PurePath):
        return str(value)
    if (item := getattr(value, "item", None)) is not None and getattr(value, "ndim", None) == 0:
        return item()
    raise TypeError(f"expected a number, a text, a list or a mapping for JSON, found {type(value).__name__}")
