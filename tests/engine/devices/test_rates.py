"""The rates of a machine are measured once, kept with its name, and measured again where the file does not say them."""

import json
import re
import sys
import time
from types import ModuleType

import pytest
from click.testing import CliRunner
from helpers.graphs import random_store

from csaw.cli.main import cli
from csaw.engine.cuda.device import Device
from csaw.engine.devices import choice, kept_rates
from csaw.engine.devices.choice import _measured_device as measure_device
from csaw.engine.devices.choice import kept, measured  # as they are before a test pins them
from csaw.engine.plan.rates import ASSUMED, GPU, HOST, Rates

GPUS = (Device(0, "none", "sm_90", 132, 1 << 40),)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("CSAW_CACHE_DIR", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture
def counted(monkeypatch):
    """Numbers of what is measured, which takes no time here."""
    done = []
    monkeypatch.setattr(choice, "_host", lambda: done.append("host") or dict.fromkeys(HOST, 7.0))
    monkeypatch.setattr(choice, "_measured_device", lambda gpu: done.append(gpu.name) or dict.fromkeys(GPU, 9.0))
    return done


def test_a_machine_is_measured_in_a_fraction_of_a_second_and_once(folder):
    clock = time.process_time()
    found = measured()
    assert time.process_time() - clock < 5  # of processors; half a second on a machine at rest
    assert found.assumed == GPU
    assert 1e5 < found.gathers < 1e10
    assert found.disk_bytes > 1e5
    assert found.disk_writes > 1e5
    assert found.row_bytes > 1
    assert [path.name for path in folder.iterdir()] == ["rates.json"]
    assert measured() == kept() == found


def test_nothing_is_measured_or_written_for_a_look(folder):
    assert kept() == kept(GPUS) == ASSUMED
    assert not folder.exists()


def test_each_kind_of_gpu_has_an_entry_beside_that_of_the_machine(folder, counted):
    assert measured().assumed == GPU
    assert measured(GPUS).assumed == ()
    assert measured(GPUS) == kept(GPUS)
    assert counted == ["host", "none"]
    machine, gpu = json.loads((folder / "rates.json").read_text())
    assert gpu == f"none in {machine}"


@pytest.mark.parametrize(
    "damage",
    [
        "",
        "[1]",
        "{",
        '{"%s": 1}',
        '{"%s": {"gathers": 1e6}}',
        '{"%s": {"gathers": NaN, "disk_bytes": 1, "disk_writes": 1, "disk_reads": 1}}',
        '{"%s": {"gathers": 1, "disk_bytes": "2", "disk_writes": 1, "disk_reads": 1}}',
        '{"%s": {"gathers": 0, "disk_bytes": 1, "disk_writes": 1, "disk_reads": 1}}',
    ],
)
def test_a_damaged_file_is_measured_again(folder, counted, damage):
    measured()
    file = folder / "rates.json"
    machine = next(iter(json.loads(file.read_text())))
    file.write_text(damage.replace("%s", machine))
    assert kept() == ASSUMED
    assert measured().gathers == 7.0
    assert counted == ["host", "host"]
    assert kept() == measured()


def test_the_file_of_another_machine_is_kept_and_not_read(folder, counted, monkeypatch):
    first = measured()
    monkeypatch.setattr(kept_rates, "processor_name", lambda: "another")
    assert kept() == ASSUMED
    assert measured() == first
    assert counted == ["host", "host"]
    assert len(json.loads((folder / "rates.json").read_text())) == 2


def test_a_folder_that_cannot_be_written_leaves_the_disk_assumed(folder, monkeypatch):
    folder.write_text("a file")
    found = measured()
    assert found == Rates(gathers=found.gathers, assumed=GPU)
    assert folder.read_text() == "a file"


def test_a_dry_run_assumes_what_is_not_known_and_a_run_measures_it(folder, counted, tmp_path, monkeypatch):
    monkeypatch.setattr(choice, "kept", kept)
    monkeypatch.setattr(choice, "measured", measured)
    random_store(tmp_path / "g.zarr", partitions=3)
    line = ["sample", str(tmp_path / "g.zarr"), str(tmp_path / "w.zarr"), "--device", "cpu", "--residency", "disk"]
    dry = CliRunner().invoke(cli, [*line, "--dry-run"], catch_exceptions=False).stdout
    assert re.search(r"reading the disk in order +1\.4 GiB, assumed\n", dry)
    assert not (folder / "rates.json").exists()
    assert CliRunner().invoke(cli, line, catch_exceptions=False).exit_code == 0
    assert counted == ["host"]
    dry = CliRunner().invoke(cli, [*line, "--dry-run"], catch_exceptions=False).stdout
    assert re.search(r"reading the disk in order +7.0 B\n", dry)
    assert counted == ["host"]


def test_a_gpu_without_memory_to_be_measured_keeps_what_is_assumed(folder, counted, monkeypatch):
    def none(gpu):
        raise MemoryError("no room")

    real = ModuleType("csaw.engine.cuda.rates")
    real.device_rates = none
    monkeypatch.setitem(sys.modules, "csaw.engine.cuda.rates", real)
    monkeypatch.setattr(choice, "_measured_device", measure_device)
    assert measured(GPUS).assumed == GPU
    real.device_rates = lambda gpu: dict.fromkeys(GPU, 9.0)
    assert measured(GPUS).bus_bytes == 9.0


@pytest.mark.parametrize(
    ("mebibytes", "reads"), [(64, 0.6e9), (512, 0.56e9), (1024, 0.11e9), (2048, 0.059e9), (4096, 0.047e9)]
)
def test_a_pick_over_the_bus_costs_what_was_measured_for_the_size_of_the_graph(mebibytes, reads):
    assumed = Rates()
    expected = assumed.bus_bytes / reads
    assert assumed.pick_bytes(mebibytes << 20) == pytest.approx(expected, rel=0.35)
