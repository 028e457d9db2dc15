"""The signatures and docstrings of functions that take declared options: ``help`` and completion show each by name."""

import inspect
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import TypedDict, Unpack

from csaw.engine.api import registry
from csaw.engine.api.option import Option
from csaw.engine.plan.options import described


class _OfAlgorithm:
    """The default of an option for which several algorithms have different defaults."""

    def __repr__(self) -> str:
        return "<of the algorithm>"


class Changes(TypedDict, total=False):
    """What a signature can have another one of."""

    parameters: Sequence[inspect.Parameter]
    return_annotation: object


class _Late(inspect.Signature):
    """A signature that is made when it is looked at: options of algorithms are in a module for each of them."""

    def __init__(self, make: Callable[[], list[inspect.Parameter]]) -> None:
        super().__init__()
        self._make = make

    @cached_property
    def parameters(self) -> Mapping[str, inspect.Parameter]:  # type: ignore[override]
        return inspect.Signature(self._make()).parameters

    def replace(self, **changed: Unpack[Changes]) -> inspect.Signature:  # type: ignore[override]
        return inspect.Signature(list(self.parameters.values())).replace(**changed)


def with_options(
    function: Callable[..., object], options: dict[str, Option], heading: str, *, of_algorithms: bool = False
) -> None:
    """Give a function that takes ``**options`` a signature with each of them, and a docstring that explains them.

    ``of_algorithms``: the options of the shipped algorithms are in the signature, too.
    """
    signature = inspect.signature(function)

    def parameters() -> list[inspect.Parameter]:
        *named, rest = signature.parameters.values()
        held = [one.replace(annotation=one.empty) for one in named]
        defaults = {name: one.default for name, one in options.items()} | (_of_algorithms() if of_algorithms else {})
        held += [
            inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default)
            for name, default in defaults.items()
            if name not in signature.parameters
        ]
        return [*held, rest.replace(annotation=rest.empty)]

    function.__signature__ = _Late(parameters)  # type: ignore[attr-defined]
    lines = [f"    {line}" for line in described(options).splitlines()]
    function.__doc__ = "\n".join([f"{function.__doc__}", f"    {heading}:", *lines, ""])


def _of_algorithms() -> dict[str, object]:
    """The options of all shipped algorithms, with their defaults if all agree."""
    found: dict[str, object] = {}
    for one in map(registry.find, registry.names()):
        for name, declared in one.options().items():
            same = found.get(name, declared.default) == declared.default
            found[name] = declared.default if same else _OfAlgorithm()
    return found
