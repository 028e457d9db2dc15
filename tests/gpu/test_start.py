"""How a command on a GPU starts: without SciPy, without Numba once its kernels are compiled, and with a context made
meanwhile.
"""

import pytest
from helpers.gpu import device_or_skip, python

device_or_skip()

CONTEXT = """
import ctypes, threading
from csaw.engine.devices.devices import begin_to_open

driver, flags, active = ctypes.CDLL("libcuda.so.1"), ctypes.c_uint(), ctypes.c_int()
begin_to_open("cuda:0")
for thread in set(threading.enumerate()) - {threading.main_thread()}:
    thread.join()
assert driver.cuDevicePrimaryCtxGetState(0, ctypes.byref(flags), ctypes.byref(active)) == 0
print(active.value, end=" ")
import cupy
cupy.cuda.runtime.free(0)
print(int(cupy.arange(5).sum()), driver.cuDevicePrimaryCtxGetState(0, ctypes.byref(flags), ctypes.byref(active)))
"""


SAMPLE = ["sample", "karate", "w.zarr", "--device", "cuda", "--overwrite", "--algo"]
EVALUATE = ["evaluate", "karate", "--device", "cuda", "--refresh", "--measures"]


@pytest.mark.parametrize(
    "line",
    [
        *([*SAMPLE, algo] for algo in ("deepwalk", "node2vec", "neighbor")),
        *([*EVALUATE, measure] for measure in ("components", "core", "triangles")),
    ],
    ids=lambda line: line[-1],
)
def test_a_command_whose_kernels_are_compiled_imports_no_numba(tmp_path, line):
    python(tmp_path, *line)  # compiles
    assert python(tmp_path, *line).endswith("imported:\n")


@pytest.mark.parametrize("algo", ["neighbor", "layer", "ladies", "ppr", "forest-fire", "minibatch", "labor"])
def test_no_sample_imports_scipy_for_operators_of_cupy(tmp_path, algo):
    assert "scipy.sparse" not in python(tmp_path, *SAMPLE, algo)


def test_what_is_put_off_is_there_when_it_is_used(tmp_path):
    code = """
from csaw.engine.cuda.device import open_device
open_device(0)
import cupy, cupyx, cupyx.scipy.special
print(float(cupyx.scipy.special.gamma(cupy.array(5.0))), cupyx.scatter_add.__name__, end=" ")
from cupyx.scipy.sparse import csr_matrix
print(csr_matrix(cupy.eye(2)).nnz)
"""
    assert python(tmp_path, code=code) == "24.0 scatter_add 2\n"


def test_the_context_that_is_made_beside_is_the_one_that_cupy_takes(tmp_path):
    assert python(tmp_path, code=CONTEXT) == "1 10 0\n"
