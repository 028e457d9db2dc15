"""Contexts of GPUs are made beside the start of a command, and change nothing that it says."""

import threading
from types import SimpleNamespace

import pytest

from csaw.engine.devices import devices
from csaw.engine.devices.devices import begin_to_open, place
from csaw.partition.errors import CsawError


@pytest.fixture
def driver(monkeypatch):
    """A driver with two GPUs, which notes what is called."""
    called = []
    found = SimpleNamespace(
        cuInit=lambda flags: called.append("cuInit") or 0,
        cuDeviceGet=lambda gpu, number: setattr(gpu._obj, "value", number) or (0 if number < 2 else 101),
        cuDevicePrimaryCtxRetain=lambda context, gpu: called.append(gpu.value) or 0,
    )
    monkeypatch.setattr(devices.ctypes, "CDLL", lambda name: found)
    monkeypatch.setattr(devices, "find_spec", lambda name: name)
    return called


def begin(device):
    before = set(threading.enumerate())
    begin_to_open(device)
    for thread in set(threading.enumerate()) - before:
        thread.join(10)


@pytest.mark.parametrize(
    ("device", "numbers"),
    [("cuda", [0]), ("cuda:1", [1]), ("cuda:1,0,1", [1, 0]), ("cuda:7,1", [1]), ("auto", [0])],
)
def test_the_gpus_that_a_command_names_get_contexts(driver, device, numbers):
    begin(device)
    assert driver == ["cuInit", *numbers]


@pytest.mark.parametrize("device", ["cpu", "cuda:x", "gpu", "", 3, None])
def test_other_devices_begin_no_thread(monkeypatch, driver, device):
    monkeypatch.setattr(threading, "Thread", None)
    begin_to_open(device)
    assert driver == []


def test_nothing_begins_where_cupy_is_not_installed(monkeypatch, driver):
    monkeypatch.setattr(devices, "find_spec", lambda name: None)
    monkeypatch.setattr(threading, "Thread", None)
    begin_to_open("cuda")
    assert driver == []


@pytest.mark.parametrize("error", [OSError("no libcuda.so.1"), AttributeError("an old driver")])
def test_what_goes_wrong_is_said_by_what_opens_the_gpu(monkeypatch, driver, capsys, error):
    def fail(name):
        raise error

    monkeypatch.setattr(devices.ctypes, "CDLL", fail)

    def said():
        with pytest.raises(CsawError) as raised:
            place("cuda:7")
        return str(raised.value)

    alone = said()
    begin("cuda:7")
    assert said() == alone
    assert capsys.readouterr() == ("", "")
