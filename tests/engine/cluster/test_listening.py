"""A scheduler that is not there is said at once, and nothing is begun before one is."""

import json
import socket
from types import SimpleNamespace

import pytest
from helpers.graphs import random_store

from csaw.engine.cluster import clusters, dask_executor
from csaw.engine.cluster.clusters import Cluster, require_scheduler
from csaw.engine.cluster.dask_run import sample_on_cluster
from csaw.partition.errors import ClusterError


@pytest.fixture
def free_address(monkeypatch):
    monkeypatch.setattr(clusters, "SECONDS_TO_LISTEN", 0.05)
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))  # held, not listened at, so that nobody else takes it
        yield f"tcp://127.0.0.1:{held.getsockname()[1]}"


def test_a_scheduler_that_does_not_exist_is_one_sentence_and_leaves_nothing(tmp_path, free_address, caplog):
    graph = random_store(tmp_path / "g.zarr")
    with pytest.raises(ClusterError, match=f"no scheduler listens at {free_address} \\(.+\\); check that it runs"):
        sample_on_cluster(graph, tmp_path / "s.zarr", cluster=free_address)
    assert f"nothing listens at {free_address} yet" in caplog.text
    assert [one.name for one in tmp_path.iterdir()] == ["g.zarr"]


def test_the_file_of_a_scheduler_that_has_ended_names_its_address(tmp_path, free_address):
    file = tmp_path / "scheduler.json"
    file.write_text(json.dumps({"address": free_address}))
    with pytest.raises(ClusterError, match=f"no scheduler listens at {free_address}"):
        require_scheduler(Cluster.of(str(file)))


@pytest.mark.parametrize("text", ["", "{}", "[]", "no JSON"])
def test_a_file_that_no_scheduler_wrote_is_refused_by_name(tmp_path, text, monkeypatch):
    monkeypatch.setattr(clusters, "SECONDS_TO_WRITE", 0.0)
    (tmp_path / "scheduler.json").write_text(text)
    with pytest.raises(ClusterError, match=r"scheduler\.json: expected the file that dask scheduler --scheduler-file"):
        require_scheduler(Cluster.of(str(tmp_path / "scheduler.json")))


def test_an_address_without_a_port_that_is_a_number_is_refused():
    with pytest.raises(ClusterError, match="expected an address such as tcp://host:8786, found tcp://here:x"):
        require_scheduler(Cluster.of("tcp://here:x"))


def test_a_scheduler_that_listens_is_not_waited_for(caplog):
    with socket.create_server(("127.0.0.1", 0)) as server:
        require_scheduler(Cluster.of(f"tcp://127.0.0.1:{server.getsockname()[1]}"))
    assert not caplog.text


def test_a_scheduler_without_workers_is_said(caplog, monkeypatch):
    monkeypatch.setattr(dask_executor, "SECONDS_TO_COME", -1.0)
    caplog.set_level("INFO")
    workers = iter([{}, {"tcp://worker:1": 1}])
    dask_executor._await_workers(
        SimpleNamespace(nthreads=lambda: next(workers), scheduler=SimpleNamespace(address="tcp://s:1"))
    )
    assert "tcp://s:1 has no worker yet; waiting for one" in caplog.text


@pytest.mark.parametrize("kind", ["local:2", "mpi", "slurm:3"])
def test_clusters_that_are_yet_to_be_started_are_not_asked(kind):
    require_scheduler(Cluster.of(kind))
