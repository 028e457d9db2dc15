"""How much a worker draws before it keeps it: as many instances as take KEEP_SECONDS, by the time of those before.

A killed run loses no more than that, whatever its biases cost, and starts of runs that are killed every few minutes
add up. What is expected of a run may be far off, most of all for biases that read rows of others; it only says how
many instances come first.
"""

from csaw.engine.plan.plan import Plan

# Of drawing, from one time that instances are kept to the next. To keep 32 MiB takes .1 s on a disk of 1 GB/s, so a
# hundredth of that goes into it at most.
KEEP_SECONDS = 20.0
FIRST_SECONDS = 0.25  # that the first instances are expected to take; a hundred times as much is no harm
GROWTH = 8  # times as many instances at most as before: the first ones may be quicker than others


class Pace:
    """The number of instances that a worker draws before it keeps them, ``size``.

    It is never less than ``least``: the threads of a CPU; on a GPU, which draws fewer in the same time, those expected
    first; and of a graph that is streamed what is drawn at a time, for it is read again for the next ones.
    """

    def __init__(self, plan: Plan) -> None:
        each = plan.expected["sampling_seconds"] / max(plan.request.instances, 1)
        first = max(1, plan.threads, int(FIRST_SECONDS / max(each, 1e-12)))
        self.least = plan.at_a_time if plan.residency.streams else plan.threads if plan.device == "cpu" else first
        self.size = max(first, self.least)

    def groups(self, group_size: int) -> int:
        """Groups of ``group_size`` instances to draw as a whole: one that is larger than ``size`` is kept in parts."""
        return max(1, self.size // group_size)

    def drew(self, instances: int, seconds: float) -> None:
        """Note the time that some instances have taken.

        A few that took little, at the end of a group, do not count: much of their time is that of beginning.
        """
        if seconds > KEEP_SECONDS or 2 * instances >= self.size:
            wanted = instances * KEEP_SECONDS / max(seconds, 1e-9)
            self.size = max(self.least, int(min(wanted, GROWTH * self.size)))
