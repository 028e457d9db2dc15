"""Levels of a breadth-first search on several GPUs: which way each goes, who does it, and who is told.

Pan, Wang, Wu, Yang and Owens (Multi-GPU Graph Analytics, IPDPS 2017) give each GPU the vertices of a range. After a
level, a vertex that was reached goes to the GPU that owns it (selective), or all that a GPU has reached goes to all
others (broadcast). A level that is pulled reads the whole frontier, so its bitmap goes to all in either case (Beamer,
Asanovic and Patterson, SC 2012). Where all GPUs have all rows, a search by itself divides large levels that it pulls,
and leaves others to the first GPU: an exchange of what was pushed takes longer than it saves
(docs/contributing/tuning.md). Where each has its own rows alone, all levels are divided but those of a few vertices:
the first GPU reads their rows in the memory of the others, and goes on by itself.
"""

from collections.abc import Sequence
from typing import NamedTuple, Protocol, Self

from csaw.engine.analytics.exchange import Exchange

WORD = 32  # vertices of a word of a bitmap
ROW = 16  # entries that take as long to pull along as it takes to find the row of a vertex


class Found(NamedTuple):
    """A frontier, or what a GPU has of it: vertices, and entries of their rows."""

    size: int
    entries: int


class Course:
    """The course of a search as the host knows it: its level, its frontier, and the vertices and entries left.

    ``entries``: of the source's row. ``pulled``: entries that are pulled along while one is pushed along.
    ``push_share``: of the vertices, from where on it pushes again. ``can_pull``: whether the rows of the other
    direction are there.
    """

    def __init__(
        self, vertices: int, edges: int, entries: int, *, can_pull: bool, pulled: int, push_share: int
    ) -> None:
        self.now, self.before, self.level, self.pulls = Found(1, entries), 0, 0, False
        self.left, self.open = edges, vertices - 1  # entries and vertices that are not reached
        self.can_pull, self.pulled, self.few = can_pull, pulled, vertices // push_share

    def begin(self) -> bool:
        """Begin the next level. Returns whether it is pulled.

        One in left / now.entries of the entries leads to the frontier, so a vertex that is open reads about as many
        until it meets one; where there are hubs, fewer.
        """
        self.level += 1
        stays = self.pulls and (self.now.size >= self.before or self.now.size > self.few)
        begins = self.can_pull and self.pulled * self.now.entries**2 > self.left * self.open
        self.pulls = stays or begins
        return self.pulls

    @property
    def work(self) -> int:
        """The work of the level, in entries of rows."""
        return self.left + ROW * self.open if self.pulls else self.now.entries

    def reached(self, found: Found) -> None:
        """End a level that reached ``found``."""
        self.before, self.now = self.now.size, found
        self.left, self.open = self.left - found.entries, self.open - found.size

    def went_on(self, found: Sequence[Found]) -> None:
        """End a level and those after it, which went the same way. ``found``: the vertices that each has reached."""
        for number, one in enumerate(found):
            self.level += number > 0
            self.reached(one)


class Share(Protocol):
    """One GPU's part of a search. ``whole``: of all vertices; else of its own, ``first`` up to before ``last``."""

    first: int
    last: int

    def prepare(self) -> None:
        """Make the arrays of the search."""

    def start(self, source: int) -> None:
        """Begin with the frontier of one vertex."""

    def push(self, now: Found, level: int) -> None:
        """Push along the rows of the whole frontier."""

    def push_share(self, part: Found, level: int) -> None:
        """Push along the rows of its part of the frontier, and list the vertices that it reaches by their owners."""

    def pull(self, level: int, *, whole: bool) -> None:
        """Reach the vertices that have a neighbor in the frontier's bitmap."""

    def found(self) -> list[int]:
        """Vertices that the last step reached, and entries of their rows."""

    def push_few(self, now: Found, level: int) -> list[Found]:
        """Push along the rows of the whole frontier, wherever they are, and go on as long as it is small.

        Returns what each level has reached.
        """

    def to_bits(self, size: int, *, whole: bool) -> None:
        """Write the bitmap of the ``size`` vertices in the frontier's queue."""

    def to_queue(self, *, whole: bool) -> None:
        """Write the vertices in the frontier's bitmap to the queue, and count them."""

    def wait_for(self, other: Self) -> None:
        """Let work that is queued from now on begin when ``other`` has done all its queued work."""

    def fetch(self, other: Self, what: str, *, whole: bool) -> None:
        """Copy the words of a bitmap, ``visited`` or ``front``, for the vertices that ``other`` owns, or for all."""

    def absorb(self, level: int) -> None:
        """Reach at ``level`` the vertices in the frontier's bitmap that other GPUs own."""

    def take(self, sender: Self, level: int, *, whole: bool) -> None:
        """Reach the vertices that the sender has listed, those for this GPU or all."""


class Search:
    """A search that several GPUs share, driven by one thread: to wake others would take longer than a level.

    ``shares``: the parts of the GPUs; the first has the source. ``exchange``: how GPUs tell each other of reached
    vertices where levels are divided; None: only levels are divided that are pulled and take ``least`` entries or more.
    ``few``: vertices, and entries of their rows, that the first GPU pushes along alone in any case.
    """

    def __init__(
        self, shares: Sequence[Share], course: Course, exchange: Exchange | None, *, least: int, few: int
    ) -> None:
        self.shares, self.course, self.exchange, self.least, self.few = shares, course, exchange, least, few
        self.divided = self.as_bits = (
            False  # whether each GPU has its part of the frontier or the first has all; as a bitmap, or as a queue
        )
        self.parts = [course.now] + [Found(0, 0)] * (len(shares) - 1)
        self.ever_divided = False

    def run(self, source: int) -> None:
        """Go on until nothing is reached.

        The first GPU knows all distances then, or, by an exchange, those of vertices that it has reached; each other
        one has reached vertices of its own.
        """
        self.shares[0].start(source)
        while self.course.now.size:
            pulls = self.course.begin()
            few = not pulls and max(self.course.now) <= self.few
            large = self.exchange is not None or (pulls and self.course.work >= self.least)
            self._turn(large and not few, pulls)
            if few:
                self.course.went_on(self.shares[0].push_few(self.course.now, self.course.level))
                self.parts[0] = self.course.now
                continue
            if pulls:
                self._pull()
            elif self.divided:
                self._push_shares()
            else:
                self.shares[0].push(self.course.now, self.course.level)
                self.parts[0] = Found(*self.shares[0].found())
            self.course.reached(Found(*map(sum, zip(*(self.parts[: len(self._active)]), strict=True))))

    @property
    def _active(self) -> Sequence[Share]:
        return self.shares if self.divided else self.shares[:1]

    def _turn(self, divided: bool, as_bits: bool) -> None:
        """Bring the frontier to where the next level reads it, in the form in which it does: a bitmap, or a queue.

        Between GPUs it goes as a bitmap.
        """
        listed = not self.as_bits and (as_bits or divided != self.divided)
        if listed:
            for share, part in zip(self._active, self.parts, strict=False):
                share.to_bits(part.size, whole=not self.divided)
        if divided and not self.divided:
            self._share_out()
        elif self.divided and (as_bits or not divided):
            self._tell(self.shares if divided else self.shares[:1], "front", queued=listed)
            if self.exchange is None:
                self.shares[0].absorb(self.course.level - 1)
            elif not divided:
                self._tell(self.shares[:1], "visited", queued=listed)
        elif self.divided and self.as_bits:
            self._tell(self.shares, "visited", queued=False)  # so that what was pulled is not sent
        in_bits, was_divided = self.as_bits or listed, self.divided
        self.divided, self.as_bits = divided, as_bits
        if in_bits and not as_bits:
            self._to_queues(anew=not was_divided)

    def _share_out(self) -> None:
        """Give all GPUs the vertices that the first has reached."""
        first, *others = self.shares
        for other in others:
            if not self.ever_divided:
                other.prepare()
            other.wait_for(first)
            for what in ("visited", "front"):
                other.fetch(first, what, whole=True)
        self.ever_divided = True

    def _tell(self, receivers: Sequence[Share], what: str, *, queued: bool) -> None:
        """Copy the words of a bitmap that others own to each of ``receivers``.

        ``queued``: whether others have work to do for it; else the host has waited for all of it.
        """
        for receiver in receivers:
            for other in self.shares:
                if other is not receiver:
                    if queued:
                        receiver.wait_for(other)
                    receiver.fetch(other, what, whole=False)

    def _to_queues(self, anew: bool) -> None:
        """Write the frontier's vertices to queues.

        ``anew``: it was with the first GPU alone, so what each has of it is not known yet.
        """
        for share in self._active:
            share.to_queue(whole=not self.divided)
        if self.divided and anew:
            self.parts = [Found(*share.found()) for share in self.shares]

    def _pull(self) -> None:
        for share in self._active:
            share.pull(self.course.level, whole=not self.divided)
        for number, share in enumerate(self._active):
            self.parts[number] = Found(*share.found())

    def _push_shares(self) -> None:
        """Push along the rows of each GPU's part, and let those take what was found that are to hear of it.

        What is listed is read where it is, so that the host waits once for all of it.
        """
        for share, part in zip(self.shares, self.parts, strict=True):
            share.push_share(part, self.course.level)
        pairs = [(one, other) for one in self.shares for other in self.shares if one is not other]
        for receiver, sender in pairs:
            receiver.wait_for(sender)
        for receiver, sender in pairs:
            receiver.take(sender, self.course.level, whole=self.exchange is Exchange.BROADCAST)
        self.parts = [Found(*share.found()) for share in self.shares]
