"""Powers, exponentials and logarithms: near the true ones, and the CUDA side's bit for bit; what cannot be the same everywhere is refused."""

import ctypes
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest
from helpers.graphs import SQUARE, store_of

import csaw.engine
from csaw.engine.portable import exponential, logarithm, power
from csaw.engine.run import prepare
from csaw.partition.compile import njit
from csaw.partition.errors import OptionError

HEADER = Path(csaw.engine.__file__).parent / "cuda" / "portable.cuh"
HOST = f"""
#include <cmath>
#define __device__
using std::frexp, std::ldexp, std::floor, std::fabs, std::sqrt;
#include "{HEADER}"
extern "C" void all(long n, const double* x, const double* y, double* l, double* e, double* p)
{{
    for (long i = 0; i < n; ++i) {{ l[i] = csaw_logarithm(x[i]); e[i] = csaw_exponential(y[i]); p[i] = csaw_power(x[i], y[i]); }}
}}
"""


def arguments():
    rng = np.random.default_rng(1)
    n = 20_000
    x = [
        rng.integers(0, 10**6, n).astype(float),
        np.exp(rng.uniform(-700, 700, n)),
        rng.random(n),
        [0, -1, np.inf, np.nan, 1, 5e-324, -2],
    ]
    y = [rng.choice([-3, -2, -1.5, -1, -0.5, 0.5, 0.75, 1, 1.5, 2, 3, 0.3], n), rng.uniform(-3, 3, n), rng.uniform(-800, 800, n),
         [0.3, 0.3, 0.3, 0.3, np.nan, -1.5, 3]]  # fmt: skip
    return np.concatenate(x), np.concatenate(y)


@njit
def all_of(x, y, logarithms, exponentials, powers):
    for i in range(x.size):
        logarithms[i], exponentials[i], powers[i] = logarithm(x[i]), exponential(y[i]), power(x[i], y[i])


def computed(x, y):
    out = [np.empty_like(x) for _ in range(3)]
    all_of(x, y, *out)
    return out


def test_they_are_near_the_true_ones():
    x, y = arguments()
    with np.errstate(all="ignore"):
        wanted = np.log(x), np.exp(y), np.power(x, y)
    for found, true, error in zip(computed(x, y), wanted, (1e-15, 1e-15, 1e-12), strict=True):
        plain = ~np.isnan(y) & np.isfinite(true) & (np.abs(true) > 1e-300) & (np.abs(true) < 1e300)
        assert np.allclose(found[plain], true[plain], rtol=error, atol=0)
        assert plain.sum() > 0.8 * x.size
    logarithms, _, powers = computed(
        np.array([0.0, -1.0, np.inf, 0.0, 0.0, -2.0]), np.array([0.5, 0.5, 2.0, -0.5, 0.0, 3.0])
    )
    assert logarithms[0] == -np.inf
    assert np.isnan(logarithms[1])
    assert logarithms[2] == np.inf
    assert powers.tolist()[2:] == [np.inf, np.inf, 1.0, -8.0]
    assert np.isnan(powers[1])


@pytest.mark.skipif(shutil.which("c++") is None, reason="no C++ compiler")
def test_the_cuda_side_is_the_same_to_the_last_bit(tmp_path):
    (tmp_path / "host.cpp").write_text(HOST)
    build = [
        "c++",
        "-std=c++17",
        "-O2",
        "-ffp-contract=off",
        "-shared",
        "-fPIC",
        "-o",
        tmp_path / "host.so",
        tmp_path / "host.cpp",
    ]
    subprocess.run(build, check=True)
    x, y = arguments()
    out = [np.empty_like(x) for _ in range(3)]
    pointers = [array.ctypes.data_as(ctypes.POINTER(ctypes.c_double)) for array in (x, y, *out)]
    ctypes.CDLL(tmp_path / "host.so").all(ctypes.c_long(x.size), *pointers)
    for ours, theirs in zip(computed(x, y), out, strict=True):
        assert np.array_equal(ours, theirs, equal_nan=True)


def test_what_differs_from_machine_to_machine_is_refused(tmp_path):
    store = store_of(tmp_path / "g.zarr", SQUARE, directed=False)
    with pytest.raises(OptionError, match=r"sin\(\) is rounded differently"):
        prepare(store, "deepwalk", device="cpu", edge_bias="math.sin(e.dst) + 1")
