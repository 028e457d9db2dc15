"""How workers of a cluster get a measure: a built-in one directly, a custom one from the file of its class.

Pickle would look for that class in a module, which a file that the user names is not. So plain data travels, and each
worker reads the same file.
"""

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Self, TypeAlias

from csaw.engine.analytics.evaluation.options import FLAG, class_of
from csaw.engine.analytics.measure import Measure, Wanted
from csaw.engine.cluster.recipe import digest_of, refuse_other_file
from csaw.partition.base.plain_data import Values
from csaw.partition.errors import OptionError, StoreError


@dataclass(frozen=True)
class MeasureRecipe:
    """A measure of the user's own, as plain data.

    ``name``: FILE.py:CLASS, the path in full; ``digest``: the SHA-256 of the file; ``depends``: on what findings depend
    where the evaluation was started, beside the name of the measure, which may be that of a module.
    """

    name: str
    digest: str
    options: Values
    depends: list[object]

    @classmethod
    def of(cls, one: Measure) -> Self:
        """The recipe of a measure; OptionError where its class is in no file."""
        return cls(*_place_of(type(one)), one.parameters(), one.kept_by()[1:])

    def made(self) -> Measure:
        """The measure, of the file that is here.

        StoreError where that is another file, or its class another one, than where the evaluation was started.
        """
        refuse_other_file(Path(self.name.rpartition(":")[0]), self.digest, FLAG)
        one = class_of(self.name)(**self.options)
        if one.kept_by()[1:] != self.depends:  # by what its file imports, or what a program has set in the class
            raise StoreError(
                f"{self.name} differs here from the measure where the evaluation was started; install the same "
                "modules that its file imports, define all attributes in the class itself, and start again if "
                "the file has changed"
            )
        return one


Sent: TypeAlias = Measure | MeasureRecipe
"""A measure, as tasks have it."""


def sent(one: Measure) -> Sent:
    """The measure for a task; OptionError where its class is in no file."""
    return MeasureRecipe.of(one) if _is_own(type(one)) else one


def made(one: Sent) -> Measure:
    """The measure of a task; errors as for :meth:`MeasureRecipe.made`."""
    return one.made() if isinstance(one, MeasureRecipe) else one


def refuse_without_file(wanted: Wanted) -> None:
    """OptionError where a measure, as a caller has it, is a class of the user's own that is in no file."""
    kind = wanted if isinstance(wanted, type) else type(wanted)
    if issubclass(kind, Measure) and _is_own(kind):
        _place_of(kind)


def _is_own(kind: type[Measure]) -> bool:
    return not kind.__module__.startswith("csaw.")


def _place_of(kind: type[Measure]) -> tuple[str, str]:
    """The name FILE.py:CLASS of a class, the path in full, and the SHA-256 of the file.

    OptionError where it is in none that a worker could read: a program that runs would run again there.
    """
    if (known := vars(kind).get("csaw_file")) is not None:
        return known
    module, name = sys.modules.get(kind.__module__), kind.__name__
    file = Path(getattr(module, "__file__", None) or "").absolute()
    is_there = getattr(module, name, None) is kind and file.suffix == ".py" and file.is_file()
    if kind.__module__ == "__main__" or not is_there:
        raise OptionError(
            f"--cluster: workers read the class of a measure from a file, but {name} is in the running program or "
            f"in no file; write it to a separate file, and give measures='FILE.py:{name}'"
        )
    return f"{file}:{name}", digest_of(file, FLAG)
