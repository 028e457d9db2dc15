"""Options of an algorithm with the values that a run gives them."""

from csaw.cli.reports.graphs import dated
from csaw.cli.reports.sections import Facts, Section, plain
from csaw.engine.api.option import flag_of

TIMES = ("start_time", "last_time")  # options of csaw's algorithms that are times


def options_of(algorithm: object, parameters: Facts, units: str | None = None) -> Section:
    """The options of an algorithm with their values, as a section; in time, where no weight counts, without a bias.

    Times of a graph, which have these ``units``, are shown as its input has them, too.
    """
    unweighed = {"bias": "none"} if parameters.get("time_strategy") and parameters.get("bias") == "weight" else {}
    times = {} if units is None else {name: dated(parameters[name], units) for name in TIMES if name in parameters}
    shown = {**parameters, **unweighed, **times}
    return f"Options of {algorithm}", [(flag_of(name), plain(value)) for name, value in shown.items()]
