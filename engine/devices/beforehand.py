"""Whether a command with ``--device auto`` is going to open a GPU, told before it imports what it needs to plan.

A run begins on the CPU at once if a plan expects it to end there before a GPU could begin (engine/devices/choice.py).
If no plan can expect that, the context of the GPU is made while the command imports NumPy.
"""

import json
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path

from csaw.engine.api import registry
from csaw.engine.api.algorithm import Algorithm, Walk
from csaw.engine.api.option import NONE
from csaw.engine.devices.kept_rates import kept
from csaw.engine.plan.rates import GPU_SECONDS
from csaw.partition.arrays.files import GRAPH, read_regular
from csaw.partition.base.parallel import processors
from csaw.partition.base.plain_data import Values

LARGEST = 1 << 20  # bytes of zarr.json; more is not read twice
ID_BYTES, OFFSET_BYTES = 4, 8  # the least of an edge and of a vertex that any run reads


def opens_a_gpu(graph: str, algo: str, given: Values) -> bool:
    """Whether a run takes longer on the CPU than a GPU takes to begin, for sure, by the rates of this machine.

    ``graph``: as the user named it, ``given``: the options. False in doubt, as for anything but a graph store; what is
    wrong with one is said when it is opened.
    """
    if not find_spec("cupy"):
        return False
    with suppress(Exception):
        said = json.loads(read_regular(Path(graph) / "zarr.json", most=LARGEST))["attributes"]
        if said["csaw_kind"] == GRAPH:
            return _least_seconds(said["vertices"], said["edges"], algo, given) > GPU_SECONDS
    return False


def _least_seconds(vertices: int, edges: int, algo: str, given: Values) -> float:
    """Seconds to read the graph and to draw, at least: engine/plan/costs.py expects no less of any plan on the CPU."""
    rates = kept()
    reading = (ID_BYTES * edges + OFFSET_BYTES * vertices) / rates.disk_bytes
    return reading + _least_steps(vertices, algo, given) / (rates.gathers * processors())


def _least_steps(vertices: int, algo: str, given: Values) -> int:
    """Steps of all walks that a plan counts; 0 for what draws no walks, and where the options say too little."""
    kind = registry.find(algo)
    if not issubclass(kind, Walk) or given.get("target") is not None or given.get("metapath") is not None:
        return 0
    length, walks = _number("walk_length", kind, given), _number("num_walks", kind, given)
    if given.get("instances") is not None:
        return length * int(str(given["instances"]))
    takes_all = given.get("sources") in (None, "all") and kind.sources_from == "all"
    return length * walks * vertices * takes_all


def _number(name: str, kind: type[Algorithm], given: Values) -> int:
    """The value of an option; 0 for none."""
    value = given.get(name, kind.options()[name].default)
    return 0 if value in (None, NONE) else int(str(value))
