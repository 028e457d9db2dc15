"""Numbers that kernels and the code that launches them share: declared here once, and defined in front of every
kernel's text.
"""

from csaw.engine.plan.choices import CODES, Collision, GraphLayout, Method

WARP = 32
BLOCK = 256  # threads of a block in most launches
HUB_BLOCK = 512  # threads that serve a long row
LONG_ROW = 1024  # neighbors from which a row is worth a group of HUB_BLOCK threads while a layout is built
WALK_BLOCK = BLOCK  # most walkers of a block
TREE_BLOCK = 128  # threads that draw an instance
STAGED_PARENTS = 128  # most parents of a block of a hop
BLOCK_PICKS = 1280  # picks of a hop that keep a block busy
CHUNK_CELLS = 2048  # cells of a mini-batch's hop that a block numbers
MOST_PARTS = 1024  # of the items of a mini-batch,
PART_SLOTS = 2048  # places in the hash table of each for keys of four bytes,
PART_KEYS = 1536  # keys that it has at most on average,
PART_TILE = 4096  # and items that a block moves to their parts; half as many of each for keys of eight
PUSH_PIECE = 1024  # entries that a block pushes along at a time
SUM_PIECE = 512  # floats that are summed together: PIECE of engine/analytics/cpu/kernels/lanes.py
MOST_PROCESSORS = 256  # numbers that multiprocessors have
ROW_LANES = 8  # threads that sum the row of a vertex at a level of betweenness
SETTLED = 4  # vertices of a thread that gives them new ranks
GROUP_BUCKETS = 1024  # ranges of edges that parents are grouped by
GROUP_BLOCK = 1024  # threads of a block that groups parents,
GROUP_TILE = 16  # and parents of each
NEAR_BITS = 8  # log2 of the vertices that share an entry of a table of ranges
OFFSET_BITS = 40  # bits of an edge's offset; the number of its piece is above them

SHARED = {
    "HUB_BLOCK": HUB_BLOCK,
    "ROW_LANES": ROW_LANES,
    "SETTLED": SETTLED,
    "LONG_ROW": LONG_ROW,
    "WALK_BLOCK": WALK_BLOCK,
    "TREE_BLOCK": TREE_BLOCK,
    "STAGED_PARENTS": STAGED_PARENTS,
    "CHUNK_CELLS": CHUNK_CELLS,
    "SUM_PIECE": SUM_PIECE,
    "PUSH_PIECE": PUSH_PIECE,
    "MOST_PARTS": MOST_PARTS,
    "PART_SLOTS": PART_SLOTS,
    "PART_TILE": PART_TILE,
    "MOST_PROCESSORS": MOST_PROCESSORS,
    "GROUP_BUCKETS": GROUP_BUCKETS,
    "GROUP_BLOCK": GROUP_BLOCK,
    "GROUP_TILE": GROUP_TILE,
    "NEAR_BITS": NEAR_BITS,
    "OFFSET_BITS": OFFSET_BITS,
    "SELECT_UNIFORM": Method.UNIFORM.code,
    "SELECT_KEYS": Method.KEYS.code,
    "BIPARTITE": Collision.BIPARTITE.code,
    "UPDATED": Collision.UPDATED.code,
    "CONTIGUOUS": CODES["contiguous"],
    "LINEAR": CODES["linear"],
} | {layout.name: layout.code for layout in GraphLayout}
