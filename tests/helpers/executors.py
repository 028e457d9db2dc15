"""An executor of threads in this process, whose workers die and fail as a test says."""

from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

from csaw.engine.cluster.executor import Member, ResultLost, Seat, WorkerDied, seated
from csaw.partition.errors import ClusterError


class Threads:
    """Some workers, each a thread with members of its own.

    ``faults``: outcomes that come in place of those of the first tasks, in the order in which they are submitted; None
    for none.
    """

    def __init__(self, workers=2, faults=()):
        self.safe, self.wanted, self.is_reached = "what is done is safe", 0, True
        self.seats = [Seat(f"w{k}", f"address {k}", k, 1, None) for k in range(workers)]
        self.pools = {seat.address: ThreadPoolExecutor(1) for seat in self.seats}
        self.members = {seat.address: {} for seat in self.seats}
        self.faults, self.submitted, self.cancelled = list(faults), [], []

    @property
    def workers(self):
        return {seat.address for seat in self.seats}

    @property
    def threads(self):
        return len(self.seats)

    def look(self):
        return True

    def look_soon(self):
        pass

    def lost(self):
        return ClusterError(f"the threads are lost; {self.safe}")

    def submit(self, function, arguments, ended, *, seconds, rather=(), only=None):
        places = [one for one in self.seats if one.address == only or (only is None and one.address in rather)]
        at = (places or self.seats)[len(self.submitted) % len(places or self.seats)]
        fault = self.faults.pop(0) if self.faults else None
        task = len(self.submitted)
        self.submitted.append((at.address, arguments))

        def do():
            with seated(at, self.members[at.address]):
                return function(*arguments) if fault is None else fault

        future = self.pools[at.address].submit(do)
        future.add_done_callback(lambda done: ended(task, done.exception() or done.result()))
        return task

    def cancel(self, tasks):
        self.cancelled += tasks

    @contextmanager
    def joined(self, member):
        for at in self.seats:
            copy = Member.__new__(type(member))
            vars(copy).update(vars(member))
            copy.setup(at)
            self.members[at.address]["run"] = copy
        try:
            yield "run"
        finally:
            for held in self.members.values():
                held.pop("run").teardown()


DIED, LOST = WorkerDied("address 1"), ResultLost("CancelledError: ")
