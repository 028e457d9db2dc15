"""The numbering of string ids: a word's dense id is its rank among all words, by their bytes.

While rows are read, several threads put words into a hash table in parts, by the upper bits of the hash, and a thread
has a part to itself. A word's provisional number is its place in its part, times the number of parts, plus the part. So
it depends on the order of the threads; its rank does not.
"""

from threading import Lock

import numpy as np

from csaw.partition.arrays.words import Words
from csaw.partition.base.compile import njit
from csaw.partition.base.kernel_tools import copied, copy, eight_bytes, empty, zeros
from csaw.partition.ingestion.ids import MIX, rank_by_table
from csaw.partition.ingestion.text.pieces import Ends, Piece
from csaw.partition.ingestion.text.word_cells import Cells

PART_BITS = 6
PARTS, STRIDE = 1 << PART_BITS, 37  # threads begin with different ones
TAG_SHIFT = np.uint64(64 - PART_BITS - 32)  # the 32 bits of a hash below those of its part tell words apart
FIRST_ROOM = 256  # words of a part, and a few bytes for each
SLOT_SHARE = 2  # places for a word, at least


class Part:
    """Words of a part of the table, in order of arrival: ``offsets`` and ``text`` as in Words, ``slots`` (tag of the
    hash, number from 1).
    """

    def __init__(self) -> None:
        self.lock = Lock()
        self.slots = np.zeros(FIRST_ROOM * SLOT_SHARE, np.uint64)
        self.offsets = np.zeros(FIRST_ROOM + 1, np.int64)
        self.text = np.empty(8 * FIRST_ROOM, np.uint8)
        self.count = 0

    def number(self, cells: Cells, hashes: np.ndarray, chosen: np.ndarray, part: int, out: np.ndarray) -> None:
        """Provisional numbers of the ``chosen`` cells, to their places of ``out``."""
        done = 0
        with self.lock:
            while True:
                done, self.count = insert_words(
                    *cells, hashes, chosen, done, self.count, part, self.slots, self.offsets, self.text, out
                )
                if done == chosen.size:
                    return
                self._grow(int(cells.sizes[chosen[done]]))

    def _grow(self, size: int) -> None:
        """Room for another word of ``size`` bytes, and twice as much as before of what was full."""
        if self.count + 1 == self.offsets.size:
            self.offsets = np.concatenate([self.offsets, np.zeros(self.count, np.int64)])
            slots = np.zeros(SLOT_SHARE * self.offsets.size, np.uint64)
            self.slots = np.zeros(1 << int(slots.size - 1).bit_length(), np.uint64)
            fill_again(self.offsets, self.text, self.count, self.slots)
        used = int(self.offsets[self.count])
        if used + size > self.text.size:
            grown = np.empty(2 * (self.text.size + size), np.uint8)
            grown[:used] = self.text[:used]
            self.text = grown


class StringNumbering:
    """Dense ids of string ids. Give rows to ``numbered``, from several threads, then call ``finish``."""

    dtype = np.dtype(np.uint32)

    def __init__(self) -> None:
        self.parts = [Part() for _ in range(PARTS)]
        self.turn = 0

    def numbered(self, piece: Piece) -> Piece:
        """Rows with provisional numbers in place of words, whose bounds nobody asks for."""
        return Piece(self.provisional(piece.src), self.provisional(piece.dst), piece.columns, (0, 0))

    def provisional(self, words: Ends) -> np.ndarray:
        """Return the provisional numbers of words, uint32."""
        cells = words if isinstance(words, Cells) else Cells.of(list(words))  # of a file without rows, an empty array
        hashes, chosen, out = (
            np.empty(cells.starts.size, np.uint64),
            np.empty(cells.starts.size, np.int64),
            np.empty(cells.starts.size, np.uint32),
        )
        ends = hash_words(*cells, hashes, chosen)
        self.turn += STRIDE
        for turn in range(self.turn, self.turn + PARTS):
            part = turn % PARTS
            if ends[part] < ends[part + 1]:
                self.parts[part].number(cells, hashes, chosen[ends[part] : ends[part + 1]], part, out)
        return out

    def finish(self) -> None:
        """Rank all words. No more rows come."""
        counts = [part.count for part in self.parts]
        sizes = np.concatenate([np.diff(part.offsets[: part.count + 1]) for part in self.parts])
        text = np.concatenate([part.text[: part.offsets[part.count]] for part in self.parts])
        codes = np.concatenate(
            [np.arange(count, dtype=np.uint32) * PARTS + number for number, count in enumerate(counts)]
        )
        cells = Cells(text, np.cumsum(sizes) - sizes, sizes)
        self.parts = []
        order = sorted_places(cells)
        self.rank = np.empty(max(counts) * PARTS, np.uint32)
        self.rank[codes[order]] = np.arange(order.size, dtype=np.uint32)
        offsets = np.zeros(order.size + 1, np.int64)
        np.cumsum(sizes[order], out=offsets[1:])
        self.vertex_ids = Words(offsets, np.empty(text.size, np.uint8))
        join_words(*cells, order, self.vertex_ids.text)

    @property
    def vertices(self) -> int:
        return len(self.vertex_ids)

    def dense(self, ids: np.ndarray) -> np.ndarray:
        """Dense ids of provisional numbers, in the same memory."""
        rank_by_table(ids, np.uint64(0), self.rank, ids)
        return ids


def sorted_places(cells: Cells) -> np.ndarray:
    """The order of different words by their bytes: by eight of them, then by the next eight where those are the same,
    and so on.
    """
    at = common_bytes(*cells)
    keys, left = eight_of_each(*cells, np.arange(cells.sizes.size), at)
    order = np.lexsort((left, keys))
    same = same_as_next(keys[order], left[order])
    while same.any():
        at += 8
        open_ = np.flatnonzero(same | np.append(False, same[:-1]))  # places that are not decided yet
        group = np.cumsum(~np.append(False, same[:-1]))[open_]
        words = order[open_]
        keys, left = eight_of_each(*cells, words, at)
        within = np.lexsort((left, keys, group))
        order[open_] = words[within]
        keys, left, group = keys[within], left[within], group[within]
        same = np.zeros(order.size, np.bool_)
        same[open_] = same_as_next(keys, left) & np.append(group[1:] == group[:-1], False)
    return order


def same_as_next(keys: np.ndarray, left: np.ndarray) -> np.ndarray:
    """Whether a word, up to the bytes that were looked at, is that behind it, and both go on."""
    return np.append((keys[1:] == keys[:-1]) & (left[1:] == left[:-1]) & (left[1:] > 8), False)


@njit(nogil=True)
def hash_words(text, starts, sizes, hashes, chosen):
    """Fill ``hashes``, and ``chosen`` with the words' numbers by the part of their hash.

    Returns where each part begins there.
    """
    counts = zeros(PARTS + 1, np.int64)
    part_shift = np.uint64(64 - PART_BITS)
    for i in range(starts.size):
        hashes[i] = hash_word(text, starts[i], starts[i] + sizes[i])
        counts[np.int64(hashes[i] >> part_shift) + 1] += 1
    ends = np.cumsum(counts)
    at = copied(ends)
    for i in range(starts.size):
        part = np.int64(hashes[i] >> part_shift)
        chosen[at[part]] = i
        at[part] += 1
    return ends


@njit(inline="always")
def hash_word(text, begin, end):
    position, stop = np.uint64(begin), np.uint64(end)
    state = (stop - position) * MIX
    while position + np.uint64(8) <= stop:
        state = (state ^ eight_bytes(text, position)) * MIX
        state ^= state >> np.uint64(29)
        position += np.uint64(8)
    rest = np.uint64(0)
    while position < stop:
        rest = (rest << np.uint64(8)) | np.uint64(text[position])
        position += np.uint64(1)
    state = (state ^ rest) * MIX
    state ^= state >> np.uint64(32)
    return state * MIX


@njit(nogil=True)
def insert_words(text, starts, sizes, hashes, chosen, done, count, part, slots, offsets, words, out):
    """Number the ``chosen`` words from number ``done`` on.

    Returns how many have one, fewer than all where there is no room, and the words of the part.
    """
    mask, low = np.uint64(slots.size - 1), np.uint64(0xFFFFFFFF)
    done, count = np.int64(done), np.int64(count)
    while done < chosen.size:
        i = chosen[done]
        begin, size = starts[i], sizes[i]
        tag = (hashes[i] >> TAG_SHIFT) & low
        place = tag & mask
        while True:
            slot = slots[place]
            if slot == np.uint64(0):
                if count + 1 == offsets.size or offsets[count] + size > words.size:
                    return done, count
                number = count
                copy(text[begin : begin + size], words[offsets[count] :])
                count += 1
                offsets[count] = offsets[count - 1] + size
                slots[place] = tag << np.uint64(32) | np.uint64(count)
                break
            number = np.int64(slot & low) - 1
            if slot >> np.uint64(32) == tag and is_word(text, begin, size, words, offsets[number], offsets[number + 1]):
                break
            place = (place + np.uint64(1)) & mask
        out[i] = number * PARTS + part
        done += 1
    return done, count


@njit(inline="always")
def is_word(text, begin, size, words, first, last):
    """Whether ``size`` bytes of ``text`` are those of ``words`` from ``first`` to before ``last``."""
    k, other, rest = np.uint64(begin), np.uint64(first), np.uint64(size)
    if np.uint64(last - first) != rest:
        return False
    while rest >= np.uint64(8) and eight_bytes(text, k) == eight_bytes(words, other):
        k, other, rest = k + np.uint64(8), other + np.uint64(8), rest - np.uint64(8)
    while rest > np.uint64(0) and text[k] == words[other]:
        k, other, rest = k + np.uint64(1), other + np.uint64(1), rest - np.uint64(1)
    return rest == np.uint64(0)


@njit(nogil=True)
def fill_again(offsets, words, count, slots):
    """Put the first ``count`` words of a part into empty ``slots``."""
    mask = np.uint64(slots.size - 1)
    for number in range(count):
        tag = (hash_word(words, offsets[number], offsets[number + 1]) >> TAG_SHIFT) & np.uint64(0xFFFFFFFF)
        place = tag & mask
        while slots[place] != np.uint64(0):
            place = (place + np.uint64(1)) & mask
        slots[place] = tag << np.uint64(32) | np.uint64(number + 1)


@njit(nogil=True)
def common_bytes(text, starts, sizes):
    """How many bytes all words begin with."""
    same = sizes[0]
    for i in range(starts.size):
        same = min(same, sizes[i])
        k = 0
        while k < same and text[starts[i] + k] == text[starts[0] + k]:
            k += 1
        same = k
    return same


@njit(nogil=True)
def eight_of_each(text, starts, sizes, chosen, at):
    """Of the ``chosen`` words: bytes ``at`` to ``at`` + 7 as a number that sorts as they do, with zeros behind the end,
    and the bytes left there, 9 for more than eight.
    """
    keys, left = zeros(chosen.size, np.uint64), empty(chosen.size, np.uint8)
    for i in range(chosen.size):
        begin, size = starts[chosen[i]], sizes[chosen[i]]
        left[i] = max(0, min(9, size - at))
        for k in range(8):
            byte = text[begin + at + k] if at + k < size else 0
            keys[i] = (keys[i] << np.uint64(8)) | np.uint64(byte)
    return keys, left


@njit(nogil=True)
def join_words(text, starts, sizes, order, out):
    """The text of all words in an order."""
    to = 0
    for place in range(order.size):
        begin = starts[order[place]]
        for k in range(sizes[order[place]]):
            out[to + k] = text[begin + k]
        to += sizes[order[place]]
