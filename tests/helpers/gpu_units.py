"""The kernels of a plan for a GPU, which need none to be compiled; run as a program, it finds them and says what it has
imported.
"""

import sys

from csaw.engine import prepare
from csaw.engine.cuda.compile import Unit, builder_of, compile_all, kernels_of
from csaw.engine.cuda.device import Device
from csaw.engine.schedule.specialization import Specialization

ARCHITECTURE = "sm_90"


def units(graph: str, algo: str) -> tuple[Unit, Unit]:
    """The kernels that draw, and those that build the layout."""
    job = prepare(graph, algo, device=Device(0, "none", ARCHITECTURE, 132, 1 << 40))
    backend = Specialization(job.plan, job.store, job.algorithm)
    return kernels_of(backend), builder_of(backend)


if __name__ == "__main__":
    compile_all(units(*sys.argv[1:]), ARCHITECTURE)
    print(sorted({"numba", "cuda", "scipy", "zarr"} & sys.modules.keys()))
