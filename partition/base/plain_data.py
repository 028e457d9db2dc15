"""Types of values by name, as JSON objects and the options of a run have them."""

from typing import Any, TypeAlias

Record: TypeAlias = dict[str, Any]
"""An object of JSON: of a manifest, a report, a summary."""
OptionValue: TypeAlias = Any
"""A value of an option, of the type that the option declares."""
Values: TypeAlias = dict[str, Any]
"""Values of options, by the names of the options."""
