"""GPUs that NumPy plays, for what the host does with several of them: run in a process of its own, without CuPy.

Arrays are NumPy's; streams and events do nothing, since all is done at once; copies check the sizes of both sides.
"""

import ctypes
import sys
from types import SimpleNamespace
from unittest.mock import MagicMock

import numpy as np

MAKE = ("arange", "argsort", "asarray", "cumsum", "empty", "empty_like", "flatnonzero", "searchsorted", "zeros")


class Memory:
    """What CuPy calls the data of an array."""

    def __init__(self, array):
        self.array, self.ptr = array, array.__array_interface__["data"][0]

    def copy_from_device_async(self, there, size, stream):
        assert size == self.array.nbytes
        assert stream is Stream.current
        ctypes.memmove(self.ptr, there.ptr, size)


class Array(np.ndarray):
    data = property(Memory)

    def get(self, out, blocking):
        out[...] = self


class Device:
    current = 0

    def __init__(self, number=None):
        self.id = Device.current if number is None else number

    def use(self):
        Device.current = self.id


class Stream:
    current = None

    def use(self):
        Stream.current = self

    def record(self):
        assert self is Stream.current
        return self

    def wait_event(self, event):
        assert isinstance(event, Stream)

    def synchronize(self):
        pass


def arrays_of(make):
    """A function of NumPy that returns an array, as CuPy has it."""

    def made(*arguments):
        found = make(*arguments)
        return found.view(Array) if isinstance(found, np.ndarray) else found

    return made


def play(gpus):
    """Let the modules of GPUs import these in place of CuPy, and return networks of so many, without rows."""
    Stream.null = Stream()
    Stream.null.use()
    cupy = MagicMock(ndarray=Array, maximum=np.maximum, **{name: arrays_of(getattr(np, name)) for name in MAKE})
    cupy.cuda = MagicMock(Device=Device, Stream=Stream, get_current_stream=lambda: Stream.current)
    sys.modules["cupy"], sys.modules["cupy.cuda"] = cupy, cupy.cuda
    from csaw.engine.analytics.cuda import several_gpus

    several_gpus.pinned = np.zeros
    return [SimpleNamespace(gpu=SimpleNamespace(number=number), stream=Stream()) for number in range(gpus)]
