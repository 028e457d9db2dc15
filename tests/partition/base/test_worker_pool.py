"""Parts of a work come in order whichever worker did them, no worker has two at a time, and errors reach the caller."""

import threading
import time

import pytest

from csaw.partition.base.parallel import in_order, on_each

WORKERS = ["first", "second", "third"]


@pytest.mark.parametrize("workers", [WORKERS[:1], WORKERS])
@pytest.mark.parametrize("count", [0, 1, 2, 50])
def test_results_come_in_the_order_of_the_parts(workers, count):
    def work(worker, part):
        time.sleep(0.001 * (part % 3))
        return worker, part

    found = list(in_order(workers, iter(range(count)), work))
    assert [part for _, part in found] == list(range(count))
    assert {worker for worker, _ in found} <= {*workers}


def test_all_workers_work_and_each_has_one_part_at_a_time():
    together, busy = threading.Barrier(len(WORKERS), timeout=30), dict.fromkeys(WORKERS, 0)

    def work(worker, part):
        busy[worker] += 1
        assert busy[worker] == 1
        if part < len(WORKERS):
            together.wait()  # passes only where all are at work
        busy[worker] -= 1
        return worker

    found = list(in_order(WORKERS, range(20), work))
    assert {*found[: len(WORKERS)]} == {*WORKERS}


def test_no_part_is_far_ahead_of_the_caller():
    begun = []

    def work(_, part):
        begun.append(part)

    for taken, _ in enumerate(in_order(WORKERS, range(100), work)):
        assert max(begun) <= taken + len(WORKERS)


@pytest.mark.parametrize("workers", [WORKERS[:1], WORKERS])
def test_an_error_is_raised_in_its_place_and_ends_the_work(workers):
    done, came = [], []

    def work(_, part):
        if part == 7:
            raise ValueError("part 7")
        done.append(part)
        return part

    with pytest.raises(ValueError, match="part 7"):
        came.extend(in_order(workers, range(1000), work))
    assert {*range(7)} <= {*done}
    assert max(done) <= 7 + 2 * len(workers)


def test_a_caller_that_stops_ends_the_work():
    done = []
    for part in in_order(WORKERS, range(1000), lambda _, part: done.append(part) or part):
        if part == 5:
            break
    assert len(done) <= 6 + 2 * len(WORKERS)


def test_on_each_all_work_at_the_same_time():
    together = threading.Barrier(len(WORKERS), timeout=30)

    def work(worker, number):
        together.wait()
        return worker, number

    assert on_each(WORKERS, work) == [("first", 0), ("second", 1), ("third", 2)]
    here = threading.get_ident()
    assert on_each(WORKERS[:1], lambda *_: threading.get_ident()) == [here]


def test_an_error_of_one_worker_is_raised_when_all_have_ended():
    ended = []

    def work(worker, number):
        if number == 1:
            raise ValueError(worker)
        time.sleep(0.02)
        ended.append(worker)

    with pytest.raises(ValueError, match="second"):
        on_each(WORKERS, work)
    assert sorted(ended) == ["first", "third"]
