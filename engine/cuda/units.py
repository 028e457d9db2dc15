"""What is compiled for a plan: files, constants, hooks. Needs no GPU, so that all of it can be compiled and tested without one."""

from dataclasses import dataclass
from pathlib import Path

from csaw.engine.algorithm import Walk
from csaw.engine.backend import WEIGHT, Backend
from csaw.engine.cuda.compile import cubin
from csaw.engine.hooks import Hook
from csaw.engine.tables import in_tables

LAYOUTS = {"csr": 0, "entries": 1, "table": 2, "alias": 3, "ctps": 4}
METHODS = {"uniform": 0, "alias": 1, "rejection": 2, "its": 3, "keys": 4}
COLLISIONS = {"bipartite": 0, "repeated": 1, "updated": 2}
DETECTORS = {"strided": 0, "contiguous": 1, "linear": 2, "none": 0}


@dataclass(frozen=True)
class Unit:
    """Some .cu files specialised for one algorithm."""

    files: tuple[str, ...]
    constants: dict[str, int]
    hooks: list[Hook]
    params: tuple[float, ...]

    def compile(self, architecture: str) -> Path:
        """The cubin for an architecture such as ``sm_90``."""
        return cubin(self.files, self.constants, self.hooks, self.params, architecture)


def kernels_of(backend: Backend) -> Unit:
    """What samples."""
    return Unit(_files(backend), _constants(backend), backend.hooks(), backend.params)


def builder_of(backend: Backend) -> Unit:
    """What builds the graph's layout: alias tables are of biases, or of weights where biases are for rejection."""
    rejection = backend.select == "rejection"
    constants = _constants(backend) | {"NEIGHBOR_WEIGHTS": backend.reads_weights}
    return Unit(("build.cu",), constants, [WEIGHT if rejection else backend.bias], backend.params)


def sparse_pools(backend: Backend) -> bool:
    """Whether pools are kept as what is not in them: SPARSE in select.cu."""
    c = backend.constants()
    return bool(
        c.get("POOLED") and c["UNIFORM"] and c["SELECT"] == "uniform" and not (c["INDUCED"] or c["EACH_EDGE_ONCE"])
    )


def _files(backend: Backend) -> tuple[str, ...]:
    if isinstance(backend.algorithm, Walk):
        return ("walk.cu",)
    if backend.algorithm.clocks:
        return ("clocks.cu",)
    return ("hops.cu",) if in_tables(backend.plan, backend.algorithm) else ("select.cu",)


def _constants(backend: Backend) -> dict[str, int]:
    own = {
        "PIECES": backend.plan.residency != "resident",
        "STREAMED": backend.streamed,
        "MEMBERSHIP": backend.second_order,
        "MEMBER_WEIGHTS": backend.weighs_members,
        "LAYOUT": LAYOUTS[backend.plan.graph_layout],
        "WIDE": backend.store.id_dtype.itemsize == 8,
    }
    constants = backend.constants() | own
    constants |= {"SELECT": METHODS[constants["SELECT"]], "COLLISION": COLLISIONS[constants["COLLISION"]]}
    constants["DETECT"] = DETECTORS[constants.get("DETECT", "none")]
    return {name: int(value) for name, value in constants.items()}
