"""The backends that draw a job, one for each of its devices."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING

from csaw.engine.plan.choices import Residency
from csaw.engine.runs.job import Job
from csaw.engine.schedule.backend import Backend
from csaw.partition.errors import DeviceError

if TYPE_CHECKING:
    from csaw.engine.cuda.device import Device
    from csaw.engine.cuda.graphs.node import Node


@contextmanager
def backends_of(job: Job, units: int) -> Iterator[tuple[list[Callable[[], Backend]], tuple[type[Exception], ...]]]:
    """Yield a function that opens the backend of each device that gets any of the ``units``.

    Yields also the types of errors that one device may have alone.
    """
    if not job.devices:
        yield [partial(open_backend, job)], ()
        return
    from csaw.engine.cuda.backend import CudaBackend
    from csaw.engine.cuda.graphs.node import Node

    devices = job.devices if job.plan.residency is Residency.POOLED else job.devices[: max(1, units)]
    node = Node(len(devices))
    try:
        yield (
            [partial(open_backend, job, device, node) for device in devices],
            (DeviceError, MemoryError, *CudaBackend.failures),
        )
    finally:
        node.close()


def open_backend(job: Job, device: "Device | None" = None, node: "Node | None" = None) -> Backend:
    """Open the backend of one of the plan's devices and load the graph as far as the plan says.

    ``device`` None: the first GPU, or the CPU. ``node`` holds what the backends of several devices share.
    """
    if not job.devices:
        from csaw.engine.cpu.backend import CpuBackend

        return CpuBackend(job.plan, job.store, job.algorithm)
    from csaw.engine.cuda.backend import CudaBackend
    from csaw.engine.cuda.graphs.node import Node

    node = node or Node(1)
    try:
        return CudaBackend(job.plan, job.store, job.algorithm, device or job.devices[0], node, job.devices)
    except BaseException:
        node.abort()
        raise
