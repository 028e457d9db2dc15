"""Compiled loops that join base instances until a number of vertices is reached, and that look steps up among edges."""

import numpy as np
from numba import uint64

from csaw.partition.base.compile import inner, njit


@inner(nogil=True)
def _cell(table, shift, vertex):
    """The cell of a table of vertices, -1 where it is empty, in which a vertex is or would be."""
    mask = uint64(table.size - 1)
    cell = (uint64(vertex) * uint64(0x9E3779B97F4A7C15)) >> shift
    while table[cell] != -1 and table[cell] != vertex:
        cell = (cell + uint64(1)) & mask
    return cell


@inner(nogil=True)
def _meet(table, shift, met, size, vertex):
    """The number of vertices met, once this one is, too."""
    cell = _cell(table, shift, vertex)
    if table[cell] != -1:
        return size
    table[cell] = vertex
    met[size] = vertex
    return size + 1


@inner(nogil=True)
def _meet_sources(table, shift, met, size, sources, first, last):
    """Return the number of vertices met, once these sources are, and how many of them were taken.

    Sources are taken until the target is reached.
    """
    k = first
    while k < last and size < met.size:
        size = _meet(table, shift, met, size, np.int64(sources[k]))
        k += 1
    return size, k - first


@inner(nogil=True)
def _meet_ends(table, shift, met, size, src, dst, first, last):
    """The same of edges, one end after the other."""
    k = first
    while k < last and size < met.size:
        size = _meet(table, shift, met, size, np.int64(src[k]))
        end = np.int64(dst[k])
        if size == met.size and table[_cell(table, shift, end)] != end:
            break  # its other end would be one vertex too many
        size = _meet(table, shift, met, size, end)
        k += 1
    return size, k - first


@njit(nogil=True)
def join(
    row,
    source_counts,
    sources,
    counts,
    src,
    dst,
    shift,
    most,
    tables,
    met,
    size,
    tried,
    barren,
    ended,
    kept_sources,
    kept_edges,
):
    """Meet the vertices of base instances in order, until an instance has its target.

    Of each base instance, sources come first and then its edges.

    ``row`` [b]: the instance that a base instance belongs to; its sources and edges follow those before it. Of an
    instance: ``tables`` [n, cells] a hash table of the vertices met, ``met`` [n, target] the same in order, ``size``
    their number, ``tried`` how many base instances were joined, ``barren`` how many of the last ones met nothing new,
    of which there may be ``most``, and ``ended``. ``kept_sources``, ``kept_edges`` [b]: how many of the first ones
    belong to the sample; of a base instance that meets nothing new none do, or the last tries would outweigh all else.
    """
    target, source, edge = met.shape[1], 0, 0
    for b in range(row.size):
        i, last_source, last_edge = row[b], source + source_counts[b], edge + counts[b]
        kept_sources[b] = kept_edges[b] = 0
        if not ended[i]:
            before, tried[i], barren[i] = size[i], tried[i] + 1, barren[i] + 1
            size[i], some = _meet_sources(tables[i], shift, met[i], before, sources, source, last_source)
            size[i], more = _meet_ends(tables[i], shift, met[i], size[i], src, dst, edge, last_edge)
            if size[i] > before:
                kept_sources[b], kept_edges[b], barren[i] = some, more, 0
            ended[i] = size[i] == target or barren[i] >= most
        source, edge = last_source, last_edge


@njit(nogil=True)
def are_among(owner, src, dst, ptr, among_src, among_dst, out):
    """Write to ``out`` whether each pair is one of the edges of its ``owner``.

    These are ``among_src``, ``among_dst`` [edges] from ptr[owner] on, in order of src and dst.
    """
    for k in range(owner.size):
        low, last = ptr[owner[k]], ptr[owner[k] + 1]
        high = last
        while low < high:
            middle = (low + high) // 2
            if among_src[middle] < src[k] or (among_src[middle] == src[k] and among_dst[middle] < dst[k]):
                low = middle + 1
            else:
                high = middle
        out[k] = low < last and among_src[low] == src[k] and among_dst[low] == dst[k]
