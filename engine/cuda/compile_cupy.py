"""The time that CuPy's own kernels take to compile: each when it is first used, which is in the middle of sampling."""

from collections.abc import Callable
from functools import wraps
from typing import TypeVar

import cupy
from cupy.cuda import nvrtc

from csaw.partition.base.kernel_time import compiles

NAME = "kernels of CuPy"


def time_compiler() -> None:
    """Count the time of NVRTC, CUDA's run-time compiler, as CuPy calls it in this process, as that of compiling.

    CuPy has no listeners as Numba has, but it calls this one function of its public binding for every kernel that it
    has not compiled before. The compiler's library is loaded here, too, before sampling is timed.
    """
    if not hasattr(nvrtc.compileProgram, "__wrapped__"):
        nvrtc.getVersion()
        nvrtc.compileProgram = timed(nvrtc.compileProgram, lambda: cupy.cuda.Device().synchronize())


T = TypeVar("T")


def timed(function: Callable[..., T], wait: Callable[[], None]) -> Callable[..., T]:
    """``function``, whose calls count as compiling.

    ``wait`` is called before: a device that still works then would do so in time that does not count.
    """

    @wraps(function)
    def call(*arguments: object) -> T:
        wait()
        with compiles(NAME):
            return function(*arguments)

    return call
