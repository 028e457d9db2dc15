"""The executor of a Dask cluster."""

from collections.abc import Callable, Collection, Hashable, Iterator, Sequence
from contextlib import contextmanager, suppress

from distributed import Client, Future, KilledWorker, get_worker

from csaw.engine.cluster.attendance import LOST, Attendance
from csaw.engine.cluster.executor import Member, ResultLost, WorkerDied, seated
from csaw.engine.cluster.joined import Joined, joined, seat_of
from csaw.partition.errors import CsawError


class DaskExecutor(Attendance):
    """The workers of a client. ``local``: whether they were started on this machine for the run."""

    def __init__(self, client: Client, safe: str, *, local: bool) -> None:
        super().__init__(client, safe)
        self.local = local

    def submit(
        self,
        function: Callable[..., object],
        arguments: Sequence[object],
        ended: Callable[[Hashable, object], None],
        *,
        seconds: float,
        rather: Collection[str] = (),
        only: str | None = None,
    ) -> Hashable:
        where: dict[str, bool | list[str]] = {"workers": sorted(rather), "allow_other_workers": True} if rather else {}
        if only is not None:
            where = {"workers": [only]}
        future = self.client.submit(_in_seat, function, *arguments, pure=False, **where)
        future.add_done_callback(lambda done: ended(done, _outcome(done, seconds)))
        return future  # type: ignore[no-any-return]

    def cancel(self, tasks: Collection[Hashable]) -> None:
        if self.is_reached:
            with suppress(OSError, TimeoutError, RuntimeError):
                self.client.cancel(list(tasks), force=True)

    @contextmanager
    def joined(self, member: Member) -> Iterator[str]:
        with joined(self.client, Joined(member, self.local)) as name:
            self.begin()  # workers may have waited in a queue until now
            self.look()
            yield name


def _outcome(future: Future, seconds: float) -> object:
    """The outcome of a task that has ended; called in a thread of the client."""
    try:
        found = future.exception(timeout=seconds) or future.result(timeout=seconds)
    except LOST as error:
        found = error
    if isinstance(found, KilledWorker):
        return WorkerDied(found.last_worker.address)
    if isinstance(found, LOST) and not isinstance(found, CsawError):
        return ResultLost(f"{type(found).__name__}: {found}")
    return found


def _in_seat(function: Callable[..., object], *arguments: object) -> object:
    """A task, as a worker of Dask does it."""
    worker = get_worker()
    plugins = {name: one for name, one in worker.plugins.items() if isinstance(one, Joined)}
    local = any(one.local for one in plugins.values())
    with seated(seat_of(worker, local), {name: one.member for name, one in plugins.items()}):
        return function(*arguments)
