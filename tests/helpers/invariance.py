"""Checks that a sample is a function of the request: all of it, and nothing else."""

import numpy as np

from csaw.engine import prepare
from csaw.engine.cpu.backend import CpuBackend
from helpers.graphs import arrays_of


def bytes_of(arrays):
    """Types, shapes and bytes of arrays, to be compared at once."""
    return {name: (array.dtype, array.shape, array.tobytes()) for name, array in arrays.items()}


def assert_same(a, b):
    assert a.keys() == b.keys()
    for name in a:
        assert np.array_equal(a[name], b[name]), name


def assert_request_decides(store, other_partitions, out, algo, **options):
    """Threads, batches and partitions change nothing; the seed changes something."""
    reference = arrays_of(store, out, algo, seed=5, threads=1, **options)
    assert_same(reference, arrays_of(store, out, algo, seed=5, threads=2, in_flight=17, **options))
    assert_same(reference, arrays_of(other_partitions, out, algo, seed=5, **options))
    if algo != "snowball" and options.get("time_strategy") != "last":  # which draw nothing
        other = arrays_of(store, out, algo, seed=6, threads=1, **options)
        assert any(reference[k].shape != other[k].shape or (reference[k] != other[k]).any() for k in reference)


def assert_instances_are_64_bits(store, algo, **options):
    """Instances whose numbers agree in their low 32 bits, or in their high ones, draw apart."""
    job = prepare(store, algo, sources=np.zeros(64, np.int64), **options)
    backend = CpuBackend(job.plan, store, job.algorithm)
    drawn = []
    for first in (0, 64, 2**32, 2**33, 2**62):
        batch = backend.begin(first, np.zeros(64 if "walks" in job.plan.sample_layout else (64, 1), np.int64))
        batch.advance()
        drawn.append(batch.arrays())
    backend.close()
    for i, one in enumerate(drawn):
        for other in drawn[:i]:
            assert any(one[k].shape != other[k].shape or (one[k] != other[k]).any() for k in one)
