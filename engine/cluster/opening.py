"""Opening the executor of a cluster by the cluster's name."""

from collections.abc import Iterator
from contextlib import contextmanager

from csaw.engine.cluster.clusters import Cluster, connected
from csaw.engine.cluster.executor import Executor


@contextmanager
def opened(cluster: Cluster, safe: str) -> Iterator[Executor]:
    """The executor of a cluster, which is started if it has to be, and stopped if it was started here.

    ``safe``: what errors say of the work that is done. Errors: those of ``connected``.
    """
    with connected(cluster) as client:
        from csaw.engine.cluster.dask_executor import DaskExecutor  # imports Dask, which is optional

        yield DaskExecutor(client, safe, local=cluster.is_local)
