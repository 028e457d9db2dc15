"""Runs need no more of a cluster than the contract of an executor says: threads of this process serve as one."""

import pytest
from helpers.executors import DIED, LOST, Threads
from helpers.graphs import random_store
from helpers.relations import partitioned
from helpers.small_samples import files_of

from csaw.engine import execute
from csaw.engine.cluster import dask_run
from csaw.engine.cluster.clusters import Cluster
from csaw.engine.cluster.dask_run import Tasks, plans_on, recipe_of
from csaw.engine.cluster.drawer import Drawing
from csaw.engine.cluster.executor import Member, Spread, member_of, seat
from csaw.engine.runs.job import manifest, stored_as
from csaw.engine.samples.writer import SampleWriter
from csaw.partition.errors import ClusterError, OptionError

WALKS = {"walk_length": 20, "seed": 3, "device": "cpu", "threads": 1}
BROKEN = RuntimeError("of a library")


class Adder(Member):
    def __init__(self, number):
        self.number = number

    def setup(self, seat):
        self.seat = seat


def add(run, number):
    """The sum with the member's number, and whether the member sits where the task is done."""
    member = member_of(run)
    return number + member.number, member.seat is seat()


@pytest.mark.parametrize("faults", [(), (LOST, None, BROKEN), (None, BROKEN, BROKEN, LOST, LOST)])
def test_results_come_in_the_order_of_the_tasks_whatever_fails_by_chance(faults):
    executor = Threads(workers=3, faults=faults)
    with executor.joined(Adder(100)) as run:
        found = list(Spread(executor)(add, [(run, number) for number in range(40)]))
    assert found == [(100 + number, True) for number in range(40)]
    assert len(executor.submitted) == 40 + len(faults) - faults.count(None)
    assert not any(executor.members.values())


@pytest.mark.parametrize(
    ("fault", "error", "said"),
    [
        (DIED, ClusterError, "a task kills its workers, the last one at address 1; .*; what is done is safe"),
        (OptionError("--fanout: no"), OptionError, "--fanout: no"),
    ],
)
def test_an_error_of_csaw_and_a_death_are_not_tried_again(fault, error, said):
    executor = Threads(faults=(None, fault))
    with executor.joined(Adder(1)) as run:
        results = Spread(executor)(add, [(run, number) for number in range(3)])
        assert next(results) == (1, True)
        with pytest.raises(error, match=said):
            next(results)
    assert len(executor.submitted) == 3


def test_a_task_that_always_fails_is_tried_three_times():
    executor = Threads(workers=1, faults=[BROKEN] * 3)
    with executor.joined(Adder(1)) as run, pytest.raises(RuntimeError, match="of a library"):
        next(Spread(executor)(add, [(run, 1)]))
    assert len(executor.submitted) == 3


@pytest.fixture
def small_groups(monkeypatch):
    monkeypatch.setattr("csaw.engine.plan.planning.GROUP_BYTES", 4000)
    monkeypatch.setattr(dask_run, "UNIT_SECONDS", 0.01)


@pytest.mark.parametrize("faults", [(), (None, None, DIED, LOST, BROKEN, None, DIED)])
def test_workers_of_any_executor_draw_the_sample_of_one_machine(tmp_path, small_groups, faults):
    graph = random_store(tmp_path / "g.zarr", vertices=2000, edges=20_000).path
    recipe = recipe_of(Cluster("address", "tcp://none:1"), graph, tmp_path / "s", "deepwalk", WALKS, False)
    job, executor = recipe.here(), Threads(faults=faults)
    with (
        SampleWriter(tmp_path / "s", manifest(job), **stored_as(job)) as writer,
        executor.joined(Drawing(recipe)) as run,
    ):
        assert [plan.device for plan in plans_on(executor, run).values()] == ["cpu", "cpu"]
        done = Tasks(executor, run, writer, None)
        done.run()
        assert done.edges > 0
        assert {group for _, given in executor.submitted[2:] for group in given[1]} == set(range(writer.groups))
        writer.seal()
        writer.finish({})
    execute(job, tmp_path / "alone")
    same = {name: bytes_ for name, bytes_ in files_of(tmp_path / "alone").items() if "results" not in name}
    assert {name: bytes_ for name, bytes_ in files_of(tmp_path / "s").items() if name in same} == same


@pytest.mark.parametrize(("rule", "instances"), [("type:b", 3), ("type:b:2", 2), ("random:4", 4), ("all", 5)])
def test_sources_by_a_rule_are_no_file(tmp_path, rule, instances):
    graph = partitioned(tmp_path, {"a-to-b": "0 0\n0 1\n1 2\n"}).path
    options = {"sources": rule, "fanout": {"to": (1,)}}
    job = recipe_of(Cluster("address", "tcp://none:1"), graph, tmp_path / "s", "neighbor", options, False).here()
    assert job.plan.request.instances == instances


def test_a_group_that_kills_its_workers_is_found_and_named(tmp_path, small_groups):
    graph = random_store(tmp_path / "g.zarr", vertices=2000, edges=20_000).path
    recipe = recipe_of(Cluster("address", "tcp://none:1"), graph, tmp_path / "s", "deepwalk", WALKS, False)
    job, executor = recipe.here(), Threads(faults=[DIED] * 50)
    with (
        SampleWriter(tmp_path / "s", manifest(job), **stored_as(job)) as writer,
        executor.joined(Drawing(recipe)) as run,
        pytest.raises(ClusterError, match=r"group \d+: the workers that draw it die, the last one at address 1"),
    ):
        Tasks(executor, run, writer, None).run()
