"""The plans of workers that have not been started: of processes on this machine, or of jobs that would run on machines
such as this one.
"""

from collections.abc import Mapping
from contextlib import suppress

from csaw.engine.cluster.clusters import JOBS, Cluster
from csaw.engine.cluster.recipe import SPARED, Recipe, device_of, memory_of
from csaw.engine.devices import rates
from csaw.engine.plan.plan import Plan
from csaw.partition.base.plain_data import OptionValue, Record


def is_unstarted(where: Cluster) -> bool:
    """Whether the cluster would be started by the run, with a number of workers that its name says."""
    return where.is_local or where.kind in JOBS


def plans_here(where: Cluster, recipe: Recipe) -> dict[str, Plan | str]:
    """The plan of each worker by its name, or why it has none.

    The rates of this machine are measured if they are not known yet.
    """
    workers, place = of_jobs(where.kind, where.workers) if where.kind in JOBS else (where.workers, {})
    rates.measured()
    found: dict[str | None, Plan | str] = {}
    plans: dict[str, Plan | str] = {}
    for number in range(workers):
        device = device_of(recipe.given.get("device"), number if where.is_local else None)
        if device not in found:
            found[device] = _planned(recipe, place if device is None else place | {"device": device})
        plans[str(number)] = found[device]
    return plans


def _planned(recipe: Recipe, place: Mapping[str, OptionValue]) -> Plan | str:
    try:
        job = recipe.there(**place)
        if job.devices and any(name in job.plan.rates.assumed for name in rates.GPU):
            rates.measured(job.devices)
            job = recipe.there(**place)
    except SPARED as error:
        return str(error)
    return job.plan


def of_jobs(kind: str, jobs: int) -> tuple[int, Record]:
    """Return the number of workers that so many jobs start, and the threads and memory of each.

    dask-jobqueue's configuration says them; what it does not say is left out.
    """
    held: Mapping[str, OptionValue] = {}
    with suppress(ImportError):
        from dask import config

        held = config.get(f"jobqueue.{kind}", None) or {}
    cores, processes = held.get("cores"), held.get("processes")
    if cores and not processes:
        from distributed.deploy.utils import nprocesses_nthreads

        processes = nprocesses_nthreads(int(cores))[0]  # as dask-jobqueue does
    each, place = int(processes or 1), Record()
    if cores:
        place["threads"] = max(1, int(cores) // each)
    if memory := held.get("memory"):
        from dask.utils import parse_bytes

        place["memory"] = memory_of(parse_bytes(memory) / each)
    return jobs * each, place
