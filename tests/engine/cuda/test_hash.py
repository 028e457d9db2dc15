"""The CUDA side of XXH64, compiled for this machine, has the hashes of the host for blocks of 4 KiB."""

import ctypes
import subprocess

import numpy as np
from helpers.machine import need_program

from csaw.engine.cuda.compile import FOLDER
from csaw.partition.arrays.block_hash import xxh64
from csaw.partition.arrays.checksums import BLOCK

HOST = f"""
#include <cmath>
#define __device__
#define __forceinline__ inline
#define __umul64hi(a, b) (unsigned long long)((unsigned __int128)(a) * (b) >> 64)
#define __longlong_as_double(bits) __builtin_bit_cast(double, bits)
using std::frexp, std::ldexp, std::floor, std::fabs, std::sqrt;
#include "{FOLDER / "xxh64.cuh"}"
extern "C" void hashes(i64 n, const u32* data, u64* out)
{{
    for (i64 k = 0; k < n; ++k) {{
        u64 lanes[4];
        for (int lane = 0; lane < 4; ++lane) lanes[lane] = hash_of_lane(data + k * HASHED_WORDS, lane);
        out[k] = hash_of_lanes(lanes[0], lanes[1], lanes[2], lanes[3]);
    }}
}}
"""


def test_a_block_has_the_same_hash_on_both_sides(tmp_path):
    (tmp_path / "host.cpp").write_text(HOST)
    options = ["-std=c++17", "-O2", "-shared", "-fPIC"]
    subprocess.run([need_program("c++"), *options, "-o", tmp_path / "host.so", tmp_path / "host.cpp"], check=True)
    rows = np.random.default_rng(1).integers(0, 256, (50, BLOCK), dtype=np.uint8)
    rows[0], rows[1] = 0, 255
    found = np.empty(len(rows), np.uint64)
    given = ctypes.c_void_p(rows.ctypes.data), ctypes.c_void_p(found.ctypes.data)
    ctypes.CDLL(tmp_path / "host.so").hashes(ctypes.c_int64(len(rows)), *given)
    assert np.array_equal(found, xxh64(rows))
