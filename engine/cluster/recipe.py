"""How every process of a cluster opens the same job: what the user asked for, with paths that hold in any folder."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Self

from csaw.engine.api import registry
from csaw.engine.api.registry import Algo
from csaw.engine.api.written_classes import recorded_name
from csaw.engine.plan.options import BASELINES, RUN, options
from csaw.engine.plan.rates import INTERPRETER_BYTES
from csaw.engine.runs.job import DRAWS, Job, prepare, refuse_window
from csaw.engine.sources.sources import OF_TYPE
from csaw.partition import GraphStore
from csaw.partition.base.plain_data import OptionValue, Record
from csaw.partition.base.version import VERSION
from csaw.partition.errors import BudgetError, DeviceError, MissingDependencyError, OptionError, StoreError
from csaw.partition.graph.versions import pinned

SHARE = 0.7  # of the memory that Dask gives a worker: with 0.8 of it in use, Dask hands out no more tasks
SPARED = (BudgetError, DeviceError, MissingDependencyError)
"""Errors of a worker's plan that leave the others to their work."""
METHODS = ("select", "collision")  # baselines that the request has, and so the sample
_WHERE = {name: one for name, one in options().items() if one.group in (RUN, BASELINES) and name not in METHODS}
LATE = {*_WHERE, *(one.alias for one in _WHERE.values() if one.alias)}
"""Options on which no byte depends: those of the workers, each of which plans its own run."""


@dataclass(frozen=True)
class Recipe:
    """A job, as plain data. ``virtual``: ``graph`` is the path of a virtual sample, which says what to sample."""

    graph: str
    algo: str
    out: str
    given: Mapping[str, OptionValue] = field(default_factory=dict)
    virtual: bool = False
    own: tuple[str, str] | None = None  # the path of the user's own file of an algorithm, and its SHA-256
    version: str = VERSION
    draws: int = DRAWS

    @classmethod
    def of(
        cls,
        graph: str | Path | GraphStore,
        out: str | Path,
        algo: Algo,
        given: Mapping[str, OptionValue],
        virtual: bool = False,
    ) -> Self:
        """The recipe of a job that :func:`prepare` or :func:`open_virtual` would open here."""
        if isinstance(graph, GraphStore):
            refuse_window(graph)
        place = graph.address if isinstance(graph, GraphStore) else pinned(Path(graph))
        algo, given = registry.named(algo, given)
        wanted = {name: value for name, value in given.items() if value is not None}
        if "edge_bias" in wanted:
            wanted["edge_bias"] = options()["edge_bias"].check("edge_bias", wanted["edge_bias"])
        for name in ("sources", "columns"):
            if name in wanted and _is_file(wanted[name]):
                wanted[name] = str(Path(wanted[name]).absolute())
        file = _own_file(algo)
        own = None if file is None else (str(file.absolute()), digest_of(file))
        return cls(str(place.absolute()), recorded_name(algo), str(Path(out).absolute()), wanted, virtual, own)

    def here(self) -> Job:
        """The job of the process that leads: its request and the form of its store.

        Where and how it runs is for the workers.
        """
        return self._job({name: value for name, value in self.given.items() if name not in LATE} | {"device": "cpu"})

    def there(self, **place: OptionValue) -> Job:
        """The job of a worker, whose ``place`` says device, threads and memory where the user did not."""
        if (self.version, self.draws) != (VERSION, DRAWS):
            raise StoreError(
                f"csaw {VERSION}, whose draws are version {DRAWS}, is installed here; expected "
                f"{self.version} with {self.draws}"
            )
        device = {name: place[name] for name in ("device",) if name in place}  # chosen among those that the user named
        job = self._job({**place, **self.given, **device})
        if len(job.devices) > 1:  # which auto takes for a large graph
            job = self._job({**place, **self.given, "device": job.devices[0]})
        return job

    def _job(self, given: Record) -> Job:
        if self.virtual:
            from csaw.engine.runs.virtual import open_virtual

            return open_virtual(self.graph, algo=self._own_algo(), **given).job
        job = prepare(self.graph, self._own_algo() or self.algo, **given)
        request = replace(job.plan.request, algorithm=self.algo)  # as the user has named it
        return replace(job, plan=replace(job.plan, request=request))

    def _own_algo(self) -> str | None:
        """The name of the user's own algorithm here; None where csaw ships the algorithm.

        StoreError where the user's own file is another than where the run was started.
        """
        if self.own is None:
            return None
        file, digest = self.own
        refuse_other_file(Path(file), digest)
        return f"{file}:{self.algo.partition(':')[2]}"

    def with_given(self, **more: OptionValue) -> "Recipe":
        """The same recipe, with options where the user gave none."""
        return replace(self, given=more | dict(self.given))


def check_device(device: object, local: bool) -> None:
    """Raise OptionError for an opened device, and for several GPUs for each worker of a cluster.

    The workers of a local cluster, which csaw starts, share several GPUs.
    """
    if not isinstance(device, str | None):
        raise OptionError(
            "--cluster: expected the name of a device, such as cuda, which each worker opens, found an opened one"
        )
    if device is not None and "," in device and not local:
        raise OptionError(
            f"--device {device}: each worker of a cluster draws on one GPU; give --device cuda, and start one "
            "worker for each GPU that sees only that GPU (dask-cuda)"
        )


def device_of(device: str | None, number: int | None) -> str | None:
    """The device of worker ``number`` of a local cluster: of several GPUs each worker takes one."""
    if number is None or device is None or "," not in device:
        return device
    gpus = device.partition(":")[2].split(",")
    return f"cuda:{gpus[number % len(gpus)]}"


def memory_of(limit: float) -> int:
    """Bytes of memory that csaw takes of the ``limit`` that Dask sets a worker."""
    return max(1 << 20, int(limit * SHARE) - INTERPRETER_BYTES)


def digest_of(file: Path, flag: str = "--algo") -> str:
    """The SHA-256 of a user's own file, which the option ``flag`` names."""
    try:
        return hashlib.sha256(file.read_bytes()).hexdigest()
    except OSError as error:
        raise StoreError(f"{file}: {error.strerror}; {flag} needs it on every worker") from error


def refuse_other_file(file: Path, digest: str, flag: str = "--algo") -> None:
    """StoreError where the user's own file has another SHA-256 here than where the run was started."""
    if digest_of(file, flag) != digest:
        raise StoreError(f"{file} differs here from the file where the run was started; copy the same file there")


def _is_file(given: object) -> bool:
    rules = "random:", OF_TYPE
    return isinstance(given, Path) or (isinstance(given, str) and given != "all" and not given.startswith(rules))


def _own_file(algo: str) -> Path | None:
    """The user's own file of an algorithm, where ``algo`` names one that is there."""
    file = Path(algo.partition(":")[0]) if isinstance(algo, str) and ".py" in algo else None
    return file if file is not None and file.is_file() else None
