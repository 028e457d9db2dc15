"""Arrays that several GPUs share: the host's part, with GPUs that are played by NumPy in another process."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
BEGIN = """
import sys

sys.path.append(sys.argv[1])
import numpy as np
from helpers.played_gpus import Array, Device, Stream, play

networks, ranges = play(4), [(0, 32), (32, 32), (32, 96), (96, 100)]  # one has no vertices
from csaw.engine.analytics.cuda.several_gpus import seated, step
from csaw.engine.analytics.cuda.several_gpus import SharedArray
from csaw.engine.analytics.exchange import Exchange

rng = np.random.default_rng(1)


class Checked(SharedArray):
    def own(self, seat):
        assert Stream.current is seat.stream
        return super().own(seat)


def own(shared, seat):
    return shared.arrays[seat.number][seat.first : seat.last]


def numbers(seats):
    return Checked(seats, [rng.integers(0, 9, 100).view(Array) for _ in seats])


"""
HEARD = """
for exchange in (None, *Exchange):
    for changes in (0, 3, 90):
        with seated(networks, ranges) as seats:
            shared = Checked.copied(seats, rng.integers(0, 9, 100).view(Array))
            before = step(seats, lambda seat: shared.own(seat).copy())
            changed, expected = rng.permutation(100)[:changes], shared.arrays[0].copy()
            expected[changed] += 1
            for seat in seats:
                own(shared, seat)[:] = expected[seat.first : seat.last]
            shared.tell(before, exchange)
            few = [told is not None for told in shared.told]
            assert not any(few) if exchange is Exchange.BROADCAST else all(few) or exchange is None
            shared.exchange()
            assert all(array.tolist() == expected.tolist() for array in shared.arrays)
        assert (Device.current, Stream.current) == (0, Stream.null)
"""
REDUCED = """
with seated(networks, ranges) as seats:
    shared = numbers(seats)
    largest = np.max(shared.arrays, axis=0)
    shared.reduce(np.maximum)
    for seat in seats:
        assert own(shared, seat).tolist() == largest[seat.first : seat.last].tolist()
"""
GATHERED = """
with seated(networks, ranges) as seats:
    shared = numbers(seats)
    expected = np.concatenate([own(shared, seat) for seat in seats])
    assert shared.gathered() is shared.arrays[0]
    assert shared.arrays[0].tolist() == expected.tolist()
    assert shared.addresses().tolist() == [array.data.ptr for array in shared.arrays]
    assert shared.addresses(but=seats[1]).tolist() == [shared.arrays[n].data.ptr for n in (0, 2, 3)]
"""
ANY = """
with seated(networks, ranges) as seats:
    shared = numbers(seats)
    shared.fill(0)
    assert not shared.any()
    for seat, vertex in ((seats[0], 31), (seats[2], 95), (seats[3], 99)):
        shared.on(seats[1])[vertex] = 1  # which another GPU owns
        assert not shared.any()
        shared.on(seat)[vertex] = 1
        assert shared.any()
        shared.fill(0)
"""


@pytest.mark.parametrize("code", [HEARD, REDUCED, GATHERED, ANY], ids=["heard", "reduced", "gathered", "any"])
def test_gpus_share(code, tmp_path):
    env = os.environ | {"PYTHONPATH": str(ROOT / "tests/_src"), "CSAW_CACHE_DIR": str(tmp_path)}
    command = [sys.executable, "-c", BEGIN + code, str(ROOT / "tests")]
    done = subprocess.run(command, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
