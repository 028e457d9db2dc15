"""The expected cost of a run on a cluster, and what limits it.

It has the share of each worker, the bytes that it reads and writes, and its seconds.

Workers share the groups in proportion to how fast each of them draws, so they end together where drawing limits them. A
worker reads its graph, makes the layout, and then draws while it writes, so that the slower of these two counts:

    seconds = reading + building + max(sampling, writing)

A graph in memory is read once. One that is streamed from its store is read again for each batch, and a worker has as
many batches as its share has.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from csaw.engine.plan.contracts import Store
from csaw.engine.plan.costs import stored_bytes
from csaw.engine.plan.plan import Plan

READING, BUILDING, SAMPLING, WRITING = (
    "reading the graph",
    "building its layout",
    "sampling",
    "writing",
)


@dataclass(frozen=True)
class Share:
    """The expected work of one worker."""

    groups: int
    instances: int
    bytes_read: int
    """Of the graph, from its store."""
    bytes_written: int
    parts: Mapping[str, float]
    """Seconds of reading, building, sampling and writing, by the names above."""

    @property
    def seconds(self) -> float:
        """The time of the whole run of this worker."""
        return self.parts[READING] + self.parts[BUILDING] + max(self.parts[SAMPLING], self.parts[WRITING])

    @property
    def limit(self) -> str:
        """The part that takes longest."""
        return max(self.parts, key=lambda part: self.parts[part])

    def as_dict(self) -> dict[str, object]:
        numbers = ("groups", "instances", "bytes_read", "bytes_written", "seconds", "limit")
        return {name: getattr(self, name) for name in numbers} | {"parts": dict(self.parts)}


def shares(plans: Mapping[str, Plan], store: Store, *, one_disk: bool) -> dict[str, Share]:
    """The share of each worker, by its name.

    ``plans``: those of the workers that can draw. ``store``: the graph. ``one_disk``: whether all workers read and
    write by the disk of one machine, as those of a local cluster do; otherwise each is expected to have as much of the
    shared file system as its own rates say.
    """
    if not plans:
        return {}
    request = next(iter(plans.values())).request
    groups = -(-request.instances // request.group_size)
    speeds = [1 / max(plan.expected["sampling_seconds"], 1e-9) for plan in plans.values()]
    ends = _ends(groups, speeds)
    sharing = len(plans) if one_disk else 1
    return {
        name: _share(plan, store, first, last, sharing)
        for (name, plan), first, last in zip(plans.items(), [0, *ends], ends, strict=False)
    }


def _ends(groups: int, speeds: list[float]) -> list[int]:
    """The ends of consecutive shares of the groups, in proportion to ``speeds``."""
    ends, reached, whole = [], 0.0, sum(speeds)
    for speed in speeds:
        reached += speed
        ends.append(int(groups * reached / whole + 0.5))
    return ends


def _share(plan: Plan, store: Store, first: int, last: int, sharing: int) -> Share:
    """The share of the groups ``first`` to ``last`` - 1.

    ``sharing``: workers that write to one disk, or stream from it.
    """
    request = plan.request
    instances = min(last * request.group_size, request.instances) - min(first * request.group_size, request.instances)
    part, written = (
        instances / max(request.instances, 1),
        round(plan.output_bytes * instances / max(request.instances, 1)),
    )
    read, reading = stored_bytes(store, plan.needs), plan.expected["loading_seconds"]
    if plan.residency.streams:
        again = -(-instances // plan.batch) / max(-(-request.instances // plan.batch), 1)
        if plan.residency.from_store:
            read, reading = round(plan.expected["bytes"] * again), reading * again * sharing
        else:  # read into host memory once, and copied to a GPU again and again
            once = min(reading, read / plan.rates.disk_bytes)
            reading = once + (reading - once) * again
    works = bool(instances)
    parts = {
        READING: reading * works,
        BUILDING: plan.expected["building_seconds"] * works,
        SAMPLING: plan.expected["sampling_seconds"] * part,
        WRITING: written * sharing / plan.rates.disk_writes,
    }
    return Share(
        last - first, instances, read * works, written, {name: round(value, 6) for name, value in parts.items()}
    )


def of_all(found: Mapping[str, Share]) -> dict[str, object]:
    """Return the expected seconds of the run, what limits it, and the bytes of all workers together.

    The seconds are those of the slowest worker.

    Empty without workers.
    """
    if not found:
        return {}
    slowest = max(found.values(), key=lambda share: share.seconds)
    sums = ("groups", "instances", "bytes_read", "bytes_written")
    said = {name: sum(getattr(share, name) for share in found.values()) for name in sums}
    return {"workers": len(found), "seconds": slowest.seconds, "limit": slowest.limit, **said}
