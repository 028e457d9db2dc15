"""The envelope over exponential biases: it lies over them and near them, numbers are drawn by it, and the CUDA side's
words, numbers and answers are the same.
"""

import ctypes
import subprocess
from pathlib import Path

import numpy as np
from helpers.machine import need_program
from helpers.stats import assert_drawn_from

import csaw.engine
from csaw.engine.cpu.kernels import by_time, envelopes
from csaw.engine.draws.portable import halved
from csaw.partition.base.compile import njit

KERNELS = Path(csaw.engine.__file__).parent / "cuda" / "kernels"
LAST = envelopes.LAST_HALVING
HOST = f"""
#include <algorithm>
#include <cmath>
#define __device__
#define __forceinline__ inline
#define __umul64hi(a, b) (unsigned long long)((unsigned __int128)(a) * (b) >> 64)
#define __longlong_as_double(bits) __builtin_bit_cast(double, bits)
#define __ffsll(bits) __builtin_ffsll(bits)
#define BY_TIME 1
#define BACKWARD 0
#define FAR 0
using std::frexp, std::ldexp, std::floor, std::fabs, std::sqrt, std::min;
#include "{KERNELS / "random.cuh"}"
struct Place {{ const i64* times; }};
struct TimeSpan {{ i64 low, high; }};
inline i64 time_of(const Place& here, i64 k) {{ return here.times[k]; }}
{(KERNELS / "envelopes.cuh").read_text().replace('#include "by_time.cuh"', "").replace("#pragma once", "")}
extern "C" u64 made(i64 size, const i64* times, double scale)
{{
    return envelope_of({{times}}, {{0, size}}, times[0], scale);
}}
extern "C" void drawn(
    u64 envelope, u64 size, double scale, i64 n, const u64* words, const i64* times, i64* numbers, i64* taken)
{{
    for (i64 i = 0; i < n; ++i) {{
        const Under under = number_under(envelope, size, words[2 * i]);
        numbers[i] = under.number;
        taken[i] = is_accepted(words[2 * i + 1], under.halvings, times[0], times[under.number], scale);
    }}
}}
"""


@njit
def made_here(times, scale):
    """The envelope as the kernels make it, of times in an array."""
    envelope, end, begin = np.uint64(1), np.uint64(1), 1
    while begin < times.size:
        halvings = envelopes.halvings_between(times[0], times[begin], scale)
        envelope |= np.uint64(1) << (np.uint64(min(halvings, float(LAST))) + end)
        end += np.uint64(1)
        begin *= 2
    return envelope


@njit
def drawn_here(envelope, scale, words, times, numbers, taken):
    for i in range(numbers.size):
        number, halvings = envelopes.number_under(envelope, times.size, words[2 * i])
        numbers[i] = number
        taken[i] = envelopes.is_accepted(words[2 * i + 1], halvings, times[0], times[number], scale)


@njit
def drawn_of_lanes(envelopes_of, sizes, words, numbers, halvings):
    """Numbers of a group of lanes, a draw each."""
    lanes = sizes.size
    state, room = np.full(by_time.FIELDS, -1, np.int64), np.zeros((2, envelopes.LEVELS * lanes), np.uint64)
    for j in range(lanes):
        state[by_time.L_ENVELOPE + j], state[by_time.L_LOW + j] = np.int64(envelopes_of[j]), 0
        state[by_time.L_HIGH + j], state[by_time.L_WORD + j] = sizes[j], np.int64(words[j])
    envelopes.number_lanes(lanes, state, room[0], room[1])
    for j in range(lanes):
        numbers[j], halvings[j] = state[by_time.L_NUMBER + j], state[by_time.L_HALVINGS + j]


@njit
def drawn_one_by_one(envelopes_of, sizes, words, numbers, halvings):
    for j in range(sizes.size):
        numbers[j], halvings[j] = envelopes.number_under(envelopes_of[j], sizes[j], words[j])


@njit
def halved_of(x, out):
    for i in range(x.size):
        out[i] = halved(x[i])


def rows():
    """Times of rows, some far apart, tied, or beyond what a float tells from each other, each with a scale."""
    rng = np.random.default_rng(4)
    for size in (1, 2, 3, 4, 5, 8, 9, 33, 1000):
        yield np.sort(rng.integers(0, 1000, size)), 77.0
    yield np.zeros(300, np.int64), 1.0
    yield np.sort(rng.integers(-(2**63), 2**63 - 1, 500)), 1e17
    yield np.sort(rng.integers(-(2**63), 2**63 - 1, 70)), 5e-324
    yield np.sort(rng.integers(-(2**63), 2**63 - 1, 70)), 1e308
    yield np.append(0, np.full(3000, 40)), 2.0


def halvings_of(times, scale):
    """The halvings of each number's level, by the definition: a list."""
    apart = [int(time) - int(times[0]) for time in times]
    heads = [0 if k == 0 else 1 << (k.bit_length() - 1) for k in range(times.size)]
    return [int(min(LAST, float(apart[head]) / (scale * float(np.log(2))))) for head in heads]


def drawn_of(times, scale, seed, n):
    """Words, and the numbers and answers that they give: of the kernels on a CPU."""
    words = np.random.default_rng(seed).integers(0, 2**64, 2 * n, np.uint64)
    numbers, taken = np.empty(n, np.int64), np.empty(n, np.int64)
    drawn_here(made_here(times, scale), scale, words, times, numbers, taken)
    return words, numbers, taken


def test_halving_is_near_the_true_power():
    x = np.concatenate([np.random.default_rng(3).random(50_000) * 64, np.arange(64.0), [63.5, 64, 1e300, np.inf]])
    found = np.empty_like(x)
    halved_of(x, found)
    assert np.allclose(found[x < 64], 2.0 ** -x[x < 64], rtol=1e-15, atol=0)
    assert np.array_equal(found[50_000:50_064], 2.0 ** -np.arange(64.0))
    assert not found[x >= 64].any()


def test_a_number_has_the_share_of_the_envelope():
    for times, scale in rows():
        words, numbers, _ = drawn_of(times, scale, 5, 2000)
        ends = np.cumsum([1 << LAST - halvings for halvings in halvings_of(times, scale)])
        targets = [int(word) * int(ends[-1]) >> 64 for word in words[::2]]
        assert np.array_equal(numbers, np.searchsorted(ends, targets, side="right"))


def test_biases_lie_below_the_envelope_and_at_most_five_times():
    for times, scale in rows():
        apart = np.array([float(int(time) - int(times[0])) for time in times])
        with np.errstate(over="ignore", under="ignore"):
            biases = np.exp(-(apart / scale))
        over = 2.0 ** -np.array(halvings_of(times, scale), float)
        assert (biases <= over * (1 + 1e-9)).all()
        assert over.sum() <= 5 * biases.sum()


def test_accepted_numbers_follow_the_law():
    for times, scale in ((np.array([0, 3, 3, 4, 9, 11, 11, 15, 30, 31]), 8.0), (np.append(0, np.full(50, 5)), 2.0)):
        _, numbers, taken = drawn_of(times, scale, 6, 200_000)
        assert_drawn_from(np.bincount(numbers[taken > 0], minlength=times.size), np.exp(-(times / scale)))


def test_lanes_together_draw_what_each_draws():
    rng, lanes = np.random.default_rng(8), 16
    for turn in range(400):
        sizes = np.minimum(2 ** rng.integers(0, 33, lanes), 2**32 - 1) - rng.integers(0, 2, lanes)
        sizes = np.maximum(sizes, 1)
        made = np.array([envelope_at_random(rng, int(size)) for size in sizes], np.uint64)
        words = rng.integers(0, 2**64, lanes, np.uint64)
        words[0], words[1] = 0, 2**64 - 1
        made[2], sizes[2] = (0, 1) if turn % 2 else (made[2], sizes[2])  # a lane without a walker
        together, alone = np.empty((2, 2, lanes), np.int64)
        drawn_of_lanes(made, sizes, words, *together)
        drawn_one_by_one(np.maximum(made, 1), sizes, words, *alone)
        assert np.array_equal(together, alone)


def envelope_at_random(rng, size):
    """The envelope of a range of so many edges whose levels have halvings at random, in order."""
    levels = (size - 1).bit_length()
    halvings = np.sort(rng.integers(0, LAST + 1, levels)) if rng.random() < 0.8 else np.zeros(levels, int)
    return 1 | sum(1 << (int(by) + level) for level, by in enumerate(halvings, 1))


def test_the_cuda_side_draws_the_same(tmp_path):
    (tmp_path / "host.cpp").write_text(HOST)
    options = ["-std=c++17", "-O2", "-ffp-contract=off", "-shared", "-fPIC"]
    subprocess.run([need_program("c++"), *options, "-o", tmp_path / "host.so", tmp_path / "host.cpp"], check=True)
    host = ctypes.CDLL(tmp_path / "host.so")
    host.made.restype = ctypes.c_uint64
    for times, scale in rows():
        (words, numbers, taken), found, answers = drawn_of(times, scale, 7, 3000), *np.empty((2, 3000), np.int64)
        envelope = host.made(ctypes.c_int64(times.size), ctypes.c_void_p(times.ctypes.data), ctypes.c_double(scale))
        assert envelope == int(made_here(times, scale))
        given = ctypes.c_uint64(envelope), ctypes.c_uint64(times.size), ctypes.c_double(scale), ctypes.c_int64(3000)
        host.drawn(*given, *(ctypes.c_void_p(array.ctypes.data) for array in (words, times, found, answers)))
        assert np.array_equal(found, numbers)
        assert np.array_equal(answers, taken)
