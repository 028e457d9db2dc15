"""Launches on a streamed graph: one over all loaded partitions, or one for each partition in parallel (C-SAW, section
V-C).
"""

from collections.abc import Callable, Iterable

import cupy

from csaw.engine.cuda.busy import Busy

ALL_PARTITIONS = -1


class Streams:
    """Makes launches and times them.

    One launch serves the queues of all loaded partitions, and its blocks go where instances wait: no partition has more
    of the GPU than its queue needs. Without ``balancing``, each partition has a stream and the same number of blocks,
    as in C-SAW's baseline.
    """

    def __init__(self, balancing: bool) -> None:
        self.balancing = balancing
        self.busy: Busy | None = None  # until the kernels are there
        self.streams: dict[int, cupy.cuda.Stream] = {}
        self.events: list[
            list[tuple[cupy.cuda.Event, cupy.cuda.Event]]
        ] = []  # for each pass, the first and last event of each stream

    def run(self, partitions: Iterable[int], launch: Callable[[int, int], None]) -> None:
        """Call ``launch(partition, share)`` for each partition in parallel, or ``launch(ALL_PARTITIONS, 1)``.

        ``share``: launches that share the GPU.
        """
        if self.balancing:
            self.events.append([self._timed(cupy.cuda.get_current_stream(), launch, ALL_PARTITIONS, 1)])
        else:
            self._run_beside(list(partitions), launch)
        if self.busy is not None:
            self.busy.end_pass()

    def _run_beside(self, partitions: list[int], launch: Callable[[int, int], None]) -> None:
        """A launch for each partition, in a stream of its own."""
        before = cupy.cuda.get_current_stream().record()
        timed = []
        for part in partitions:
            if part not in self.streams:
                self.streams[part] = cupy.cuda.Stream(non_blocking=True)
            stream = self.streams[part]
            stream.wait_event(before)
            with stream:
                timed.append(self._timed(stream, launch, part, len(partitions)))
        for _, end in timed:
            cupy.cuda.get_current_stream().wait_event(end)
        self.events.append(timed)

    @staticmethod
    def _timed(
        stream: cupy.cuda.Stream, launch: Callable[[int, int], None], part: int, share: int
    ) -> tuple[cupy.cuda.Event, cupy.cuda.Event]:
        begin = stream.record()
        launch(part, share)
        return begin, stream.record()

    def seconds(self) -> tuple[float, float]:
        """Return the seconds in kernels, and the mean deviation between multiprocessors, as a share of their mean.

        The seconds add up the slowest stream of each pass.
        """
        passes = [[_elapsed(pair) for pair in timed] for timed in self.events if timed]
        return sum(map(max, passes)), self.busy.deviation() if self.busy is not None else 0.0


def _elapsed(pair: tuple[cupy.cuda.Event, cupy.cuda.Event]) -> float:
    pair[1].synchronize()
    return cupy.cuda.get_elapsed_time(*pair) / 1e3
