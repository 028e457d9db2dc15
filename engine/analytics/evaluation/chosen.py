"""The measures of an evaluation: those of the folder measures by their names, and classes of the user's own."""

import inspect
from collections.abc import Mapping, Sequence
from pathlib import Path

from csaw.engine.analytics.evaluation.options import options
from csaw.engine.analytics.measure import Measure, Wanted, find, names, owners
from csaw.engine.api.hook_place import placed
from csaw.engine.api.registry import code_of, module_of
from csaw.partition.base.quoting import meant, quoted
from csaw.partition.errors import OptionError, UnknownNameError

FLAG = "--measures"


def chosen(wanted: Sequence[Wanted] | None, values: Mapping[str, object]) -> list[Measure]:
    """Make the measures that are ``wanted``, or those taken by default, with their options out of ``values``.

    Raises OptionError for an option that none of them has, and for two of one name.
    """
    given = [kind_of(one) for one in wanted] if wanted else [kind for kind in map(find, names()) if kind.by_default]
    kinds = [one for one in given if isinstance(one, type)]
    known = {name for kind in kinds for name in kind.options()}
    if other := sorted(values.keys() - known):
        raise OptionError(
            f"--{other[0].replace('_', '-')}: no chosen measure has this option; it is of "
            f"{', '.join(owners(other[0])) or 'none'}"
        )
    made = [
        one if isinstance(one, Measure) else one(**{name: values[name] for name in one.options() if name in values})
        for one in given
    ]
    _refuse_same_names(made)
    return made


def name_of(wanted: Wanted) -> str:
    """The name that findings of a measure stand under, as a caller has the measure: of FILE.py:CLASS, the class."""
    if not isinstance(wanted, str):
        return wanted.name()
    return wanted.rpartition(":")[2] if ".py" in wanted else wanted


def kind_of(wanted: Wanted) -> type[Measure] | Measure:
    """Return the class, or the instance, of a measure.

    UnknownNameError where there is none; OptionError where the user's own file fails.
    """
    if isinstance(wanted, Measure):
        _checked(type(wanted))
        return wanted
    if isinstance(wanted, type) and issubclass(wanted, Measure):
        return _checked(wanted)
    if not isinstance(wanted, str):
        raise OptionError(f"{FLAG}: expected names, FILE.py:CLASS or classes of measures, found {quoted(wanted)}")
    return class_of(wanted) if ".py" in wanted else find(wanted)


def class_of(wanted: str) -> type[Measure]:
    """Return the class that FILE.py:CLASS names, which says so in ``csaw_file``; errors as of :func:`kind_of`."""
    text, digest = code_of(wanted, FLAG)
    file, _, name = wanted.partition(":")
    module = module_of(file, text, FLAG)
    kinds = {key: one for key, one in vars(module).items() if inspect.isclass(one) and issubclass(one, Measure)}
    if name not in kinds:
        own = [key for key, one in kinds.items() if one.__module__ == module.__name__]
        there = f"; there are {', '.join(own)}" if own else ""
        raise UnknownNameError(
            f"{FLAG}: {file} has no class called {quoted(name)} that derives from csaw.engine.measure.Measure"
            f"{there}{meant(name, own)}"
        )
    found = _checked(kinds[name])
    if found.__module__ == module.__name__:
        found.csaw_file = (f"{Path(file).absolute()}:{name}", digest)
    return found


def _checked(kind: type[Measure]) -> type[Measure]:
    """The class, unless an option of it is called as one of csaw's, or its own ``__init__`` could leave out checks."""
    if not kind.__init__.__module__.startswith("csaw.engine."):
        raise placed(
            OptionError(
                f"{kind.name()}.__init__: a measure is made by its options, and needs none; declare options by option, "
                "and compute what a vertex begins with in start"
            ),
            kind.__init__,
        )
    if taken := sorted(kind.options().keys() & options().keys()):
        raise OptionError(f"{kind.name()}.{taken[0]}: every evaluation has an option of this name; choose another one")
    for name, one in kind.options().items():
        if any(inspect.isroutine(vars(base).get(name)) for base in kind.__mro__):
            raise OptionError(f"{kind.name()}.{name}: every measure has a method of this name; choose another one")
        for owner in owners(name):
            if find(owner).options()[name].kind is not one.kind:
                raise OptionError(
                    f"{kind.name()}.{name}: csaw's {owner} has an option of this name and another type; choose another "
                    "one"
                )
    return kind


def _refuse_same_names(measures: list[Measure]) -> None:
    """OptionError about two measures that write findings under one name, unless they are the same."""
    seen: dict[str, Measure] = {}
    for one in measures:
        other = seen.setdefault(one.name(), one)
        if type(other) is not type(one) or other.parameters() != one.parameters():
            raise OptionError(
                f"{FLAG}: two measures are called {one.name()}, as their findings would be; rename a class, or "
                "evaluate one after the other"
            )
