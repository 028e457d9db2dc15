"""Times of the edges of a graph that a program holds, as the edge column ``time``."""

from collections.abc import Mapping

import numpy as np
from numpy.typing import ArrayLike

from csaw.partition.errors import OptionError
from csaw.partition.graph.edge_columns import TIME
from csaw.partition.graph.given_arrays import array_of
from csaw.partition.ingestion.object_columns import edge_columns_of
from csaw.partition.ingestion.objects import Foreign, library_of
from csaw.partition.ingestion.time_column import times_of_dates, units_of


def given_times(data: Foreign, time: ArrayLike | str | None) -> Mapping[str, ArrayLike]:
    """Find the times of the edges of an object, by the text of their column: empty where there are none.

    Args:
        data: the object.
        time: an array [edges] of integers, of floats without a fraction, or of dates; the name of a table's column or
            of an attribute of the edges; None, those of a TemporalData, otherwise none.

    Raises:
        OptionError: the object has no such column, a date is missing, or the times are no numbers.
    """
    is_temporal = library_of(type(data)) == "torch_geometric" and type(data).__name__ == "TemporalData"
    if time is None and not is_temporal:
        return {}
    name = "t" if time is None else time
    found = next(iter(edge_columns_of(data, [f"time={name}"]).values())) if isinstance(name, str) else name
    values = array_of("time", found)
    if values.dtype.kind == "O" and all(hasattr(one, "isoformat") for one in values.ravel().tolist()):
        values = values.astype("datetime64[us]")
    if values.dtype.kind != "M":
        return {f"{TIME.name}:int64": found}
    if np.isnat(values).any():
        raise OptionError(f"time: expected a date for each edge, found {int(np.isnat(values).sum()):,} without")
    seconds, decimals = times_of_dates(values)
    return {f"{TIME.name}:int64:{units_of(decimals, iso=True)}": seconds}
