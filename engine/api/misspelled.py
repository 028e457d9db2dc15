"""Names of a user's own class that are nearly those of hooks and rules."""

from collections.abc import Iterable
from difflib import get_close_matches

from csaw.engine.api.algorithm import Algorithm
from csaw.partition.errors import OptionError

ALIKE = 0.8  # how alike two names are where one of them is misspelled


def refuse_misspelled(algorithm: Algorithm, names: Iterable[str]) -> None:
    """OptionError about an attribute that nothing in its file reads and that is called nearly as one of ``names``."""
    known, kind = {name for name in names if not name.startswith("_")}, type(algorithm)
    own = (name for one in kind.__mro__ if one.__module__ == kind.__module__ for name in vars(one))
    for name in (one for one in own if not one.startswith("_") and one not in known | algorithm.options().keys()):
        alike = get_close_matches(name, known, 1, ALIKE)
        if alike and f".{name}" not in algorithm.file_text:
            raise OptionError(
                f"{algorithm.name()}.{name}: nothing reads it; did you mean {alike[0]}? If not, choose another name"
            )
