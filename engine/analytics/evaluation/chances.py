"""How likely samples visit each vertex of a graph, where a closed form is known; an estimate divides by it."""

import numpy as np

from csaw.engine.analytics.cpu.network import HostNetwork
from csaw.engine.api import registry
from csaw.engine.api.algorithm import Algorithm
from csaw.engine.samples import Samples
from csaw.partition.errors import OptionError

SAID = {"uniform": "all equally likely", "degree": "likely by degree", "strength": "likely by degree"}


def law_of(samples: Samples) -> str:
    """The word of the algorithm's class for how likely it visits a vertex; empty where it has none.

    A subclass may have another law than its base.
    """
    name = samples.manifest["request"]["algorithm"]
    return str(vars(registry.find(name)).get("visits", "")) if name in registry.names() else ""


def chances(samples: Samples, host: HostNetwork) -> np.ndarray:
    """float64 [V]: numbers in proportion to the chance of a visit to each vertex.

    OptionError where no closed form is known.
    """
    request, law = samples.manifest["request"], law_of(samples)
    if reason := _obstacle(request, law, host):
        known = ", ".join(name for name in registry.names() if _has_law(registry.find(name)))
        raise OptionError(
            f"--estimate: {samples.path}: how likely {request['algorithm']} visits a vertex {reason}; "
            f"estimate from samples of {known}"
        )
    if law == "uniform":
        return np.ones(host.vertices)
    return _strengths(host) if law == "strength" and request["weighted"] else host.degrees.astype(np.float64)


def _has_law(algorithm: type[Algorithm]) -> bool:
    return bool(vars(algorithm).get("visits"))


def _obstacle(request: dict[str, object], law: str, host: HostNetwork) -> str:
    """The reason why nothing is known of the chances; empty if they are known."""
    if not law:
        return "has no closed form"
    if request.get("edge_bias") is not None:
        return "has no closed form with --edge-bias"
    if host.directed and request["algorithm"] != "random-node":
        return "has no closed form on a directed graph"
    if law == "degree" and request["weighted"] and request["algorithm"] != "random-edge":
        return "has no closed form with weights (sample with --unweighted)"
    return ""


def _strengths(host: HostNetwork) -> np.ndarray:
    """Sum of the weights of each vertex's edges."""
    out = np.zeros(host.vertices)
    for block in host.blocks(weights=True):
        sums = np.concatenate([[0.0], np.cumsum(block.weights, dtype=np.float64)])
        out[block.first : block.last] = np.diff(sums[block.indptr - block.indptr[0]])
    host.forget_blocks()
    return out
