"""The least memory that a run can do with."""

import re

import pytest

from csaw.engine import prepare
from csaw.partition.errors import BudgetError


def least(store, algo, option="memory", **given):
    """The smallest budget that is not refused."""
    with pytest.raises(BudgetError, match="this run needs at least") as error:
        prepare(store, algo, **{option: 1}, **given)
    return int(re.search("raise --[a-z-]+ to ([0-9,]+)", str(error.value))[1].replace(",", ""))
