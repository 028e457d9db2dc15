"""Powers, exponentials and logarithms: near the true ones, and the CUDA side's bit for bit; what cannot be the same
everywhere is refused.
"""

import ctypes
import hashlib
import math
import subprocess
from pathlib import Path

import numpy as np
import pytest
from helpers.graphs import SQUARE, store_of
from helpers.machine import need_program

import csaw.engine
from csaw.engine import prepare
from csaw.engine.draws.portable import exponential, logarithm, power
from csaw.engine.draws.random import neg_log
from csaw.partition.base.compile import njit
from csaw.partition.errors import OptionError

HEADER = Path(csaw.engine.__file__).parent / "cuda" / "kernels" / "random.cuh"
HOST = f"""
#include <cmath>
#define __device__
#define __forceinline__ inline
#define __longlong_as_double(bits) __builtin_bit_cast(double, bits)
#define __umul64hi(a, b) (unsigned long long)((unsigned __int128)(a) * (b) >> 64)
using std::frexp, std::ldexp, std::floor, std::fabs, std::sqrt;
#include "{HEADER}"
extern "C" void all(long n, const double* x, const double* y, double* l, double* e, double* p)
{{
    for (long i = 0; i < n; ++i) {{
        l[i] = csaw_logarithm(x[i]); e[i] = csaw_exponential(y[i]); p[i] = csaw_power(x[i], y[i]);
    }}
}}
extern "C" void clocks(long n, const u64* words, double* times) {{
    for (long i = 0; i < n; ++i) times[i] = neg_log(words[i]);
}}
"""


SPECIAL = [0.0, 1.0, -1.0, 0.5, -0.5, 2.0, -2.0, 3.0, 65.0, -65.0, 66.0, 0.3, 2.5, -2.5, 2.0**53, -(2.0**53)]
SPECIAL += [-(2.0**53) + 1, 1e300, -1e300, math.inf, -math.inf, math.nan]


def arguments():
    rng = np.random.default_rng(1)
    n = 20_000
    x = [
        rng.integers(0, 10**6, n).astype(float),
        np.exp(rng.uniform(-700, 700, n)),
        rng.random(n),
        [0, -1, np.inf, np.nan, 1, 5e-324, -2, 1, 1, 2, 0.5],
    ]
    y = [
        rng.choice([-3, -2, -1.5, -1, -0.5, 0.5, 0.75, 1, 1.5, 2, 3, 0.3], n),
        rng.uniform(-3, 3, n),
        rng.uniform(-800, 800, n),
        [0.3, 0.3, 0.3, 0.3, np.nan, -1.5, 3, 1e200, -1e200, 1e300, 1e19],
    ]
    bases, exponents = np.meshgrid(SPECIAL, SPECIAL)
    return np.concatenate([*x, bases.ravel()]), np.concatenate([*y, exponents.ravel()])


def words_and_numbers():
    """Random words with both ends of them; numbers with subnormals, the largest ones, those around 1 and sqrt(1/2)."""
    rng = np.random.default_rng(7)
    near = np.arange(10_000, dtype=np.uint64)
    alone = np.uint64(1) << np.arange(64, dtype=np.uint64)
    words = [near, ~near, near << np.uint64(12), alone, rng.integers(0, 2**64, 200_000, np.uint64)]
    ends = np.arange(1, 5000, dtype=np.uint64)
    one, largest, root = (np.uint64(bits) for bits in (0x3FF0000000000000, 0x7FF0000000000000, 0x3FE6A09E667F3BCD))
    numbers = [rng.integers(0, largest, 200_000, np.uint64), ends, largest - ends, one - ends, one + ends]
    return np.concatenate(words), np.concatenate([*numbers, root + ends - np.uint64(2500)]).view(np.float64)


@njit
def logarithms_of(words, numbers, times, logarithms):
    for i in range(words.size):
        times[i] = neg_log(words[i])
    for i in range(numbers.size):
        logarithms[i] = logarithm(numbers[i])


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


def test_powers_of_special_values_are_those_of_c():
    bases, exponents = (part.ravel() for part in np.meshgrid(SPECIAL, SPECIAL))
    with np.errstate(all="ignore"):
        wanted = np.power(bases, exponents)
    powers = computed(bases, exponents)[2]
    assert np.allclose(powers, wanted, rtol=1e-12, atol=0, equal_nan=True)


def test_logarithms_keep_their_bits():
    """Digests of what two separate implementations computed before they became one: samples of
    then are samples of now.
    """
    words, numbers = words_and_numbers()
    times, logarithms = np.empty(words.size), np.empty(numbers.size)
    logarithms_of(words, numbers, times, logarithms)
    assert np.isfinite(times).all()
    assert times.min() > 0
    assert np.allclose(times, -np.log((words >> np.uint64(12)) * 2.0**-52 + 2.0**-53), rtol=1e-15, atol=1e-18)
    assert hashlib.sha256(times.tobytes()).hexdigest()[:16] == "cb733adcca5eb480"
    assert hashlib.sha256(logarithms.tobytes()).hexdigest()[:16] == "68d41d284f422272"


def test_the_cuda_side_is_the_same_to_the_last_bit(tmp_path):
    (tmp_path / "host.cpp").write_text(HOST)
    build = [
        need_program("c++"),
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
    host = ctypes.CDLL(tmp_path / "host.so")
    host.all(ctypes.c_long(x.size), *pointers)
    for ours, theirs in zip(computed(x, y), out, strict=True):
        assert np.array_equal(ours, theirs, equal_nan=True)
    words, numbers = words_and_numbers()
    times, theirs = np.empty(words.size), np.empty(words.size)
    logarithms_of(words, numbers, times, np.empty(numbers.size))
    host.clocks(ctypes.c_long(words.size), *(a.ctypes.data_as(ctypes.c_void_p) for a in (words, theirs)))
    assert np.array_equal(times, theirs)


def test_what_differs_from_machine_to_machine_is_refused(tmp_path):
    store = store_of(tmp_path / "g.zarr", SQUARE, directed=False)
    with pytest.raises(OptionError, match=r"sin\(\) is rounded differently"):
        prepare(store, "deepwalk", device="cpu", edge_bias="math.sin(e.dst) + 1")


def test_exponentials_are_finite_up_to_the_largest_number():
    assert exponential(709.5) == pytest.approx(math.exp(709.5), rel=1e-12)
    assert exponential(709.78) == pytest.approx(math.exp(709.78), rel=1e-12)
    assert exponential(709.79) == math.inf
    assert math.isnan(exponential(math.nan))
