"""Sums of floats in one order, that of the warps of a GPU. Twin: cuda/kernels/ordered.cuh.

Numbers are summed in pieces of 512, and the sums of the pieces in the same way: that of some numbers is that of 32
lanes, number i in lane i % 32 in their order, which are then added in halves.
"""

from csaw.partition.base.compile import inner

LANES, PIECE = 32, 512


@inner(nogil=True)
def added(lanes, width):
    """The sum of the lanes, of which those from ``width`` on are 0."""
    half = LANES
    while half > 1 and half >= 2 * width:
        half //= 2
    while half > 1:
        half //= 2
        for lane in range(min(half, width)):
            lanes[lane] += lanes[lane + half]
    return lanes[0]


@inner(nogil=True)
def put(lanes, pieces, number, value):
    """Add a number to a sum, in order: ``number`` of them came before.

    ``lanes``, ``pieces`` [LANES]: 0 before the first.
    """
    if number and number % PIECE == 0:
        _end_piece(lanes, pieces, number // PIECE - 1)
    lanes[number % LANES] += value


@inner(nogil=True)
def ended(lanes, pieces, count):
    """The sum of the ``count`` numbers that were put; the lanes are 0 again."""
    if count <= PIECE:
        width = min(count, LANES)
        found = added(lanes, width)
        for lane in range(width):
            lanes[lane] = 0.0
        return found
    last = (count - 1) // PIECE
    _end_piece(lanes, pieces, last)
    found = added(pieces, min(last + 1, LANES))
    pieces[:] = 0.0
    return found


@inner(nogil=True)
def _end_piece(lanes, pieces, piece):
    pieces[piece % LANES] += added(lanes, LANES)
    lanes[:] = 0.0
