"""Selecting neighbors of one vertex from its pool: the methods of C-SAW section IV and their rivals, one function each.

Every function fills ``picked`` with positions within the row, in order of selection, and returns their number. The pool
is ``chosen[:count]`` (positions within the row), or the whole row where ``chosen`` is empty. Pick number n reads half n
& 1 of draw n >> 1; trial t of pick j of k is number j + k t. ``tally`` has the counts of TALLY in
engine/schedule/backend.py.
"""

from numba import int64, uint64

from csaw.engine.cpu.kernels.constants import COLLISION, DETECT
from csaw.engine.cpu.kernels.weigh import accumulate_each, search
from csaw.engine.draws.random import SHIFT, below, below_wide, draw64, neg_log, philox
from csaw.partition.base.compile import inner, njit

TRIES, TRIES_SHIFT = (
    8,
    5,
)  # pick j is drawn from the remaining candidates after 8 + (j >> 5) collisions; cuda/kernels/collide.cuh has the same


@inner(forceinline=True)
def pick_word(seed, instance, slot, number):
    """64 random bits of pick ``number`` at a slot."""
    w0, w1, w2, w3 = philox(seed, instance, slot, number >> uint64(1))
    return (w2 << SHIFT) | w3 if number & uint64(1) else (w0 << SHIFT) | w1


@inner
def uniform_distinct(seed, instance, slot, count, k, picked):
    """k of ``count`` pool positions, every subset equally likely (Floyd: Bentley, CACM 30(9), 1987)."""
    for j in range(k):
        top = count - k + j
        value = int64(below(pick_word(seed, instance, slot, uint64(j)), uint64(top + 1)))
        for i in range(j):
            if picked[i] == value:
                value = top
                break
        picked[j] = value
    return k


@inner(forceinline=True)
def is_taken(candidate, picked, size, taken, tally):
    """Whether ``candidate`` is among the first ``size`` picks."""
    if DETECT == "linear":
        for i in range(size):
            if picked[i] == candidate:
                tally[2] += i + 1
                return True
        tally[2] += size
        return False
    tally[2] += 1
    return taken[candidate >> 6] >> uint64(candidate & 63) & uint64(1) != 0


@inner
def by_inverse_transform(seed, instance, slot, biases, count, largest, k, ctps, taken, targets, picked, tally):
    """Select k of the pool one after the other by inverse transform.

    COLLISION says what to do with a repeated candidate.

    bipartite  remove the region of the repeated candidate from the space and search again (C-SAW, section IV-B,
               repaired: the
               rest of the draw is rescaled before it is used again, otherwise it would not be uniform)
    repeated   draw again
    updated    rebuild the space without the selected candidate after every pick

    A pick that has met many selected candidates is drawn from the remaining space: if a few candidates have nearly all
    of the weight, the others would be hit once in billions of tries. This takes time in proportion to the number of
    earlier picks.
    """
    total = accumulate_each(biases, count, largest, ctps)
    possible = 0
    for i in range(count):
        possible += biases[i] > 0.0
    k = min(k, possible)
    return successive(seed, instance, slot, biases, count, largest, k, ctps, total, taken, targets, picked, tally)


@inner
def successive(seed, instance, slot, biases, count, largest, k, ctps, total, taken, targets, picked, tally):
    """Return the k picks of ``by_inverse_transform`` in the space ``ctps``.

    "updated" rebuilds it from ``biases`` and ``largest``.
    """
    if DETECT != "linear":
        taken[: (count >> 6) + 1] = uint64(0)
    if COLLISION != "updated":
        search_first(seed, instance, slot, k, ctps, count, total, targets, picked)
    for j in range(k):
        number = uint64(j)
        if COLLISION == "updated":
            if j > 0:
                biases[picked[j - 1]] = 0.0
                total = accumulate_each(biases, count, largest, ctps)
                tally[5] += count
            targets[j] = int64(below_wide(pick_word(seed, instance, slot, number), uint64(total)))
            picked[j] = search(ctps, count, targets[j])
        target, candidate = targets[j], picked[j]
        tally[0] += 1
        tally[3] += 1
        tries = 0
        while COLLISION != "updated" and is_taken(candidate, picked, j, taken, tally):
            tally[1] += 1
            tally[3] += 1
            tries += 1
            if tries == TRIES + (j >> TRIES_SHIFT):
                number += uint64(k)
                candidate = search_rest(ctps, count, picked, j, pick_word(seed, instance, slot, number))
                tally[0] += 1
                continue
            low = ctps[candidate - 1] if candidate > 0 else int64(0)
            width = ctps[candidate] - low
            rest = total - width
            if COLLISION == "bipartite" and width >= int64(1) << 32:
                target = min(rest - 1, int64((float(target - low) + 0.5) / float(width) * float(rest)))
                target += width if target >= low else 0
            else:
                number += uint64(k)
                target = int64(below_wide(pick_word(seed, instance, slot, number), uint64(total)))
                tally[0] += 1
            candidate = search(ctps, count, target)
        if COLLISION != "updated" and DETECT != "linear":
            taken[candidate >> 6] |= uint64(1) << uint64(candidate & 63)
        picked[j] = candidate
    return k


@inner
def search_first(seed, instance, slot, k, ctps, count, total, targets, picked):
    """Find the first target and candidate of every pick, side by side.

    No search then waits for another's memory reads.
    """
    for j in range(k):
        targets[j] = int64(below_wide(pick_word(seed, instance, slot, uint64(j)), uint64(total)))
        picked[j] = 0  # number of sums known not to exceed the target
    step = int64(1)
    while step < count:
        step <<= 1
    while step > 1:
        step >>= 1
        for j in range(k):
            upto = picked[j] + step
            if upto < count and ctps[upto - 1] <= targets[j]:
                picked[j] = upto


@inner
def search_rest(ctps, count, picked, size, word):
    """The candidate that ``word`` draws from the space without the first ``size`` picks."""
    target = int64(below_wide(word, uint64(rest_upto(ctps, count - 1, picked, size))))
    low, high = 0, count - 1
    while low < high:
        middle = (low + high) >> 1
        if rest_upto(ctps, middle, picked, size) > target:
            high = middle
        else:
            low = middle + 1
    return low


@inner
def rest_upto(ctps, last, picked, size):
    """The running sum up to candidate ``last`` without the first ``size`` picks."""
    rest = ctps[last]
    for i in range(size):
        c = picked[i]
        if c <= last:
            rest -= ctps[c] - (ctps[c - 1] if c > 0 else int64(0))
    return rest


@inner
def by_keys(seed, instance, slot, biases, chosen, count, uniform, k, keys, picked):
    """Select the k smallest keys -log(u) / bias, one u an edge, smallest first.

    See Efraimidis and Spirakis, IPL 97(5), 2006.

    An exponential race selects as successive draws do. ``keys`` gets the times, by which pools of several vertices
    merge.
    """
    size = 0
    for i in range(count):
        position = chosen[i] if chosen.size > 0 else i
        if not uniform and not biases[i] > 0.0:
            continue
        time = neg_log(draw64(seed, instance, slot, uint64(position)))
        if not uniform:
            time /= biases[i]
        if size < k:
            size += 1
            sift_up(keys, picked, size - 1, time, i)
        elif size > 0 and later(keys[0], picked[0], time, i):
            sift_down(keys, picked, size, time, i)
    for end in range(size - 1, 0, -1):
        time, i = keys[end], picked[end]
        keys[end], picked[end] = keys[0], picked[0]
        sift_down(keys, picked, end, time, i)
    return size


@njit(inline="always")
def later(time, i, other, j):
    """Whether (time, i) comes after (other, j) in a race: by time, then by position."""
    return time > other or (time == other and i > j)


@inner
def sift_up(keys, picked, cell, time, i):
    """Put (time, i) into a max-heap whose last cell is ``cell``."""
    while cell > 0:
        parent = (cell - 1) >> 1
        if later(keys[parent], picked[parent], time, i):
            break
        keys[cell], picked[cell] = keys[parent], picked[parent]
        cell = parent
    keys[cell], picked[cell] = time, i


@inner
def sift_down(keys, picked, size, time, i):
    """Put (time, i) in place of the top of a max-heap of ``size``."""
    cell = 0
    while 2 * cell + 1 < size:
        child = 2 * cell + 1
        if child + 1 < size and later(keys[child + 1], picked[child + 1], keys[child], picked[child]):
            child += 1
        if later(time, i, keys[child], picked[child]):
            break
        keys[cell], picked[cell] = keys[child], picked[child]
        cell = child
    keys[cell], picked[cell] = time, i


@inner
def with_replacement(seed, instance, slot, ctps, count, uniform, k, targets, picked):
    """k independent picks, uniform or by the CTPS."""
    if not uniform:
        search_first(seed, instance, slot, k, ctps, count, ctps[count - 1], targets, picked)
        return k
    for j in range(k):
        picked[j] = int64(below(pick_word(seed, instance, slot, uint64(j)), uint64(count)))
    return k
